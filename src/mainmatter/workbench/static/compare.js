// Compare: what several methods and other tools keep of one page.
// @ts-check

import { announce, api, busy, byId, element, showProblem } from "./shell.js";
import { correct } from "./correct.js";
import { fromAddress, fromText, isFetched, listenForPages, recall, remember, toAddress, toEntry, toRequest } from "./inspect-input.js";
import { listenForKeys } from "./keymap.js";

const GOLD = "mainmatter-gold";
const OFTEN = ["density", "trafilatura"]; // compared with the default, unless the address says otherwise
const CONTEXT = 40; // characters of equal text that are shown around differences
const CHUNK = 4000; // characters that are laid out and painted together, when they come into view
const PERCENT = 100;

const state = {
  source: /** @type {import("./inspect-input.js").Source | null} */ (null),
  answer: /** @type {any} */ (null),
  usual: /** @type {string[]} */ ([]), // methods that are compared, unless the address says otherwise
  compared: /** @type {import("./inspect-input.js").Source | null} */ (null), // the page of the answer
  asked: 0,
};

// ---- the methods

async function listContestants() {
  const [offered, described] = await Promise.all([api("/api/compare"), api("/api/methods")]);
  const { methods, models, peers, default: usual } = offered;
  const summaries = new Map(described.methods.map((/** @type {any} */ one) => [one.name, one.summary]));
  state.usual = [usual, ...OFTEN];
  const box = (/** @type {string} */ name, /** @type {string} */ title) => element("label", { class: "check", title },
    element("input", { type: "checkbox", name: "method", value: name }), name);
  const others = methods.filter((/** @type {string} */ name) => name !== usual);
  const aboutOf = (/** @type {string} */ name) => summaries.get(name) ?? "a model of this workbench";
  byId("methods").replaceChildren(...[...new Set([usual, ...others, ...models])].map((name) => box(name, aboutOf(name))));
  byId("peers").replaceChildren(...peers.map((/** @type {any} */ peer) => box(peer.name, `version ${peer.version}`)));
  byId("peers-field").hidden = !peers.length;
}

/** @returns {HTMLInputElement[]} */
const boxes = () => /** @type {any[]} */ ([...document.querySelectorAll('input[name="method"]')]);
const chosenMethods = () => boxes().filter((box) => box.checked).map((box) => box.value);

/** Choose the methods that the address names, or those that are compared most often. */
function restoreMethods() {
  const query = new URLSearchParams(location.search);
  const named = (query.get("methods") ?? query.get("with"))?.split(",") ?? state.usual; // "with" is of older links
  for (const box of boxes()) box.checked = named.includes(box.value);
}

/** The page and the methods, as an address. @param {string[]} methods */
function address(methods) {
  const query = new URLSearchParams();
  toAddress(query, state.source);
  query.set("methods", methods.join(","));
  return `${location.pathname}?${String(query).replaceAll("%2C", ",")}`;
}

/** @param {import("./inspect-input.js").Source} source */
function usePage(source) {
  state.source = source;
  byId("input-panel").open = false;
  byId("input-summary").textContent = "Choose another page";
  byId("chosen-page").textContent = `Page: ${source.name}`;
}

// ---- asking

/** @param {boolean} [isEntry] whether another page is a new step of the browser's history */
async function compare(isEntry = true) {
  const typed = byId("input-panel").open ? fromText(byId("input-text").value, byId("input-url").value) : null;
  if (typed) usePage(typed);
  const methods = chosenMethods();
  if (!state.source) return showProblem(byId("problem"), new Error("Choose a page first."));
  if (!methods.length) return showProblem(byId("problem"), new Error("Choose at least one method; two or more to compare them."));
  const asked = ++state.asked;
  const { source } = state;
  const gold = byId("gold").value;
  try {
    sessionStorage.setItem(GOLD, gold.length < 1_000_000 ? gold : "");
  } catch { /* after a reload, the user enters it again */ }
  try {
    const fields = /** @type {Record<string, any>} */ ({ methods });
    if (gold.trim()) fields.gold = gold;
    byId("chosen-page").textContent = `${isFetched(source) ? "Fetching" : "Page:"} ${source.name}`;
    const answer = await busy(byId("main"), api("/api/compare", toRequest(source, fields)));
    if (asked !== state.asked) return;
    showProblem(byId("problem"), null);
    const isOther = isEntry && state.compared !== null && state.compared !== source;
    state.answer = answer;
    state.compared = source;
    if (!source.frame) remember(source);
    const entry = toEntry(source);
    if (isOther && entry) history.pushState(entry, "", address(methods));
    else history.replaceState(entry, "", address(methods));
    show();
  } catch (error) {
    if (asked === state.asked) showProblem(byId("problem"), error);
  } finally {
    if (asked === state.asked) byId("chosen-page").textContent = `Page: ${source.name}`;
  }
}

// ---- showing

function show() {
  const { answer } = state;
  byId("result").hidden = false;
  const names = answer.columns.map((/** @type {any} */ column) => column.name);
  byId("legend").replaceChildren(...legend(answer.reference));
  showColumns();
  const options = [...names.entries()].map(([i, name]) => element("option", { value: i }, name));
  byId("chooser").replaceChildren(...options);
  chooseColumn(Math.min(1, names.length - 1));
  showMetrics(answer, names);
  announce(`Compared ${names.join(", ")}`);
}

/** @param {string | null} reference */
function legend(reference) {
  if (reference === null) return [];
  const what = reference === "gold" ? "the gold text" : reference;
  return [element("ins", {}, "extra"), " and ", element("del", {}, "missing"), ` compared with ${what}`];
}

function showColumns() {
  const onlyDifferences = byId("only-differences").checked;
  byId("columns").classList.toggle("only-differences", onlyDifferences);
  const columns = state.answer.columns.map((/** @type {any} */ column) => columnOf(column, onlyDifferences));
  byId("columns").replaceChildren(...columns);
  chooseColumn(Number(byId("chooser").value || 0));
}

/** @param {any} column @param {boolean} onlyDifferences */
function columnOf(column, onlyDifferences) {
  const isReference = column.name === state.answer.reference;
  const counts = `${number(column.words)} words · ${milliseconds(column.seconds)}`;
  const changes = `${number(column.added)} extra words, ${number(column.missing)} missing`;
  const body = column.error
    ? [element("p", { class: "problem" }, element("strong", {}, `${column.name} failed: `), column.error)]
    : cut(onlyDifferences && !isReference ? column.parts.map(shortened) : column.parts)
      .map((parts) => element("div", { class: "chunk" }, ...parts.map(partOf)));
  const f1 = column.f1 === null ? null : element("span", { class: "f1", title: "F1 of its words against the gold text" }, `F1 ${figure(column.f1, false)}`);
  const header = element("header", {},
    element("div", { class: "row" },
      element("h3", {}, column.name, column.is_peer ? element("span", { class: "soft" }, " (another tool)") : null),
      f1, column.is_peer || column.error ? null : correctButton(column.name)),
    element("p", { class: "soft" }, column.error ? "no text" : counts),
    element("p", { class: "soft" }, isReference ? "reference for the others" : column.error ? "" : changes));
  const text = element("div", { class: "prose", tabindex: 0, role: "region", "aria-label": `Text of ${column.name}` }, ...body);
  const kind = isReference ? "column reference" : "column";
  return element("article", { class: kind, "aria-label": column.name, dataset: { name: column.name } }, header, text);
}

/** @param {string} method what it kept becomes the labels */
function correctButton(method) {
  return element("button", {
    type: "button", class: "correct quiet push", "aria-label": `Correct this page, starting from what ${method} kept`,
    title: "Open the page in Annotate, labelled as this method decided", on: { click: () => correctPage(method) },
  }, "Correct this page");
}

/** @param {string} method */
async function correctPage(method) {
  if (!state.compared) return;
  try {
    await correct(state.compared, { method, options: {} });
  } catch (error) {
    showProblem(byId("problem"), error);
  }
}

/** @typedef {[string, string]} Part a sign, as the server has it, and words */

/** @param {Part} part */
function partOf([sign, words]) {
  if (sign === "+") return element("ins", {}, words);
  if (sign === "-") return element("del", {}, words);
  return element("span", { class: "same" }, words);
}

/** @param {Part} part @returns {Part} */
function shortened([sign, words]) {
  const isLong = sign === "=" && words.length > 3 * CONTEXT;
  return [sign, isLong ? `${words.slice(0, CONTEXT)} … ${words.slice(-CONTEXT)}` : words];
}

/**
 * Cut a text into chunks, each of which ends with a line.
 *
 * @param {Part[]} parts
 * @returns {Part[][]}
 */
function cut(parts) {
  /** @type {Part[][]} */
  const chunks = [[]];
  let length = 0; // of the last chunk
  for (const [sign, words] of parts) {
    let from = 0;
    for (;;) {
      const line = words.indexOf("\n", from + Math.max(0, CHUNK - length));
      if (line < 0) break;
      let end = line + 1;
      while (words[end] === "\n") end += 1;
      chunks[chunks.length - 1].push([sign, words.slice(from, end)]);
      chunks.push([]);
      [from, length] = [end, 0];
    }
    if (from < words.length) chunks[chunks.length - 1].push([sign, words.slice(from)]);
    length += words.length - from;
  }
  return chunks.filter((chunk) => chunk.length);
}

/** @param {number} chosen */
function chooseColumn(chosen) {
  byId("chooser").value = String(chosen);
  [...byId("columns").children].forEach((column, i) => column.classList.toggle("chosen", i === chosen));
}

/** @param {any} answer @param {string[]} names */
function showMetrics(answer, names) {
  byId("metrics").hidden = !answer.metrics.length;
  if (!answer.metrics.length) return;
  const left = "The gold text has no markup, so figures that depend on headings, paragraphs and lists are left out.";
  byId("metrics-note").textContent = `A star marks the best of each row. ${answer.gold_is_marked ? "" : left}`;
  const head = element("tr", {}, element("th", { scope: "col" }, "Metric"), element("th", { scope: "col" }, "Figure"),
    ...names.map((name) => element("th", { scope: "col", class: "number" }, name)));
  const caption = element("caption", { class: "visually-hidden" }, "Metrics of each method");
  const body = element("tbody", {}, ...answer.metrics.map(metricRow));
  byId("metrics-table").replaceChildren(caption, element("thead", {}, head), body);
  const about = new Map(answer.metrics.map((/** @type {any} */ row) => [row.metric, row.description]));
  byId("metrics-about").replaceChildren(...[...about].flatMap(([name, words]) => [element("dt", {}, name), element("dd", {}, words)]));
}

/** @param {any} row */
function metricRow(row) {
  const values = row.values.map((/** @type {number | null} */ value, /** @type {number} */ i) =>
    element("td", { class: row.best.includes(i) ? "number best" : "number" }, figure(value, row.is_percent)));
  return element("tr", { class: row.is_headline ? "headline" : "" },
    element("th", { scope: "row" }, row.metric),
    element("td", {}, row.figure.replaceAll("_", " ")), ...values);
}

/** @param {number} value */
function number(value) {
  return value.toLocaleString("en");
}

/** A figure of any metric, in percent. @param {number | null} value @param {boolean} isPercent */
function figure(value, isPercent) {
  return value === null ? "–" : (isPercent ? value : value * PERCENT).toFixed(1);
}

/** @param {number} seconds */
function milliseconds(seconds) {
  return seconds < 1 ? `${Math.max(1, Math.round(seconds * 1000))} ms` : `${seconds.toFixed(1)} s`;
}

// ---- what the user does

/** Show what a step of the browser's history has shown. @param {import("./inspect-input.js").Entry | null} entry */
async function goTo(entry) {
  const source = entry?.source ?? fromAddress(new URLSearchParams(location.search)) ?? recall();
  restoreMethods();
  if (!source) return;
  usePage(source);
  await compare(false);
}

const isShown = () => !byId("result").hidden;
/** @type {import("./keymap.js").Key[]} */
const KEYS = [
  { keys: ["1", "2", "…"], about: "go to the first, the second … text" },
  ...Array.from({ length: 9 }, (_, i) => ({ keys: [String(i + 1)], about: "", run: () => goToColumn(i) })),
  { keys: ["d"], about: "differences only", run: () => (isShown() ? byId("only-differences").click() : false) },
  { keys: ["c"], about: "correct this page, starting from the current text, or else the first", run: correctChosen },
];

/** @param {number} number */
function goToColumn(number) {
  const column = isShown() ? byId("columns").children[number] : null;
  if (!column) return false;
  chooseColumn(number);
  column.scrollIntoView({ block: "nearest", inline: "nearest" });
  column.querySelector(".prose").focus({ preventScroll: true });
  return true;
}

function correctChosen() {
  const buttons = [byId("columns").querySelector(".column:focus-within button.correct"), byId("columns").querySelector("button.correct")];
  const button = isShown() ? buttons.find(Boolean) : null;
  button?.click();
  return Boolean(button);
}

async function start() {
  listenForPages((source) => {
    usePage(source);
    compare();
  }, (error) => showProblem(byId("problem"), error));
  byId("compare-form").addEventListener("submit", (/** @type {Event} */ event) => {
    event.preventDefault();
    compare();
  });
  byId("gold-file").addEventListener("change", async (/** @type {any} */ event) => {
    if (event.target.files.length) byId("gold").value = await event.target.files[0].text();
  });
  byId("gold-clear").addEventListener("click", () => { byId("gold").value = ""; });
  byId("only-differences").addEventListener("change", showColumns);
  byId("chooser").addEventListener("change", () => chooseColumn(Number(byId("chooser").value)));
  byId("gold").value = sessionStorage.getItem(GOLD) ?? "";
  byId("gold-panel").open = Boolean(byId("gold").value);
  byId("help-open").addEventListener("click", listenForKeys(KEYS));
  window.addEventListener("popstate", (event) => { void goTo(event.state); });
  try {
    await listContestants();
    await goTo(history.state);
  } catch (error) {
    showProblem(byId("problem"), error);
  }
  document.documentElement.dataset.ready = "true";
}

start();
