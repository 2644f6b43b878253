// @ts-check
/**
 * The vocabulary of labelling: the labels a block can have, their keys, and their names in the user interface.
 *
 * @typedef {import("./annotate-ledger.js").Label} Label
 * @typedef {import("./annotate-ledger.js").Kind} Kind
 * @typedef {{index: number, ref: string, text: string, kind: string, level: number, hidden: boolean}} Block
 * @typedef {"cycle" | "keep" | "drop" | "clear" | Kind} Brush
 */

/** @type {{name: Brush, key: string, word: string, about: string}[]} */
export const BRUSHES = [
  { name: "keep", key: "k", word: "Keep", about: "main matter, of the kind given by the page's markup" },
  { name: "drop", key: "d", word: "Drop", about: "boilerplate" },
  { name: "heading", key: "h", word: "Heading", about: "keep, as a heading" },
  { name: "paragraph", key: "p", word: "Paragraph", about: "keep, as a paragraph" },
  { name: "list", key: "l", word: "List item", about: "keep, as an item of a list" },
  { name: "comment", key: "c", word: "Comment", about: "keep, as a reader's comment" },
  { name: "clear", key: "x", word: "Clear", about: "remove the label" },
];

/** @type {Object<Kind, string>} */
const KIND_WORDS = { heading: "heading", paragraph: "paragraph", list: "list item", comment: "comment" };

/** @type {Object<Kind, string>} */
export const KIND_SIGNS = { heading: "H", paragraph: "¶", list: "•", comment: "“" };

/** @type {Object<string, Kind>} */
const KINDS_OF_MARKUP = { heading: "heading", "list-item": "list" };

/**
 * The kind that a block has by its markup.
 * @param {Block} block
 * @returns {Kind}
 */
export function kindOf(block) {
  return KINDS_OF_MARKUP[block.kind] ?? "paragraph";
}

/**
 * What a brush makes of a block's label.
 * @param {Brush} brush
 * @param {Block} block
 * @param {Label | undefined} label the label that it has
 * @returns {Label | null}
 */
export function painted(brush, block, label) {
  const kind = label?.kind ?? kindOf(block);
  if (brush === "clear") return null;
  if (brush === "keep" || brush === "drop") return { kept: brush === "keep", kind };
  if (brush === "cycle") return painted(nextInCycle(label), block, label);
  return { kept: true, kind: brush };
}

/**
 * What a click makes of a label, in turn: keep, drop, no label.
 * @param {Label | undefined} label
 * @returns {Brush}
 */
export function nextInCycle(label) {
  if (!label) return "keep";
  return label.kept ? "drop" : "clear";
}

/** @param {Label | null | undefined} label */
export function inWords(label) {
  if (!label) return "no label";
  return label.kept ? `keep, ${KIND_WORDS[label.kind]}` : "drop";
}

/**
 * @param {Label | null | undefined} one
 * @param {Label | null | undefined} other
 */
export function same(one, other) {
  if (!one || !other) return !one === !other;
  return one.kept === other.kept && one.kind === other.kind;
}

/** The name of what suggests to drop the blocks that a site repeats (workbench/labels/recurring.py). */
export const OF_SITES = "template";

/**
 * What suggested something, in words: a model of the workbench by its name.
 * @param {string} name
 */
export function modelInWords(name) {
  return name === OF_SITES ? "the site's template" : name.replace(/^models\//, "");
}

/** @param {number | null | undefined} share between 0 and 1 */
export function percent(share) {
  return share === null || share === undefined ? "–" : `${(100 * share).toFixed(1)} %`;
}

/** @param {number | null | undefined} kappa */
export function kappaInWords(kappa) {
  return kappa === null || kappa === undefined || Number.isNaN(kappa) ? "–" : kappa.toFixed(2);
}

/**
 * A time as the reader's clock shows it.
 * @param {string} iso
 */
export function clock(iso) {
  const time = new Date(iso);
  return Number.isNaN(time.getTime()) ? iso : time.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "medium" });
}
