// The result of a lesson in plain words: whether to use the model, how much better it is, and on which pages.
// @ts-check

import { count, element } from "./shell.js";
import { fillTable, interval, percent, probability, score, signed } from "./teach-words.js";

const MOST_PAGES = 200;

/**
 * @param {any} job a finished one
 * @param {any} model what the server says of its model now; undefined if it was deleted
 * @param {{use: (name: string) => unknown, compare: (name: string) => unknown}} actions
 * @returns {HTMLElement}
 */
export function resultOf(job, model, actions) {
  const lesson = job.lesson;
  const gain = lesson.gains[0];
  const likely = model?.probability ?? lesson.probability ?? 0; // lessons of earlier versions have none
  const isGood = model?.recommended ?? lesson.recommended;
  const bar = element("span");
  bar.style.width = `${100 * likely}%`;
  return element(
    "div", { class: `result ${isGood ? "good" : "no-gain"}`, id: "result-box" },
    element("h3", { tabindex: "-1", id: "result-heading" },
      element("span", { class: "likely" }, percent(likely)), " likely better than the shipped model on other pages of this kind"),
    element("div", { class: "likely-bar", "aria-hidden": "true" }, bar),
    model ? nextStep(model, lesson, isGood, actions) : null,
    element("p", { class: "figures" },
      element("span", { class: "gain" }, signed(gain.gain)), " ",
      element("span", { class: "soft" }, `${gain.metric}: ${score(gain.shipped)} as shipped, ${score(gain.taught)} taught`)),
    element("p", { id: "verdict" }, lesson.verdict),
    notesOf(lesson),
    gainsTable(lesson.gains),
    linksOf(job),
    pagesOf(lesson),
  );
}

/** What to do now, and the buttons for it. @param {any} model @param {any} lesson @param {boolean} isGood @param {any} actions */
function nextStep(model, lesson, isGood, actions) {
  const more = lesson.outlook?.more_pages;
  const { taught, shipped } = model.preferred;
  const words = model.in_use ? "It is in use."
    : isGood ? "Use it."
    : lesson.below_default ? "main as shipped is better still: keep it."
    : more ? `Label about ${count(more, "more page")}, or compare blindly.`
    : model.probability < 0.5 ? "Keep the shipped model."
    : "More pages are unlikely to decide it: compare blindly.";
  return element("div", { class: "row", id: "next-step" },
    element("strong", {}, words),
    model.in_use ? null : element("button", { type: "button", class: isGood ? "primary" : null, on: { click: () => actions.use(model.name) } }, "Use it from now on"),
    element("button", { type: "button", on: { click: () => actions.compare(model.name) } }, "Compare blindly"),
    more && !isGood ? element("a", { class: "button", href: "/annotate" }, "Label more pages") : null,
    taught + shipped ? element("span", { class: "soft" }, `Preferred blindly on ${taught} of ${count(taught + shipped, "page")}.`) : null);
}

/** @param {any} lesson */
function notesOf(lesson) {
  const how = lesson.splitting === "site" ? "Measured on whole sites that were left out" : "Measured on single pages that were left out";
  const start = lesson.start ? `It started from ${lesson.start === "main" ? "the shipped model" : lesson.start}.` : "It started from scratch.";
  const told = [
    `${how}, in ${count(lesson.folds, "part")}; the model itself learned from all ${count(lesson.pages, "page")} of ${count(lesson.sites, "site")}. ${start}`,
    ...lesson.notes.map((/** @type {string} */ note) => `Note: ${note}.`),
    ...(lesson.start && lesson.forgotten !== undefined ? [`On pages that it had learned from before: ${signed(-lesson.forgotten)}.`] : []),
    ...(lesson.default === null ? [] : [`main as shipped reaches ${score(lesson.default)} on the same pages.`]),
  ];
  return element("ul", { class: "notes soft" }, ...told.map((line) => element("li", {}, line)));
}

/** @param {any[]} gains */
function gainsTable(gains) {
  const table = element("table", { class: "data" });
  fillTable(table, "On pages that the models had not seen", ["metric", "#pages", "#shipped", "#taught", "#gain", "95 % interval", "#p", "#better on", "#worse on"],
    gains.map((gain) => [gain.metric, gain.pages, score(gain.shipped), score(gain.taught), signed(gain.gain), interval(gain), probability(gain.p), gain.wins, gain.losses]));
  return element("div", { class: "table-scroll", tabindex: "0", role: "region", "aria-label": "Gains by metric" }, table);
}

/** @param {any} job */
function linksOf(job) {
  const method = `models/${job.name}`;
  return element("p", { class: "row" },
    element("a", { class: "button", href: `/?method=${encodeURIComponent(method)}` }, `Try ${job.name} in Inspect`),
    element("a", { class: "button", href: `/compare?with=${["main", method].map(encodeURIComponent).join(",")}` }, "Compare it with main"));
}

/** @param {any} lesson */
function pagesOf(lesson) {
  const pages = [...lesson.by_page].sort((a, b) => (a.taught - a.shipped) - (b.taught - b.shipped));
  const table = element("table", { class: "data" });
  fillTable(table, "Largest losses first", ["page", "#shipped", "#taught", "#gain"],
    pages.slice(0, MOST_PAGES).map((page) => [page.page || page.url || "?", score(page.shipped), score(page.taught), signed(page.taught - page.shipped)]));
  return element("details", {}, element("summary", {}, `Page by page (${pages.length})`),
    element("div", { class: "table-scroll pages", tabindex: "0", role: "region", "aria-label": "Gains by page" }, table));
}
