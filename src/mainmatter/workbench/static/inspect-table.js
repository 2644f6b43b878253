// The table of blocks. Only the rows in view exist, so that a page of 100,000 blocks is as fast as any.
// @ts-check

import { element } from "./shell.js";
import { lineOf } from "./inspect-words.js";

const ROW = 56; // pixels, as inspect.css has it
const SPARE = 12; // rows above and below those in view
const EXCERPT = 240;

const COLUMNS = [
  { name: "index", title: "Block", class: "c-index", isNumber: true },
  { name: "verdict", title: "Verdict", class: "c-verdict", isNumber: false },
  { name: "score", title: "Score", class: "c-score", isNumber: true },
  { name: "kind", title: "Kind", class: "c-kind", isNumber: false },
  { name: "text", title: "Text and reason", class: "", isNumber: false },
];

export class BlockTable {
  /**
   * @param {HTMLElement} host
   * @param {{onHover: (block: number | null) => void, onPick: (block: number) => void,
   *   onNeedReasons: (blocks: number[]) => void}} options
   */
  constructor(host, options) {
    this.host = host;
    this.options = options;
    this.order = /** @type {number[]} */ ([]);
    this.sort = { name: "index", descending: false };
    this.filter = "all";
    this.highlighted = /** @type {number | null} */ (null);
    this.answer = /** @type {any} */ (null);
    this.kept = /** @type {ArrayLike<number>} */ ([]);
    this.reasons = /** @type {Map<number, string>} */ (new Map());
    /** @type {Map<number, import("./inspect-words.js").Evidence>} empty for methods without signals */
    this.evidence = new Map();
    this.asked = /** @type {Set<number>} */ (new Set()); // blocks whose explanation is complete
    this.labels = /** @type {Map<number, string>} */ (new Map()); // of headline, bylines, captions and comments
    this.body = element("tbody");
    this.heads = COLUMNS.map((column) => this.#head(column));
    this.table = element("table", { class: "data" },
      element("caption", { class: "visually-hidden" }, "Blocks of the page, whether they are kept, and why"),
      element("thead", {}, element("tr", {}, ...this.heads)), this.body);
    host.replaceChildren(this.table);
    host.tabIndex = 0;
    host.setAttribute("role", "region");
    host.setAttribute("aria-label", "Table of blocks");
    // The host's size is cached: reading it forces a layout at every move of the dial.
    this.top = 0;
    this.height = 0;
    /** @type {{name: string, answer: any, order: number[]} | null} an order that does not depend on what is kept */
    this.known = null;
    host.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    new ResizeObserver(() => this.#resized()).observe(host);
    this.#listen();
  }

  /** @param {any} answer what /api/inspect said @param {ArrayLike<number>} kept */
  show(answer, kept) {
    this.answer = answer;
    this.reasons = new Map(answer.blocks.reasons.entries());
    this.evidence = new Map(answer.blocks.evidence.entries());
    this.asked.clear();
    const found = /** @type {[string, number[]][]} */ (Object.entries(answer.blocks.labels));
    this.labels = new Map(found.flatMap(([label, blocks]) => blocks.map((block) => [block, label])));
    this.#scrollTo(0);
    this.setKept(kept);
  }

  /** @param {ArrayLike<number>} kept */
  setKept(kept) {
    this.kept = kept;
    this.#arrange();
  }

  /** @param {string} filter "all", "kept" or "dropped" */
  setFilter(filter) {
    this.filter = filter;
    this.#scrollTo(0);
    this.#arrange();
  }

  /** @param {{reasons: Record<string, string>, evidence: Record<string, import("./inspect-words.js").Evidence>}} told */
  addReasons({ reasons, evidence }) {
    for (const [block, reason] of Object.entries(reasons)) {
      this.reasons.set(Number(block), reason);
      this.asked.add(Number(block));
    }
    for (const [block, each] of Object.entries(evidence)) this.evidence.set(Number(block), each);
    this.#drawRows();
  }

  /** The signals for and against a block; asks the server if they are not here yet. @param {number} block */
  evidenceOf(block) {
    if (!this.#isExplained(block)) this.options.onNeedReasons([block]);
    return this.evidence.get(block);
  }

  /** Whether the method's explanation of a block is here. @param {number} block */
  #isExplained(block) {
    return this.reasons.has(block) && (this.evidence.has(block) || this.asked.has(block) || !this.answer.dial);
  }

  /** @param {number | null} block @param {boolean} scrolls */
  highlight(block, scrolls) {
    this.highlighted = block;
    const row = block === null ? -1 : this.order.indexOf(block);
    if (scrolls && row >= 0 && this.height) {
      const head = this.heads[0].offsetHeight;
      if (row * ROW < this.top || (row + 1) * ROW + head > this.top + this.height) {
        this.#scrollTo(row * ROW - this.height / 3);
        this.#drawRows();
      }
    }
    this.body.querySelector("[data-focus]")?.removeAttribute("data-focus");
    if (block !== null) this.body.querySelector(`[data-block="${block}"]`)?.setAttribute("data-focus", "");
  }

  /** The label of a block, in the words of Extraction.labels. @param {number} block */
  labelOf(block) {
    return this.labels.get(block) ?? (this.kept[block] ? "main" : "boilerplate");
  }

  #arrange() {
    if (!this.answer) return;
    const isWanted = (/** @type {number} */ block) => (this.filter === "kept") === Boolean(this.kept[block]);
    const all = this.#sorted();
    this.order = this.filter === "all" ? all : all.filter(isWanted);
    this.table.setAttribute("aria-rowcount", String(this.order.length + 1));
    this.#drawRows();
  }

  /** All blocks in the chosen order. Orders that do not depend on the dial are cached. */
  #sorted() {
    const { name, descending } = this.sort;
    const count = this.answer.blocks.texts.length;
    const key = `${name} ${descending}`;
    if (this.known?.name === key && this.known.answer === this.answer) return this.known.order;
    let order = Array.from({ length: count }, (_, i) => i);
    if (name === "verdict" || name === "kind") order = gathered(order, (block) => this.#key(block));
    else if (name !== "index") {
      const keys = order.map((block) => this.#key(block));
      order.sort((a, b) => (keys[a] < keys[b] ? -1 : keys[a] > keys[b] ? 1 : a - b));
    }
    if (descending) order.reverse();
    if (name !== "verdict" && name !== "kind") this.known = { name: key, answer: this.answer, order };
    return order;
  }

  /** What a column sorts a block by. @param {number} block @returns {any} */
  #key(block) {
    const { scores, seen_as: kinds, texts } = this.answer.blocks;
    switch (this.sort.name) {
      case "verdict": return this.kept[block] ? 0 : 1;
      case "score": return scores[block];
      case "kind": return `${kinds[block]} ${this.labelOf(block)}`;
      default: return texts[block].length;
    }
  }

  #scrolled() {
    this.top = this.host.scrollTop;
    this.#drawRows();
  }

  #resized() {
    const wasHidden = !this.height;
    this.height = this.host.clientHeight;
    this.top = this.host.scrollTop; // a host that was hidden begins at the top again
    this.#drawRows();
    if (wasHidden) this.highlight(this.highlighted, true);
  }

  /** @param {number} top */
  #scrollTo(top) {
    this.host.scrollTop = Math.max(0, top);
    if (this.height) this.top = this.host.scrollTop;
  }

  #drawRows() {
    if (!this.answer || !this.height) return;
    const end = Math.min(this.order.length, Math.ceil((this.top + this.height) / ROW) + SPARE);
    const first = Math.max(0, Math.min(Math.floor(this.top / ROW), end) - SPARE);
    const shown = this.order.slice(first, end);
    const rows = shown.map((block, i) => this.#row(block, first + i));
    this.body.replaceChildren(spacer(first * ROW), ...rows, spacer((this.order.length - end) * ROW));
    const unknown = shown.filter((block) => !this.#isExplained(block));
    if (unknown.length) this.options.onNeedReasons(unknown);
  }

  /** @param {number} block @param {number} place */
  #row(block, place) {
    const { scores, seen_as: kinds, texts } = this.answer.blocks;
    const verdict = this.kept[block] ? "kept" : "dropped";
    const label = this.labelOf(block);
    const evidence = this.evidence.get(block);
    return element("tr", {
      class: `block ${verdict}`, dataset: { block }, "aria-rowindex": place + 2,
      "data-focus": block === this.highlighted ? "" : null,
    },
    element("td", { class: "number" }, block),
    element("td", {}, element("span", { class: `badge ${verdict}` }, verdict)),
    element("td", { class: "number" }, scores[block].toFixed(2)),
    element("td", {}, element("div", {}, kinds[block]), element("div", { class: "reason" }, label)),
    element("td", {},
      element("div", { class: "text" }, texts[block].slice(0, EXCERPT)),
      element("div", { class: "reason" }, evidence ? lineOf(evidence) : this.reasons.get(block) ?? "…")));
  }

  /** @param {typeof COLUMNS[number]} column */
  #head(column) {
    const button = element("button", { type: "button" }, column.title);
    const sorted = column.name === "index" ? "ascending" : "none";
    const head = element("th", { scope: "col", class: column.class, "aria-sort": sorted }, button);
    button.addEventListener("click", () => {
      const again = this.sort.name === column.name;
      // Numbers are most often wanted from the highest down, except for the order of the page.
      const first = column.name === "score" || column.name === "text";
      this.sort = { name: column.name, descending: again ? !this.sort.descending : first };
      for (const other of this.heads) other.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", this.sort.descending ? "descending" : "ascending");
      this.#scrollTo(0);
      this.#arrange();
    });
    return head;
  }

  #listen() {
    const blockOf = (/** @type {Event} */ event) => {
      const row = event.target instanceof Element ? event.target.closest("tr.block") : null;
      return row ? Number(row.getAttribute("data-block")) : null;
    };
    let hovered = /** @type {number | null} */ (null);
    const hover = (/** @type {number | null} */ block) => {
      if (block !== hovered) this.options.onHover(block);
      hovered = block;
    };
    this.body.addEventListener("pointerover", (/** @type {Event} */ event) => hover(blockOf(event)));
    this.body.addEventListener("pointerleave", () => hover(null));
    this.body.addEventListener("click", (/** @type {Event} */ event) => {
      const block = blockOf(event);
      if (block !== null) this.options.onPick(block);
    });
  }
}

/**
 * Blocks grouped by key, in page order within a group: faster than sorting them all.
 *
 * @param {number[]} blocks
 * @param {(block: number) => any} keyOf
 */
function gathered(blocks, keyOf) {
  /** @type {Map<any, number[]>} */
  const found = new Map();
  for (const block of blocks) {
    const key = keyOf(block);
    const others = found.get(key);
    if (others) others.push(block);
    else found.set(key, [block]);
  }
  return [...found.keys()].sort((a, b) => (a < b ? -1 : 1)).flatMap((key) => found.get(key) ?? []);
}

/** @param {number} height */
function spacer(height) {
  const cell = element("td", { colspan: COLUMNS.length });
  cell.style.setProperty("height", `${height}px`);
  return element("tr", { class: "spacer", "aria-hidden": "true" }, cell);
}
