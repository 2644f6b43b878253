// @ts-check
/**
 * The blocks of a page as a list: the same labels as in the frame, for whoever cannot see it or would rather read.
 *
 * @typedef {import("./annotate-words.js").Block} Block
 * @typedef {import("./annotate-ledger.js").Label} Label
 * @typedef {{label?: Label, suggestion?: Label, pending: boolean, selected: boolean}} Look
 */
import { element } from "./shell.js";
import { inWords, KIND_SIGNS } from "./annotate-words.js";

export class BlockList {
  /** @type {HTMLElement[]} */
  #rows = [];
  /** @type {string[]} */
  #shown = [];

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
    this.#listen();
  }

  /** @param {Block[]} blocks */
  load(blocks) {
    this.#rows = blocks.map((block) => makeRow(block));
    this.#shown = blocks.map(() => "");
    this.element.replaceChildren(...this.#rows);
  }

  /**
   * @param {number} block
   * @param {Look} look
   */
  show(block, look) {
    const key = [inWords(look.label), look.suggestion ? inWords(look.suggestion) : "", look.pending, look.selected].join("|");
    if (this.#shown[block] === key) return;
    this.#shown[block] = key;
    const row = this.#rows[block];
    row.setAttribute("aria-selected", String(look.selected));
    row.dataset.state = look.label ? (look.label.kept ? "kept" : "dropped") : "none";
    row.classList.toggle("pending", look.pending);
    const [sign, , words] = row.children;
    sign.textContent = look.label ? (look.label.kept ? KIND_SIGNS[look.label.kind] : "×") : "";
    words.textContent = this.#words(look);
  }

  /** @param {Look} look */
  #words(look) {
    const parts = [inWords(look.label)];
    if (!look.label && look.suggestion) parts[0] = `suggested: ${inWords(look.suggestion)}`;
    if (look.pending) parts.push("not saved yet");
    return parts.join(" · ");
  }

  /**
   * Make a block the active one, and bring it into view.
   * @param {number} block
   */
  activate(block) {
    const row = this.#rows[block];
    if (!row) return;
    this.element.querySelector(".active")?.classList.remove("active");
    row.classList.add("active");
    this.element.setAttribute("aria-activedescendant", row.id);
    const box = this.element;
    if (row.offsetTop < box.scrollTop) box.scrollTop = row.offsetTop - 8;
    const below = row.offsetTop + row.offsetHeight - box.clientHeight;
    if (below > box.scrollTop) box.scrollTop = below + 8;
  }

  /** @param {number | null} block */
  hover(block) {
    this.element.querySelector(".hovered")?.classList.remove("hovered");
    if (block !== null) this.#rows[block]?.classList.add("hovered");
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

/** @param {Block} block */
function makeRow(block) {
  return element(
    "li",
    { class: "block", role: "option", id: `block-${block.index}`, "data-index": String(block.index), "data-state": "none" },
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
