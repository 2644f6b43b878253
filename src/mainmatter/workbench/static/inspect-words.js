// The texts of Inspect: counts, the chosen block, the page's metadata.
// @ts-check

import { say } from "./dial.js";
import { element } from "./shell.js";

const number = (/** @type {number} */ value) => value.toLocaleString("en");

/**
 * What is kept at a step of the dial, one number a block; without a dial, what the method keeps. The server sends run
 * lengths: dropped, kept, dropped, and so on.
 *
 * @param {any} answer
 * @param {number} dial
 * @returns {Uint8Array}
 */
export function keptAt(answer, dial) {
  const kept = new Uint8Array(answer.blocks.texts.length);
  let place = 0;
  let isKept = 0;
  for (const run of answer.dial ? answer.dial.kept[stepOf(answer, dial)] : answer.kept) {
    if (isKept) kept.fill(1, place, place + run);
    place += run;
    isKept = 1 - isKept;
  }
  return kept;
}

/** The nearest step of the dial. @param {any} answer @param {number} dial */
function stepOf(answer, dial) {
  const distances = answer.dial.steps.map((/** @type {number} */ step) => Math.abs(step - dial));
  return distances.indexOf(Math.min(...distances));
}

/** @param {any} answer @param {Uint8Array} kept @param {number} dial */
export function countsOf(answer, kept, dial) {
  const { texts } = answer.blocks;
  let blocks = 0;
  let characters = 0;
  let all = 0;
  texts.forEach((/** @type {string} */ words, /** @type {number} */ i) => {
    all += words.length;
    if (!kept[i]) return;
    blocks += 1;
    characters += words.length;
  });
  const confidence = answer.dial ? answer.dial.confidence[stepOf(answer, dial)] : answer.confidence;
  const threshold = answer.dial ? answer.dial.threshold[stepOf(answer, dial)] : answer.threshold;
  const parts = [`${number(blocks)} of ${number(texts.length)} blocks kept`];
  parts.push(`${number(characters)} of ${number(all)} characters`);
  if (answer.page_type) parts.push(`page type: ${answer.page_type}`);
  if (confidence !== null && confidence !== undefined) parts.push(`confidence: ${confidence.toFixed(2)}`);
  if (threshold !== null && threshold !== undefined) parts.push(`threshold: ${threshold.toFixed(2)}`);
  return parts.join(" · ");
}

/** @param {HTMLElement} list @param {any} answer */
export function aboutPage(list, answer) {
  const { encoding, url: address } = answer.page;
  const facts = { ...answer.metadata, "page type": answer.page_type, encoding, address };
  list.replaceChildren();
  for (const [name, value] of Object.entries(facts)) {
    if (value) list.append(element("dt", {}, name), element("dd", {}, value));
  }
  if (!list.childElementCount) list.append(element("dd", {}, "None."));
}

/**
 * A signal for or against a block: its family, its weight in log odds, and what it saw.
 *
 * @typedef {[family: string, weight: number, words: string]} Signal
 * @typedef {[signals: Signal[], notes: string[]]} Evidence the notes say what overruled the signals
 */

/**
 * The chosen block: what it is, why it was kept or dropped, and its words.
 *
 * @param {HTMLElement} place
 * @param {{answer: any, block: number | null, kept: Uint8Array, isPinned: boolean}} state
 * @param {import("./inspect-table.js").BlockTable} table
 */
export function showDetail(place, state, table) {
  const { answer, block } = state;
  if (!answer || block === null || block >= state.kept.length) {
    const [next, previous] = [element("kbd", {}, "j"), element("kbd", {}, "k")];
    const words = ["Point at a block, or move with ", next, " and ", previous, ", to see why it is kept or dropped."];
    place.replaceChildren(element("p", { class: "soft" }, ...words));
    return;
  }
  const { seen_as: kinds, texts } = answer.blocks;
  const verdict = state.kept[block] ? "kept" : "dropped";
  const facts = [kinds[block], table.labelOf(block), `${number(texts[block].length)} characters`];
  if (state.isPinned) facts.push("pinned");
  const evidence = table.evidenceOf(block);
  place.replaceChildren(
    element("div", {},
      element("p", {},
        element("strong", {}, `Block ${block} `), element("span", { class: `badge ${verdict}` }, verdict), " ",
        element("span", { class: "soft" }, facts.join(" · "))),
      element("p", { class: "why" }, evidence ? whyOf(answer, block, evidence[1]) : table.reasons.get(block) ?? ""),
      element("p", { class: "words" }, texts[block].slice(0, 2000))),
    evidence ? barsOf(evidence[0]) : null,
  );
}

/** How likely a block is main matter, and from which dial on it is kept. @param {any} answer @param {number} block @param {string[]} notes */
function whyOf(answer, block, notes) {
  const [score, dial] = [answer.blocks.scores[block], answer.blocks.dials?.[block] ?? null];
  const likely = score < 0.01 ? "Less than 1 %" : score > 0.99 ? "More than 99 %" : `${Math.round(100 * score)} %`;
  const sentences = [...notes.map((note) => note.charAt(0).toUpperCase() + note.slice(1)), `${likely} likely to be main matter`];
  if (dial !== null) sentences.push(dial === 0 ? "Kept at any dial value" : dial === 1 ? "Kept only at dial 1" : `Kept from dial ${roundUp(dial)} on`);
  return sentences.map((sentence) => `${sentence}.`).join(" ");
}

/** Rounded up, so that the statement is true; finer near 1, where most blocks are close together. @param {number} dial */
function roundUp(dial) {
  const parts = dial < 0.99 ? 100 : 10_000;
  return say(Math.ceil(dial * parts) / parts);
}

/** @param {Signal[]} signals */
function barsOf(signals) {
  if (!signals.length) return element("p", { class: "soft signals" }, "No single signal decides: without any one of them, the method would be just as sure.");
  const longest = Math.max(2, ...signals.map(([, weight]) => Math.abs(weight)));
  const rows = signals.map(([family, weight, words]) => {
    const side = weight > 0 ? "for" : "against";
    const bar = element("span", { class: `bar ${side}` });
    bar.style.setProperty("width", `${(50 * Math.abs(weight)) / longest}%`);
    return element("li", { title: `${family}: ${weight > 0 ? "+" : "−"}${Math.abs(weight).toFixed(1)} in log odds` },
      element("span", { class: "visually-hidden" }, `${strength(weight)} ${side} it: `),
      element("span", {}, words), element("span", { class: "track", "aria-hidden": "true" }, bar));
  });
  return element("div", { class: "signals" },
    element("p", { class: "soft ends", "aria-hidden": "true" }, element("span", {}, "Signal"), element("span", { class: "sides" }, element("span", {}, "against"), element("span", {}, "for"))),
    element("ul", { "aria-label": "Signals for and against this block" }, ...rows));
}

/** @param {number} weight */
function strength(weight) {
  return Math.abs(weight) >= 2 ? "strongly" : Math.abs(weight) >= 1 ? "clearly" : "slightly";
}

/** The same in one line, for the table. @param {Evidence} evidence */
export function lineOf([signals, notes]) {
  const loudest = signals.slice(0, 3).map(([, weight, words]) => `${weight > 0 ? "for" : "against"}: ${words}`);
  return [...notes, ...loudest].join(" · ") || "no single signal decides";
}
