// The clean text: composed here of the kept blocks, as render/text.py and render/cleaneval.py do, so that the dial
// changes it at once and each piece knows its block. Markdown needs the page's tree: the server makes it.
// @ts-check

import { element } from "./shell.js";

const STAND_TOGETHER = new Set(["list-item", "table-row"]);
const LABELS = new Map([["heading", "<h>"], ["list-item", "<l>"]]);
const COMMENTS_LINE = "--- Comments ---";
const MOST_PIECES = 5000; // that know their block; the rest of a longer page is one piece

/**
 * One piece of the clean text: what stands before it, its words, and its block (-1 for words of ours).
 *
 * @typedef {{before: string, words: string, block: number}} Piece
 */

/**
 * @param {any} answer what /api/inspect said
 * @param {ArrayLike<number>} kept
 * @returns {Piece[]} the plain text
 */
export function composeText(answer, kept) {
  const { kinds, texts, comments } = answer.blocks;
  const isApart = (/** @type {number} */ block) => answer.marks_comments && kept[block];
  const apart = new Set(comments.filter(isApart));
  const lay = (/** @type {(block: number) => boolean} */ isWanted) => {
    /** @type {Piece[]} */
    const pieces = [];
    let previous = "";
    for (let block = 0; block < kinds.length; block++) {
      if (!kept[block] || !isWanted(block)) continue;
      const together = kinds[block] === previous && STAND_TOGETHER.has(previous);
      pieces.push({ before: pieces.length ? (together ? "\n" : "\n\n") : "", words: texts[block], block });
      previous = kinds[block];
    }
    return pieces;
  };
  const main = lay((block) => !apart.has(block));
  if (!apart.size) return main;
  const rest = lay((block) => apart.has(block));
  rest[0].before = "\n\n";
  return [...main, { before: main.length ? "\n\n" : "", words: COMMENTS_LINE, block: -1 }, ...rest];
}

/** @param {any} answer @param {ArrayLike<number>} kept @returns {Piece[]} the text in CleanEval's markup */
export function composeCleaneval(answer, kept) {
  const { seen_as: kinds, texts } = answer.blocks;
  /** @type {Piece[]} */
  const pieces = [];
  for (let block = 0; block < kinds.length; block++) {
    if (!kept[block]) continue;
    const words = `${LABELS.get(kinds[block]) ?? "<p>"} ${texts[block].split(/\s+/).filter(Boolean).join(" ")}`;
    pieces.push({ before: pieces.length ? "\n" : "", words, block });
  }
  return pieces;
}

/** @param {Piece[]} pieces */
export function join(pieces) {
  return pieces.map((piece) => piece.before + piece.words).join("");
}

export class CleanText {
  /**
   * @param {HTMLElement} host
   * @param {{onHover: (block: number | null) => void, onPick: (block: number) => void}} options
   */
  constructor(host, options) {
    this.host = host;
    /** @type {Map<number, HTMLElement>} */
    this.spans = new Map();
    this.text = "";
    const blockOf = (/** @type {Event} */ event) => {
      const span = event.target instanceof Element ? event.target.closest("[data-block]") : null;
      return span ? Number(span.getAttribute("data-block")) : null;
    };
    host.addEventListener("pointerover", (event) => options.onHover(blockOf(event)));
    host.addEventListener("pointerleave", () => options.onHover(null));
    host.addEventListener("click", (event) => {
      const block = blockOf(event);
      if (block !== null && !String(getSelection())) options.onPick(block);
    });
  }

  /**
   * Show pieces that know their blocks.
   *
   * @param {Piece[]} pieces
   * @param {boolean} isSource show them in the type of source text
   */
  showPieces(pieces, isSource) {
    this.#dress(isSource);
    this.text = join(pieces);
    const nodes = pieces.slice(0, MOST_PIECES).flatMap((piece) => [piece.before, this.#span(piece)]);
    this.host.replaceChildren(...nodes, join(pieces.slice(MOST_PIECES)));
    if (!pieces.length) this.host.append(element("span", { class: "soft" }, "Nothing is kept."));
  }

  /** Show text that the server made. @param {string} text */
  showWhole(text) {
    this.#dress(true);
    this.text = text;
    this.host.textContent = text;
  }

  /** @param {number | null} block @param {boolean} scrolls */
  highlight(block, scrolls) {
    this.host.querySelector("[data-focus]")?.removeAttribute("data-focus");
    const span = block === null ? undefined : this.spans.get(block);
    if (!span) return;
    span.setAttribute("data-focus", "");
    if (!scrolls || !this.host.clientHeight) return;
    const top = span.offsetTop - this.host.offsetTop;
    const isAbove = top < this.host.scrollTop;
    const isBelow = top + Math.min(span.offsetHeight, 60) > this.host.scrollTop + this.host.clientHeight;
    if (isAbove || isBelow) this.host.scrollTop = Math.max(0, top - this.host.clientHeight / 3);
  }

  /** @param {boolean} isSource */
  #dress(isSource) {
    this.spans.clear();
    this.host.classList.toggle("source", isSource);
    this.host.classList.toggle("prose", !isSource);
  }

  /** @param {Piece} piece */
  #span(piece) {
    if (piece.block < 0) return element("span", { class: "comments-line" }, piece.words);
    const span = element("span", { dataset: { block: piece.block } }, piece.words);
    this.spans.set(piece.block, span);
    return span;
  }
}
