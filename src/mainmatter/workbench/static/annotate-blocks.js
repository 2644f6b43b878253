// @ts-check
/**
 * The blocks of a page as a list: the same labels as in the frame, for those who cannot see it or prefer to read. Rows
 * are made in groups, when they come near the view: a page may have 50,000 blocks.
 *
 * @typedef {import("./annotate-words.js").Block} Block
 * @typedef {import("./annotate-ledger.js").Label} Label
 * @typedef {{label?: Label, suggestion?: Label, chance?: number, sureness?: string, pending: boolean, selected: boolean}} Look
 *   `chance` is how sure the model is of the block's label or suggestion, and `sureness` the same as a word
 */
import { element } from "./shell.js";
import { inWords, KIND_SIGNS, modelInWords } from "./annotate-words.js";

const GROUP = 50; // rows that are made together
const NEAR = "800px"; // around what is in view
const ROW = 40; // pixels, about: the height of a group that was not in view yet is estimated from it

export class BlockList {
  /** @type {Block[]} */
  #blocks = [];
  /** @type {HTMLElement[]} those that were made, by the numbers of their blocks */
  #rows = [];
  /** @type {string[]} */
  #shown = [];
  /** @type {HTMLElement[]} */
  #groups = [];
  /** @type {Set<number>} the groups whose rows were made */
  #made = new Set();
  /** @type {(block: number) => Look} */
  #lookOf = () => ({ pending: false, selected: false });
  /** @type {HTMLElement | undefined} */
  #active;
  /** @type {HTMLElement | undefined} */
  #hovered;

  /**
   * @param {{onHover: (block: number | null) => void, onPick: (block: number, event: PointerEvent | MouseEvent) => void,
   *   onPaint: (from: number, to: number) => void}} options called when the pointer is over a block or off all of them,
   *   when a block is clicked, and when the pointer was drawn from one block to another.
   */
  constructor({ onHover, onPick, onPaint }) {
    this.onHover = onHover;
    this.onPick = onPick;
    this.onPaint = onPaint;
    this.element = element("ol", {
      class: "block-list",
      role: "listbox",
      tabindex: "0",
      "aria-multiselectable": "true",
      "aria-label": "Blocks of the page",
      "aria-describedby": "block-list-help",
    });
    this.observer = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) if (isIntersecting) this.#make(this.#groups.indexOf(/** @type {HTMLElement} */ (target)));
    }, { root: this.element, rootMargin: NEAR });
    this.#listen();
  }

  /** @param {Block[]} blocks */
  load(blocks) {
    this.observer.disconnect();
    this.#blocks = blocks;
    [this.#rows, this.#shown, this.#made] = [[], [], new Set()];
    this.#groups = Array.from({ length: Math.ceil(blocks.length / GROUP) }, () => element("div", { class: "block-group", role: "presentation" }));
    this.element.replaceChildren(...this.#groups);
    this.#groups.forEach((group, number) => {
      const rows = Math.min(GROUP, blocks.length - number * GROUP);
      group.style.setProperty("contain-intrinsic-block-size", `auto ${rows * ROW}px`);
      group.style.setProperty("min-height", `${rows * ROW}px`);
      this.observer.observe(group);
    });
    this.#make(0);
  }

  /**
   * Show how each block looks; those whose rows are not made yet are asked for later.
   * @param {(block: number) => Look} lookOf
   */
  show(lookOf) {
    this.#lookOf = lookOf;
    for (const group of this.#made) this.#showGroup(group);
  }

  /** @param {number} group */
  #showGroup(group) {
    const end = Math.min(this.#blocks.length, (group + 1) * GROUP);
    for (let block = group * GROUP; block < end; block++) this.#showRow(block, this.#lookOf(block));
  }

  /** @param {number} group */
  #make(group) {
    if (this.#made.has(group) || !this.#groups[group]) return;
    this.#made.add(group);
    const blocks = this.#blocks.slice(group * GROUP, (group + 1) * GROUP);
    for (const block of blocks) this.#rows[block.index] = makeRow(block, this.#blocks.length);
    this.#showGroup(group);
    const place = this.#groups[group];
    place.style.removeProperty("min-height");
    place.replaceChildren(...blocks.map((block) => this.#rows[block.index]));
    this.observer.unobserve(place);
  }

  /** @param {number} block */
  #row(block) {
    this.#make(Math.floor(block / GROUP));
    return this.#rows[block];
  }

  /**
   * @param {number} block
   * @param {Look} look
   */
  #showRow(block, look) {
    const open = look.label?.suggested_by ? look.label : look.label ? undefined : look.suggestion;
    const key = [inWords(look.label), look.label?.suggested_by, open ? inWords(open) : "", look.chance, look.pending, look.selected].join("|");
    if (this.#shown[block] === key) return;
    this.#shown[block] = key;
    const row = this.#rows[block];
    row.setAttribute("aria-selected", String(look.selected));
    row.dataset.state = look.label ? (look.label.kept ? "kept" : "dropped") : "none";
    row.dataset.open = open ? (open.kept ? "kept" : "dropped") : "";
    row.dataset.sureness = (open && look.sureness) || "";
    row.classList.toggle("pending", look.pending);
    const [sign, , words] = row.children;
    sign.textContent = look.label ? (look.label.kept ? KIND_SIGNS[look.label.kind] : "×") : "";
    words.textContent = this.#words(look);
  }

  /** @param {Look} look */
  #words(look) {
    const parts = [inWords(look.label)];
    const isOpen = look.label ? look.label.suggested_by : look.suggestion;
    if (look.label?.suggested_by) parts.push(`as ${modelInWords(look.label.suggested_by)} suggested`);
    else if (!look.label && look.suggestion) parts[0] = `suggested: ${inWords(look.suggestion)}`;
    if (isOpen && look.chance !== undefined) parts.push(`${Math.round(100 * look.chance)} %`);
    if (look.pending) parts.push("not saved yet");
    return parts.join(" · ");
  }

  /**
   * Make a block the active one, and bring it into view.
   * @param {number} block
   */
  activate(block) {
    const row = this.#row(block);
    if (!row) return;
    this.#active?.classList.remove("active");
    this.#active = row;
    row.classList.add("active");
    this.element.setAttribute("aria-activedescendant", row.id);
    const [box, around] = [row.getBoundingClientRect(), this.element.getBoundingClientRect()];
    if (box.top < around.top) this.element.scrollTop -= around.top - box.top + 8;
    else if (box.bottom > around.bottom) this.element.scrollTop += box.bottom - around.bottom + 8;
  }

  /** @param {number | null} block */
  hover(block) {
    this.#hovered?.classList.remove("hovered");
    this.#hovered = block === null ? undefined : this.#rows[block];
    this.#hovered?.classList.add("hovered");
  }

  #listen() {
    /** @type {number | null} */
    let from = null;
    this.element.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => this.onHover(numberAt(event.target)));
    this.element.addEventListener("pointerleave", () => this.onHover(null));
    this.element.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
      from = event.pointerType === "touch" || event.button !== 0 ? null : numberAt(event.target);
      if (from !== null) this.element.focus({ preventScroll: true });
    });
    this.element.addEventListener("pointerup", (/** @type {PointerEvent} */ event) => {
      const to = numberAt(event.target);
      if (from !== null && to !== null && from !== to) this.onPaint(from, to);
      else from = null;
    });
    this.element.addEventListener("click", (/** @type {MouseEvent} */ event) => {
      const block = numberAt(event.target);
      if (block !== null && from === null) this.onPick(block, event);
      from = null;
    });
  }
}

/** @param {Block} block @param {number} size how many there are */
function makeRow(block, size) {
  return element(
    "li",
    {
      class: "block", role: "option", id: `block-${block.index}`, "data-index": String(block.index), "data-state": "none",
      "aria-setsize": size, "aria-posinset": block.index + 1,
    },
    element("span", { class: "sign", "aria-hidden": "true" }),
    element("span", { class: `block-text markup-${block.kind}` }, block.hidden ? element("em", { class: "soft" }, "hidden: ") : null, shortened(block.text)),
    element("span", { class: "words" }, "no label"),
  );
}

const LONGEST = 400; // characters: enough to tell what a block is

/** @param {string} text */
function shortened(text) {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)} …` : text;
}

/** @param {EventTarget | null} target */
function numberAt(target) {
  const row = target instanceof Element ? target.closest("li.block") : null;
  return row instanceof HTMLElement ? Number(row.dataset.index) : null;
}
