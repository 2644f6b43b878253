// A page as rendered, in a frame that runs no script (workbench/frames.py), with its blocks tinted in place.
//
// The frame's document is inert: all pointer and keyboard handling is in ours. The frame is as high as its content, so
// that our container scrolls and a point of it is a point of the page. Browsers paint all of such a frame: on a page of
// very many blocks it is only as high as our container, stays in view, and its page is scrolled as the container is.
// @ts-check

import { calm } from "./page-calm.js";
import { mendLooks } from "./page-look.js";
import { blockOf, PageMarks, setData } from "./page-marks.js";
import { element } from "./shell.js";

// Narrower panes show the page as it would be on a small screen; wider ones scale a desktop page down to fit.
const DESKTOP_WIDTH = 900;
const NARROW = 520;
const FIRST_HEIGHT = 700;
const MOST_HEIGHT = 4_000_000;
const MOST_FITS = 3;
const DRAG_PIXELS = 5;

// Many pages are hidden until a script shows them. No opacity of
// ours: a layer for each of 100,000 blocks is more than browsers can bear. Pages may be light or dark: what is dropped is
// struck out in the colour of its own text, and its line is dark on a light one.
const TINTS = `
html { overflow: hidden !important; height: auto !important; }
body { overflow: visible !important; position: static !important; height: auto !important; }
html, body { display: block !important; visibility: visible !important; }
html, body { opacity: 1 !important; animation: none !important; }
mm-block { pointer-events: auto !important; box-decoration-break: clone; -webkit-box-decoration-break: clone; }
mm-block[data-state~="kept"] { background: rgb(46 160 80 / 20%) !important; box-shadow: -3px 0 0 rgb(40 140 75); }
mm-block[data-state~="comment"] {
  background: rgb(120 80 170 / 20%) !important; box-shadow: -3px 0 0 rgb(107 74 134 / 90%);
  text-decoration: underline dotted 1px;
}
mm-block[data-state~="dropped"] {
  background: rgb(205 110 95 / 20%) !important; color: color-mix(in srgb, currentColor 68%, transparent) !important;
  text-decoration: line-through 1.5px currentColor; outline: 1px dashed rgb(190 75 60);
  box-shadow: 0 0 0 1px rgb(255 255 255 / 35%);
}
mm-block[data-state~="conflict"] {
  background: rgb(240 170 40 / 28%) !important; box-shadow: 0 2px 0 rgb(138 83 0 / 90%);
}
mm-block[data-focus] {
  background: rgb(255 200 60 / 42%) !important; outline: 2px solid rgb(176 96 0) !important; outline-offset: 1px;
}
mm-block[data-pinned] { outline-style: dashed !important; }
`;

/**
 * @typedef {object} Handlers
 * @property {(block: number | null) => void} [onHover] the pointer is over a block, or over none
 * @property {(block: number, event: PointerEvent) => void} [onPick] a block was clicked or tapped
 * @property {(from: number, to: number, isDone: boolean, event: PointerEvent) => void} [onDrag] the mouse goes from one
 *   block to another with its button down; with isDone it was let go. Without this, dragging does nothing.
 * @property {() => void} [onLoad] a page is there
 */

export class PageFrame {
  /**
   * @param {HTMLElement} host an empty element; it becomes the scrolling container
   * @param {Handlers & {label?: string}} [options]
   */
  constructor(host, options = {}) {
    this.host = host;
    this.options = options;
    this.scale = 1;
    this.isLoaded = false; // or about to be
    this.marks = new PageMarks();
    this.highlighted = /** @type {number | null} */ (null);
    this.extraStyle = "";
    const label = options.label ?? "The page as rendered";
    this.frame = /** @type {HTMLIFrameElement} */ (element("iframe", {
      sandbox: "allow-same-origin", title: label, tabindex: "-1", referrerpolicy: "no-referrer",
    }));
    this.overlay = element("div", { class: `page-overlay${options.onPick || options.onDrag ? " can-pick" : ""}` });
    this.window = element("div", { class: "page-window" }, this.frame);
    this.sizer = element("div", { class: "page-sizer" }, this.window, this.overlay);
    host.classList.add("page-frame");
    host.tabIndex = 0;
    host.setAttribute("role", "region");
    host.setAttribute("aria-label", label);
    host.replaceChildren(this.sizer);
    this.#listen();
    host.addEventListener("scroll", () => this.#follow(), { passive: true });
    new ResizeObserver(() => this.fit()).observe(host);
  }

  /** The frame's document, once a page is there. @returns {Document | null} */
  get document() {
    return this.frame.contentDocument;
  }

  /**
   * Show the page of a URL of this server (/frame/KEY).
   *
   * @param {string} url
   * @param {{isSlow?: boolean}} [how] a slow page waits for pictures from the web: it is shown as it comes. Others are
   *   shown when they are there; else browsers lay a long one out again and again while it comes
   * @returns {Promise<void>} settled when the page is loaded; states that were set before apply to it
   */
  load(url, { isSlow = false } = {}) {
    return new Promise((resolve) => {
      this.frame.addEventListener("load", () => {
        this.frame.style.removeProperty("display");
        this.#adopt();
        this.options.onLoad?.();
        resolve();
      }, { once: true });
      this.marks.clear();
      this.highlighted = null;
      this.host.scrollTop = 0;
      this.#setWidth();
      if (!isSlow) this.frame.style.setProperty("display", "none");
      this.isLoaded = true;
      // A new `src` would be a step of the browser's history: the way back would lead to the page before in this frame.
      this.frame.contentWindow?.location.replace(url);
    });
  }

  /**
   * Say what each block is: "kept", "dropped", "comment", "conflict", or words of your own (see addStyle). Blocks that
   * are not named have no state. Only what changes is touched, so it can be called at every move of a slider.
   *
   * @param {Map<number, string> | ((block: number) => string | undefined)} states the states, or a function that returns
   *   them when a block is shown
   */
  setStates(states) {
    this.marks.stateOf = typeof states === "function" ? states : (block) => states.get(block);
    this.#tint();
  }

  /** Make one block stand out, or none. @param {number | null} block @param {{pinned?: boolean}} [how] */
  highlight(block, how = {}) {
    if (this.highlighted !== null) {
      for (const mark of this.marks.byBlock.get(this.highlighted) ?? []) {
        setData(mark, "focus", undefined);
        setData(mark, "pinned", undefined);
      }
    }
    this.highlighted = block;
    if (block === null) return;
    for (const mark of this.marks.byBlock.get(block) ?? []) {
      setData(mark, "focus", "");
      setData(mark, "pinned", how.pinned ? "" : undefined);
    }
  }

  /** Style rules for states of your own, such as `mm-block[data-state="heading"] {...}`. @param {string} css */
  addStyle(css) {
    this.extraStyle = css;
    const sheet = this.document?.querySelector('style[data-mainmatter="tints"]');
    if (sheet) sheet.textContent = TINTS + css;
  }

  /**
   * Bring a block into view, if it is out of it.
   *
   * @param {number} block
   * @returns {boolean} whether the page shows the block at all
   */
  scrollTo(block) {
    const place = this.placeOf(block);
    if (!place) return false;
    const { scrollTop, clientHeight } = this.host;
    if (place.top < scrollTop || place.top + Math.min(place.height, clientHeight / 2) > scrollTop + clientHeight) {
      this.host.scrollTop = Math.max(0, place.top - clientHeight / 3);
    }
    return true;
  }

  /** Where a block stands in the container's content; null where the page hides it. @param {number} block */
  placeOf(block) {
    const all = (this.marks.byBlock.get(block) ?? []).flatMap((mark) => [...mark.getClientRects()]);
    const boxes = all.filter((box) => box.width && box.height);
    if (!boxes.length) return null;
    const top = Math.min(...boxes.map((box) => box.top));
    const bottom = Math.max(...boxes.map((box) => box.bottom));
    return { top: (top + this.#scrolled) * this.scale, height: (bottom - top) * this.scale };
  }

  /**
   * The block at a point of our window: the one whose text is there, or whose element has no other.
   *
   * @param {number} x clientX
   * @param {number} y clientY
   * @returns {number | null}
   */
  blockAt(x, y) {
    const inside = this.document;
    if (!inside) return null;
    const box = this.frame.getBoundingClientRect();
    const found = inside.elementsFromPoint((x - box.left) / this.scale, (y - box.top) / this.scale);
    for (const one of found) {
      const mark = one.closest("mm-block");
      if (mark) return blockOf(mark);
    }
    return found.length ? onlyBlockIn(found[0]) : null;
  }

  /** Fit the page into the container; called whenever that changes its size. */
  fit() {
    const inside = this.document;
    if (!inside?.documentElement || !this.host.clientWidth || !this.isLoaded) return;
    this.#setWidth();
    const style = this.frame.style;
    const isWindow = this.marks.areMany;
    const view = this.host.clientHeight;
    style.setProperty("height", `${isWindow ? view / this.scale : FIRST_HEIGHT}px`);
    let height = isWindow ? Math.min(MOST_HEIGHT, contentHeight(inside)) : 0;
    // What a style sheet from the web measures by the window grows with the frame: it may do so a little.
    for (let i = 0; !isWindow && i < MOST_FITS && contentHeight(inside) > height; i++) {
      height = Math.min(MOST_HEIGHT, contentHeight(inside));
      style.setProperty("height", `${height}px`);
    }
    this.sizer.classList.toggle("is-long", isWindow);
    this.window.style.setProperty("height", isWindow ? `${view}px` : "100%");
    this.sizer.style.setProperty("height", `${Math.ceil(height * this.scale)}px`);
    this.marks.forgetPlaces();
    this.#follow();
  }

  #setWidth() {
    const space = this.host.clientWidth;
    const width = space < NARROW ? space : Math.max(space, DESKTOP_WIDTH);
    this.scale = space / width || 1;
    this.frame.style.setProperty("width", `${width}px`);
    this.frame.style.setProperty("transform", `scale(${this.scale})`);
  }

  /** How far the page is scrolled in its frame: not at all, where the frame shows all of it. */
  get #scrolled() {
    return this.marks.areMany ? this.frame.contentWindow?.scrollY ?? 0 : 0;
  }

  /** Scroll the page as the container is, where the frame shows a part of it; tint what comes near. */
  #follow() {
    if (!this.marks.areMany) return;
    this.frame.contentWindow?.scrollTo({ top: this.host.scrollTop / this.scale, behavior: "instant" });
    this.#tint();
  }

  #tint() {
    const [from, height] = [this.#scrolled, this.marks.areMany ? this.frame.clientHeight : 0];
    this.marks.tint(from - height, from + 2 * height, from);
  }

  /** Prepare a page that has just loaded: find its marks and tint them. */
  #adopt() {
    const inside = this.document;
    if (!inside?.documentElement) return;
    mendLooks(inside);
    const sheet = inside.createElement("style");
    sheet.setAttribute("data-mainmatter", "tints");
    sheet.textContent = TINTS + this.extraStyle;
    (inside.head ?? inside.documentElement).append(sheet);
    calm(inside, FIRST_HEIGHT);
    this.marks.find(inside);
    this.fit();
    this.#tint();
  }

  #listen() {
    let start = /** @type {{x: number, y: number, block: number | null} | null} */ (null);
    let isDragging = false;
    let last = /** @type {number | null} */ (null);
    let hovered = /** @type {number | null} */ (null);
    const hover = (/** @type {number | null} */ block) => {
      if (block !== hovered) this.options.onHover?.(block);
      hovered = block;
    };
    this.overlay.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
      if (event.button !== 0) return;
      start = { x: event.clientX, y: event.clientY, block: this.blockAt(event.clientX, event.clientY) };
      isDragging = false;
      last = start.block;
    });
    this.overlay.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
      const block = this.blockAt(event.clientX, event.clientY);
      hover(block);
      if (!start || start.block === null || event.pointerType === "touch" || !this.options.onDrag) return;
      const distance = Math.hypot(event.clientX - start.x, event.clientY - start.y);
      if (!isDragging && distance > DRAG_PIXELS) {
        isDragging = true;
        this.overlay.setPointerCapture(event.pointerId);
      }
      if (isDragging && block !== null && block !== last) {
        last = block;
        this.options.onDrag(start.block, block, false, event);
      }
    });
    this.overlay.addEventListener("pointerup", (/** @type {PointerEvent} */ event) => {
      const from = start?.block ?? null;
      const wasDragged = isDragging && last !== from;
      start = null;
      isDragging = false;
      if (from === null) return;
      if (wasDragged && last !== null) this.options.onDrag?.(from, last, true, event);
      else if (this.blockAt(event.clientX, event.clientY) === from) this.options.onPick?.(from, event);
    });
    this.overlay.addEventListener("pointercancel", () => { start = null; isDragging = false; });
    this.overlay.addEventListener("pointerleave", () => hover(null));
  }
}

/** @param {Document} page */
function contentHeight(page) {
  return Math.max(page.documentElement.scrollHeight, page.body?.scrollHeight ?? 0);
}

/** The block of an element that has the text of no other, padding included. @param {Element} container */
function onlyBlockIn(container) {
  const first = container.querySelector("mm-block");
  const block = first && blockOf(first);
  if (block === null || container.querySelector(`mm-block:not([data-block="${block}"])`)) return null;
  return block;
}
