// @ts-check
/**
 * What the newest model suggests for each block of a page, and how sure it is.
 *
 * @typedef {import("./annotate-ledger.js").Label} Label
 * @typedef {import("./annotate-words.js").Block} Block
 * @typedef {{model: string, version: string, pages: number | null, sure: number, labels: Label[], scores: number[],
 *   alike: number[]}} Answer
 */

export const UNSURE = 0.75; // below this chance, the model is not sure
const LIKELY = 0.95;
const NANOSECONDS = 1e6; // in a millisecond
const HARDLY = 0.02; // makes blocks seen before always rank behind those that were not

export class Suggestions {
  /** @type {Set<number>} the blocks that `nextUnsure` has led to */
  #seen = new Set();

  /** @param {Answer} answer */
  constructor(answer) {
    this.model = answer.model;
    this.version = answer.version;
    this.pages = answer.pages;
    this.labels = answer.labels;
    this.scores = answer.scores;
    this.alike = answer.alike;
  }

  /** Whether the model was taught after a time. @param {string} time as ISO 8601 */
  isNewerThan(time) {
    return Number(this.version) / NANOSECONDS > Date.parse(time);
  }

  /**
   * How sure the model is of a block's label, from 0 to 1.
   * @param {number} block
   * @param {Label} [label] its label, if it is not the model's suggestion
   */
  chance(block, label = this.labels[block]) {
    return label.kept ? this.scores[block] : 1 - this.scores[block];
  }

  /**
   * The unconfirmed block that the model is least sure of; after each has come once, they come again.
   * @param {Block[]} blocks
   * @param {Map<string, Label>} labels
   * @returns {number | null} null if the annotator has confirmed all
   */
  nextUnsure(blocks, labels) {
    const open = blocks.filter(({ ref }) => isOpen(labels.get(ref))).map(({ index }) => index);
    if (!open.length) return null;
    if (open.every((block) => this.#seen.has(block))) this.#seen.clear();
    const doubt = (/** @type {number} */ block) => this.chance(block, labels.get(blocks[block].ref)) + (this.#seen.has(block) ? 1 + HARDLY : 0);
    const next = open.reduce((least, block) => (doubt(block) < doubt(least) ? block : least));
    this.#seen.add(next);
    return next;
  }
}

/**
 * Whether the annotator has not confirmed a label: there is none, or it was only accepted.
 * @param {Label | undefined} label
 */
export function isOpen(label) {
  return !label || Boolean(label.suggested_by);
}

/**
 * How sure a chance is, as a word for style sheets.
 * @param {number} chance
 */
export function sureness(chance) {
  return chance < UNSURE ? "unsure" : chance < LIKELY ? "likely" : "sure";
}
