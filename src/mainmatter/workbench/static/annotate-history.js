// @ts-check
/**
 * Who changed what on a page, and when: the newest change first.
 *
 * @typedef {import("./annotate-words.js").Block} Block
 * @typedef {import("./annotate-ledger.js").Label} Label
 * @typedef {{revision: number, annotator: string, by: string, action: string, time: string, of: number | null,
 *   changes: {ref: string, text: string | null, before: Label | null, after: Label | null}[]}} Event
 */
import { api, busy, count, element, showProblem } from "./shell.js";
import { openDialog } from "./annotate-bar.js";
import { clock, inWords, modelInWords } from "./annotate-words.js";

const SHOWN = 12; // changes of one step: a whole page can be labelled at once

/**
 * @param {number} page
 * @param {string} name
 * @param {string} annotator who asks
 */
export async function openHistory(page, name, annotator) {
  const place = element("div", { class: "history" });
  openDialog("History", { class: "wide", "aria-label": `History of ${name}` }, place);
  try {
    const { events, hidden } = await busy(place, api(`/api/annotate/pages/${page}/history?annotator=${encodeURIComponent(annotator)}`));
    show(place, events, hidden);
  } catch (error) {
    showProblem(place, error);
  }
}

/**
 * @param {HTMLElement} place
 * @param {Event[]} events
 * @param {number} hidden
 */
function show(place, events, hidden) {
  const note = hidden ? `${count(hidden, "change")} by others, shown when you are done with the page.` : "";
  if (note) place.append(element("p", { class: "note" }, note));
  if (!events.length) place.append(element("p", { class: "soft" }, "No changes yet."));
  else place.append(element("ol", { class: "events" }, ...events.toReversed().map(eventRow)));
}

/** @param {Event} event */
function eventRow(event) {
  const who = event.by === event.annotator ? event.by : `${event.by}, for ${event.annotator}`;
  const rest = event.changes.length - SHOWN;
  return element(
    "li",
    {},
    element("p", {}, element("strong", {}, who), ` ${actionInWords(event)}`, element("span", { class: "soft" }, ` · ${clock(event.time)}`)),
    event.changes.length
      ? element("ul", {}, ...event.changes.slice(0, SHOWN).map(changeRow), rest > 0 ? element("li", { class: "soft" }, `and ${rest} more`) : null)
      : null,
  );
}

/** @param {Event} event */
function actionInWords({ action, changes }) {
  const what = count(changes.length, "block");
  switch (action) {
    case "set": return `labelled ${what}`;
    case "undo": return `undid a change to ${what}`;
    case "redo": return `redid a change to ${what}`;
    case "done": return "marked the page as done";
    default: return "reopened the page";
  }
}

/** @param {{text: string | null, before: Label | null, after: Label | null}} change */
function changeRow({ text, before, after }) {
  return element(
    "li",
    {},
    element("span", { class: "soft" }, `${inWords(before)} → `),
    after?.suggested_by ? `${inWords(after)} (as ${modelInWords(after.suggested_by)} suggested)` : inWords(after),
    element("span", { class: "change-text" }, text ?? "a block that is now cut differently"),
  );
}
