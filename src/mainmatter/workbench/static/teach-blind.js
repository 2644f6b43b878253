// The blind comparison: what two models keep of a page, as A and B; one key says which is better.
// @ts-check

import { announce, api, busy, byId, count, element, showProblem } from "./shell.js";

/** Each key, the answer it sends, and its label. @type {[string, string, string][]} */
const ANSWERS = [["1", "a", "A is better"], ["2", "b", "B is better"], ["0", "same", "No difference"]];
const CONTEXT = 120; // characters that are shown of blocks that both keep

/** The running comparison, as last reported by the server. @type {any} */
let state = null;
/** Called when a comparison has ended. @type {() => unknown} */
let whenEnded = () => {};
let isBusy = false; // a key that is held down must not answer the next page

/**
 * Begin a comparison of a model with the one that it was taught from.
 *
 * @param {string} model its plain name
 * @param {() => unknown} onEnd
 */
export async function compareBlindly(model, onEnd) {
  whenEnded = onEnd;
  await ask("", { json: { model } });
  if (!dialog().open) dialog().showModal();
}

/** @returns {any} */
function dialog() {
  return byId("blind");
}

/** Ask the server, and show what it says. @param {string} path @param {any} [options] */
async function ask(path, options) {
  if (isBusy) return;
  isBusy = true;
  try {
    state = await busy(dialog(), api(`/api/teach/blind${path}`, options));
    showProblem(byId("blind-problem"), null);
    show();
  } catch (error) {
    if (!dialog().open) throw error;
    showProblem(byId("blind-problem"), error);
  } finally {
    isBusy = false;
  }
}

function show() {
  const { page, result } = state;
  byId("blind-ask").hidden = !page;
  byId("blind-result").hidden = !result;
  if (result) return showResult(result);
  byId("blind-count").textContent = `Page ${state.answered + 1} of ${state.of}: ${page.name}`;
  byId("blind-page").href = page.url ?? "";
  byId("blind-page").hidden = !/^https?:/.test(page.url ?? "");
  byId("blind-rows").replaceChildren(...rowsOf(page.blocks));
  byId("blind-scroll").scrollTop = 0;
  announce(byId("blind-count").textContent);
}

/** One row for each block that only one of them keeps, and one for each run that both keep. @param {any[]} blocks */
function rowsOf(blocks) {
  const rows = [];
  /** @type {any[]} */
  let both = [];
  for (const block of [...blocks, null]) {
    if (block && block.a && block.b) {
      both.push(block);
      continue;
    }
    if (both.length) rows.push(element("tr", { class: "both" }, element("td", { colspan: "2" }, inShort(both))));
    both = [];
    if (block) rows.push(element("tr", {}, cellOf(block, block.a), cellOf(block, block.b)));
  }
  return rows;
}

/** @param {any} block @param {boolean} isKept */
function cellOf(block, isKept) {
  return isKept ? element("td", { class: `only block-text ${block.kind}` }, block.text) : element("td", { class: "none" }, "dropped");
}

/** @param {any[]} blocks */
function inShort(blocks) {
  const text = blocks[0].text;
  const begin = text.length > CONTEXT ? `${text.slice(0, CONTEXT)}…` : text;
  return `Both keep ${count(blocks.length, "block")}: ${begin}`;
}

/** @param {any} result */
function showResult(result) {
  const answered = result.taught + result.shipped;
  const same = result.same ? ` On ${result.same} you saw no difference.` : "";
  const words = answered ? `The taught model was preferred on ${result.taught} of ${count(answered, "page")}.${same}` : "You preferred neither.";
  byId("blind-words").textContent = words;
  announce(words);
  byId("blind-close").focus();
  whenEnded();
}

/** @param {string} said */
function answer(said) {
  if (state?.page) ask(`/${state.id}`, { json: { page: state.page.id, answer: said } });
}

byId("blind-answers").replaceChildren(...ANSWERS.map(([key, said, words]) =>
  element("button", { type: "button", on: { click: () => answer(said) } }, element("kbd", {}, key), ` ${words}`)));
byId("blind-stop").addEventListener("click", () => ask(`/${state.id}/end`, { method: "POST" }));
byId("blind-close").addEventListener("click", () => dialog().close());
dialog().addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
  const chosen = ANSWERS.find(([key]) => key === event.key);
  if (!chosen || event.repeat || event.ctrlKey || event.altKey || event.metaKey || !state?.page) return;
  event.preventDefault();
  answer(chosen[1]);
});
dialog().addEventListener("cancel", (/** @type {Event} */ event) => {
  if (!state?.page) return; // it has ended: Escape closes it
  event.preventDefault();
  ask(`/${state.id}/end`, { method: "POST" });
});
