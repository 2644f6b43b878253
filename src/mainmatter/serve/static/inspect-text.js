// The clean text: composed here of the kept blocks, as render/text.py and render/cleaneval.py do, so that the dial
// changes it at once and each piece knows its block. Markdown needs the page's tree: the server makes it.
// @ts-check

import { element } from "./shell.js";

const STAND_TOGETHER = new Set(["list-item", "table-row"]);
const LABELS = new Map([["heading", "<h>"], ["list-item", "<l>"]]);
const COMMENTS_LINE = "--- Comments ---";
const LETTERS = /[\p{L}\p{N}]/gu;
const LONGEST_MARKDOWN = 1_000_000; // in which blocks are looked for
const LARGEST_GAP = 5000; // letters of Markdown that belong to no block, between two that do
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

/**
 * Find the blocks in Markdown that the server made: their letters and digits stand in it in the same order. A block that
 * is not found that way is shown, but stands out nowhere.
 *
 * @param {string} markdown
 * @param {Piece[]} blocks the pieces of the plain text
 * @returns {Piece[]}
 */
export function composeMarkdown(markdown, blocks) {
  const withoutAddresses = markdown.replace(/\]\([^()\s]*\)/g, (link) => " ".repeat(link.length));
  /** @type {number[]} */
  const places = []; // of each letter in the Markdown
  let all = "";
  for (const letter of markdown.length < LONGEST_MARKDOWN ? withoutAddresses.matchAll(LETTERS) : []) {
    for (let i = 0; i < letter[0].length; i++) places.push(letter.index + i);
    all += letter[0];
  }
  /** @type {Piece[]} */
  const pieces = [];
  let at = 0; // in the letters
  let end = 0; // in the Markdown
  for (const { words, block } of blocks) {
    const wanted = (words.match(LETTERS) ?? []).join("");
    const found = wanted ? all.slice(at, at + wanted.length + LARGEST_GAP).indexOf(wanted) : -1;
    if (found < 0 || block < 0) continue;
    const first = places[at + found];
    at += found + wanted.length;
    const last = places[at - 1];
    const begin = Math.max(end, markdown.lastIndexOf("\n", first) + 1);
    const lineEnd = markdown.indexOf("\n", last);
    const before = markdown.slice(end, begin);
    end = lineEnd < 0 ? markdown.length : lineEnd;
    pieces.push({ before, words: markdown.slice(begin, end), block });
  }
  return [...pieces, { before: markdown.slice(end), words: "", block: -1 }];
}

/** @param {Piece[]} pieces */
function join(pieces) {
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
  }

  /** Say why there is no text. @param {string} why */
  showNothing(why) {
    this.#dress(false);
    this.text = "";
    this.host.replaceChildren(element("span", { class: "soft" }, why));
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
