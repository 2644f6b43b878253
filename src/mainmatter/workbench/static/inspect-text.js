// The clean text: made by the server, cut here into pieces that know their blocks.
// @ts-check

import { element } from "./shell.js";

const LETTERS = /[\p{L}\p{N}]+/gu;
const LONGEST = 5_000_000; // text in which blocks are looked for by their letters
const LARGEST_GAP = 5000; // between two blocks, in letters that belong to none
const LONGEST_MARK = 40; // characters before a block's words that say what it is, as "<p> " and "- " do
const CHUNK = 40; // blocks that are redrawn together when one of them changes
const NEAR = "600px"; // around what is in view: there each piece has an element, elsewhere a chunk is plain text
const LINE = { characters: 70, height: 26 }; // about: to estimate the height of a chunk that was not in view yet

/**
 * One piece of the clean text: what stands before it, its words, and its block (-1 for words that mainmatter adds).
 *
 * @typedef {{before: string, words: string, block: number}} Piece
 */

/**
 * The kept blocks in the order in which the text has them: marked comments come last, except in CleanEval's markup.
 *
 * @param {any} answer what /api/inspect said
 * @param {ArrayLike<number>} kept
 * @param {string} format
 * @returns {{blocks: number[], firstComment: number}} the first comment that stands apart; -1 if none does
 */
function orderOf(answer, kept, format) {
  const all = Array.from(kept, (isKept, block) => (isKept ? block : -1)).filter((block) => block >= 0);
  if (!answer.marks_comments || format === "cleaneval") return { blocks: all, firstComment: -1 };
  const comments = new Set(answer.blocks.labels.comment);
  const apart = all.filter((block) => comments.has(block));
  return { blocks: [...all.filter((block) => !comments.has(block)), ...apart], firstComment: apart[0] ?? -1 };
}

/**
 * Find the blocks in the text that the server made: their words stand in it in order, as they are or, in Markdown, their
 * letters and digits. A block that is found neither way is shown, but cannot be highlighted.
 *
 * @param {string} text
 * @param {any} answer what /api/inspect said
 * @param {ArrayLike<number>} kept
 * @param {string} format
 * @returns {Piece[]}
 */
export function findBlocks(text, answer, kept, format) {
  const { blocks, firstComment } = orderOf(answer, kept, format);
  /** @type {Letters | null} */
  let letters = null;
  /** @type {Piece[]} */
  const pieces = [];
  let end = 0;
  for (const block of blocks) {
    const words = answer.blocks.texts[block];
    let place = exactPlace(text, words, end, block === firstComment);
    if (!place) {
      letters ??= new Letters(text);
      place = letters.find(words, end);
    }
    if (!place) continue;
    const begin = Math.max(end, text.lastIndexOf("\n", place.first) + 1);
    const lineEnd = text.indexOf("\n", place.last);
    let before = text.slice(end, begin);
    if (block === firstComment && before.trim()) {
      const line = before.trim(); // the heading that mainmatter adds above the comments
      const at = before.indexOf(line);
      pieces.push({ before: before.slice(0, at), words: line, block: -1 });
      before = before.slice(at + line.length);
    }
    end = lineEnd < 0 ? text.length : lineEnd;
    pieces.push({ before, words: text.slice(begin, end), block });
  }
  return end < text.length ? [...pieces, { before: text.slice(end), words: "", block: -1 }] : pieces;
}

/**
 * Where words occur literally in the next non-empty line: their first and last character.
 *
 * @param {string} text
 * @param {string} words
 * @param {number} from
 * @param {boolean} isAfterLine an added heading may come before them
 */
function exactPlace(text, words, from, isAfterLine) {
  const first = from + text.slice(from, from + words.length + LONGEST_MARK).indexOf(words);
  if (first < from || !words) return null;
  const skipped = text.slice(from, Math.max(from, text.lastIndexOf("\n", first) + 1));
  return isAfterLine || !skipped.trim() ? { first, last: first + words.length - 1 } : null;
}

/** The letters and digits of a text, without the addresses of its links, to look for blocks among them. */
class Letters {
  /** @param {string} text */
  constructor(text) {
    this.places = /** @type {number[]} */ ([]); // of each letter in the text
    /** @type {string[]} */
    const runs = [];
    const withoutAddresses = text.replace(/\]\([^()\s]*\)/g, (link) => " ".repeat(link.length));
    for (const run of text.length < LONGEST ? withoutAddresses.matchAll(LETTERS) : []) {
      for (let i = 0; i < run[0].length; i++) this.places.push(run.index + i);
      runs.push(run[0]);
    }
    this.all = runs.join("");
    this.at = 0; // in the letters
  }

  /** @param {string} words @param {number} from where in the text to begin */
  find(words, from) {
    while (this.at < this.places.length && this.places[this.at] < from) this.at += 1;
    const wanted = (words.match(LETTERS) ?? []).join("");
    const found = wanted ? this.all.slice(this.at, this.at + wanted.length + LARGEST_GAP).indexOf(wanted) : -1;
    if (found < 0) return null;
    const first = this.at + found;
    this.at = first + wanted.length;
    return { first: this.places[first], last: this.places[this.at - 1] };
  }
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
  let section = 0; // comments come after an added heading, which has no block
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
