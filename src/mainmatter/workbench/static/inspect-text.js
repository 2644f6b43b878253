// The clean text: composed here of the kept blocks, as render/text.py and render/cleaneval.py do, so that the dial
// changes it at once and each piece knows its block. Markdown needs the page's tree: the server makes it.
// @ts-check

import { element } from "./shell.js";

const STAND_TOGETHER = new Set(["list-item", "table-row"]);
const LABELS = new Map([["heading", "<h>"], ["list-item", "<l>"]]);
const COMMENTS_LINE = "--- Comments ---";
const LETTERS = /[\p{L}\p{N}]+/gu;
const LONGEST_MARKDOWN = 5_000_000; // in which blocks are looked for
const LARGEST_GAP = 5000; // letters of Markdown that belong to no block, between two that do
const CHUNK = 40; // blocks: so much of the text is written anew where one of them changes
const NEAR = "600px"; // around what is in view: there each piece has an element, elsewhere a chunk is plain text
const LINE = { characters: 70, height: 26 }; // about; says how high a chunk is that was not in view yet

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
  /** @type {string[]} */
  const runs = [];
  for (const run of markdown.length < LONGEST_MARKDOWN ? withoutAddresses.matchAll(LETTERS) : []) {
    for (let i = 0; i < run[0].length; i++) places.push(run.index + i);
    runs.push(run[0]);
  }
  const all = runs.join("");
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

/**
 * A part of the text that is shown or changed as a whole: the pieces of so many blocks in a row.
 *
 * @typedef {{key: string, group: number, pieces: Piece[], lead: string, text: string}} Part
 * @typedef {Part & {element: HTMLElement, isNear: boolean, isDressed: boolean}} Chunk
 */

/**
 * Cut the text into parts that begin and end at the same blocks whatever is kept. What stands before a piece belongs to
 * the part of the piece before it: at the end of an element it takes no line of its own.
 *
 * @param {Piece[]} pieces
 * @returns {Part[]}
 */
function cut(pieces) {
  /** @type {Part[]} */
  const parts = [];
  let section = 0; // comments come after a line of ours, which has no block
  for (const piece of pieces) {
    if (piece.block < 0) section += 1;
    const group = piece.block < 0 ? 0 : Math.floor(piece.block / CHUNK);
    // A part without pieces keeps its place, so that those after it stay where they are.
    const last = parts.at(-1);
    const start = last?.key.startsWith(`${section}:`) && last.group <= group ? last.group + 1 : 0;
    for (let next = start; next <= group; next++) {
      parts.push({ key: `${section}:${next}`, group: next, pieces: [], lead: "", text: "" });
    }
    parts[parts.length - 1].pieces.push(piece);
  }
  let after = "";
  for (const part of parts.toReversed()) {
    const [first] = part.pieces;
    if (!first) continue;
    if (part === parts[0]) part.lead = first.before;
    part.text = part.lead + part.pieces.map((piece, i) => (i ? piece.before : "") + piece.words).join("") + after;
    after = first.before;
  }
  return parts;
}

export class CleanText {
  /**
   * @param {HTMLElement} host
   * @param {{onHover: (block: number | null) => void, onPick: (block: number) => void}} options
   */
  constructor(host, options) {
    this.host = host;
    this.pieces = /** @type {Piece[]} */ ([]);
    this.chunks = /** @type {Chunk[]} */ ([]);
    this.highlighted = /** @type {number | null} */ (null);
    this.focused = /** @type {HTMLElement | null} */ (null);
    /** @type {WeakMap<Element, Chunk>} */
    this.chunkOf = new WeakMap();
    this.observer = new IntersectionObserver((entries) => {
      for (const entry of entries) this.#cameNear(this.chunkOf.get(entry.target), entry.isIntersecting);
    }, { root: host, rootMargin: NEAR });
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

  /** All of the text that is shown. */
  get text() {
    return join(this.pieces);
  }

  /**
   * Show pieces that know their blocks. Only the parts of the text that differ from what is shown are touched.
   *
   * @param {Piece[]} pieces
   * @param {boolean} isSource show them in the type of source text
   */
  showPieces(pieces, isSource) {
    if (this.host.classList.contains("source") !== isSource || !this.pieces.length) this.#clear(isSource);
    this.pieces = pieces;
    const parts = cut(pieces);
    const stays = parts.findIndex((part, i) => part.key !== this.chunks[i]?.key);
    const same = stays < 0 ? parts.length : stays;
    for (const gone of this.chunks.splice(same)) this.#remove(gone);
    this.chunks.forEach((chunk, i) => this.#change(chunk, parts[i]));
    this.chunks.push(...parts.slice(same).map((part) => this.#add(part)));
    this.highlight(this.highlighted, false);
  }

  /** Say why there is no text. @param {string} why */
  showNothing(why) {
    this.#clear(false);
    this.host.replaceChildren(element("span", { class: "soft" }, why));
  }

  /** @param {number | null} block @param {boolean} scrolls */
  highlight(block, scrolls) {
    this.highlighted = block;
    this.focused?.removeAttribute("data-focus");
    this.focused = block === null ? null : this.#spanOf(block);
    if (!this.focused) return;
    this.focused.setAttribute("data-focus", "");
    if (!scrolls || !this.host.clientHeight) return;
    const box = this.focused.getBoundingClientRect();
    const top = box.top - this.host.getBoundingClientRect().top; // in what is in view
    if (top >= 0 && top + Math.min(box.height, 60) <= this.host.clientHeight) return;
    this.host.scrollTop += top - this.host.clientHeight / 3;
  }

  /** @param {boolean} isSource */
  #clear(isSource) {
    this.pieces = [];
    this.chunks = [];
    this.observer.disconnect();
    this.host.replaceChildren();
    this.host.classList.toggle("source", isSource);
    this.host.classList.toggle("prose", !isSource);
  }

  /** @param {Part} part @returns {Chunk} */
  #add(part) {
    const chunk = { ...part, element: element("div", { class: "chunk" }), isNear: false, isDressed: false };
    this.host.append(chunk.element);
    this.chunkOf.set(chunk.element, chunk);
    this.#write(chunk);
    this.observer.observe(chunk.element);
    return chunk;
  }

  /** @param {Chunk} chunk */
  #remove(chunk) {
    this.observer.unobserve(chunk.element);
    chunk.element.remove();
  }

  /** @param {Chunk} chunk @param {Part} part */
  #change(chunk, part) {
    const isSame = chunk.text === part.text;
    Object.assign(chunk, part);
    if (!isSame) this.#write(chunk);
  }

  /** @param {Chunk | undefined} chunk @param {boolean} isNear */
  #cameNear(chunk, isNear) {
    if (!chunk) return;
    chunk.isNear = isNear;
    if (isNear && !chunk.isDressed) this.#dress(chunk);
  }

  /** @param {Chunk} chunk */
  #write(chunk) {
    const lines = chunk.text.length / LINE.characters + 1.5 * chunk.pieces.length;
    chunk.element.style.setProperty("contain-intrinsic-block-size", `auto ${Math.ceil(lines) * LINE.height}px`);
    chunk.isDressed = false;
    if (chunk.isNear) this.#dress(chunk);
    else chunk.element.textContent = chunk.text;
  }

  /** Give each piece an element of its own, which knows its block. @param {Chunk} chunk */
  #dress(chunk) {
    const { pieces, lead, text } = chunk;
    let length = lead.length;
    const nodes = pieces.flatMap((piece, i) => {
      const before = i ? piece.before : "";
      length += before.length + piece.words.length;
      return [before, spanOf(piece)];
    });
    chunk.element.replaceChildren(lead, ...nodes, text.slice(length));
    chunk.isDressed = true;
    if (this.highlighted !== null && pieces.some((piece) => piece.block === this.highlighted)) {
      this.highlight(this.highlighted, false);
    }
  }

  /** @param {number} block @returns {HTMLElement | null} */
  #spanOf(block) {
    const group = Math.floor(block / CHUNK);
    const chunk = this.chunks.find((one) => one.group === group && one.pieces.some((piece) => piece.block === block));
    if (!chunk) return null;
    if (!chunk.isDressed) this.#dress(chunk);
    return chunk.element.querySelector(`[data-block="${block}"]`);
  }
}

/** @param {Piece} piece */
function spanOf(piece) {
  if (piece.block < 0) return element("span", { class: "comments-line" }, piece.words);
  return element("span", { dataset: { block: piece.block } }, piece.words);
}
