// What Inspect says in words: counts, the chosen block, what the page says about itself.
// @ts-check

import { element } from "./shell.js";

const number = (/** @type {number} */ value) => value.toLocaleString("en");

/**
 * What is kept at a step of the dial, one number a block; without a dial, what the method keeps. The server sends runs:
 * so many dropped, so many kept, and so on.
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

/** @param {any} answer @param {number} dial */
function stepOf(answer, dial) {
  return Math.min(answer.dial.steps.length - 1, Math.max(0, Math.round(dial * (answer.dial.steps.length - 1))));
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
  if (!list.childElementCount) list.append(element("dd", {}, "Nothing."));
}

/**
 * @param {HTMLElement} place
 * @param {{answer: any, block: number | null, kept: Uint8Array, isPinned: boolean}} state
 * @param {import("./inspect-table.js").BlockTable} table
 */
export function showDetail(place, state, table) {
  const { answer, block } = state;
  if (!answer || block === null || block >= state.kept.length) {
    const [next, previous] = [element("kbd", {}, "j"), element("kbd", {}, "k")];
    const words = ["Point at a block, or walk with ", next, " and ", previous, "."];
    place.replaceChildren(element("p", { class: "soft" }, ...words));
    return;
  }
  const { scores, seen_as: kinds, texts } = answer.blocks;
  const verdict = state.kept[block] ? "kept" : "dropped";
  const facts = [`score ${scores[block].toFixed(2)}`, kinds[block], table.labelOf(block)];
  facts.push(`${number(texts[block].length)} characters`);
  if (state.isPinned) facts.push("pinned");
  place.replaceChildren(
    element("p", {},
      element("strong", {}, `Block ${block} `), element("span", { class: `badge ${verdict}` }, verdict), " ",
      element("span", { class: "soft" }, facts.join(" · "))),
    element("p", { class: "soft" }, table.reasons.get(block) ?? ""),
    element("p", { class: "words" }, texts[block].slice(0, 2000)),
  );
}
