// Inspect: a page, what a method keeps of it, and why. The page, the plot, the table and the text are views of the same
// blocks; whatever is chosen in one of them stands out in the others.
// @ts-check

import { announce, api, busy, byId, copy, debounced, download } from "./shell.js";
import { element, isForControl, makeTabs, showProblem } from "./shell.js";
import { DensityPlot } from "./density-plot.js";
import { listenForPages, recall, remember, toRequest } from "./inspect-input.js";
import { BlockTable } from "./inspect-table.js";
import { CleanText, findBlocks } from "./inspect-text.js";
import { aboutPage, countsOf, keptAt, showDetail } from "./inspect-words.js";
import { PageFrame } from "./page-frame.js";

const SWITCHES = ["headline", "bylines", "captions", "headings", "tables", "code"];
const TABS = ["tab-text", "tab-plot", "tab-table"];
const NO_TEXT = "There is no text in this page. Pages that scripts or frames put together have theirs elsewhere: "
  + "save the page from a browser and open that file, or open the address of the frame.";
const LARGEST_REMEMBERED = 500_000; // characters of a text that need not be asked for again
const ENDINGS = { text: ".txt", markdown: ".md", cleaneval: ".cleaneval.txt" };

/** @typedef {{answer: any, kept: Uint8Array, format: string, dial: number, isShown: boolean}} Written */

const state = {
  source: /** @type {import("./inspect-input.js").Source | null} */ (null),
  /** The page that is on its way. @type {{source: import("./inspect-input.js").Source, onProblem: (error: unknown) => void} | null} */
  pending: null,
  answer: /** @type {any} */ (null),
  kept: /** @type {Uint8Array} */ (new Uint8Array()),
  block: /** @type {number | null} */ (null),
  isPinned: false,
  written: /** @type {Written | null} */ (null), // what the text shows, or will
  texts: /** @type {Map<string, string>} */ (new Map()), // of this answer, by format and step of the dial
  asking: /** @type {AbortController | null} */ (null), // for a text
  asked: 0, // the number of the last question: answers to earlier ones come too late
};

/** What a view tells of the pointer. @param {string} view */
const pointing = (view) => ({
  onHover: (/** @type {number | null} */ block) => hover(block, view),
  onPick: (/** @type {number} */ block) => pick(block, view),
});
const page = new PageFrame(byId("page"), pointing("page"));
const plot = new DensityPlot(byId("plot"), pointing("plot"));
const text = new CleanText(byId("clean-text"), pointing("text"));
const table = new BlockTable(byId("table"), { ...pointing("table"), onNeedReasons: debounced(askReasons, 200) });
const chooseTab = makeTabs(byId("views"), () => { saveChoices(); showText(); showBlock("none"); });

const tellProblem = (/** @type {unknown} */ error) => showProblem(byId("problem"), error);

// ---- choices, which the address keeps

function checked(/** @type {string} */ name) {
  return /** @type {HTMLInputElement} */ (document.querySelector(`input[name="${name}"]:checked`)).value;
}

/** @param {string} name @returns {HTMLInputElement} */
function switchOf(name) {
  return /** @type {HTMLInputElement} */ (document.querySelector(`input[name="${name}"]`));
}

/** The parameters of the method, other than the dial. */
function options() {
  const known = parametersOf.get(byId("method").value) ?? new Set(["comments", ...SWITCHES]);
  const chosen = /** @type {Record<string, any>} */ ({});
  if (known.has("comments") && checked("comments") !== "drop") chosen.comments = checked("comments");
  for (const name of SWITCHES) {
    const { checked: isChecked, defaultChecked } = switchOf(name);
    if (known.has(name) && isChecked !== defaultChecked) chosen[name] = isChecked;
  }
  return chosen;
}

function saveChoices() {
  const query = new URLSearchParams();
  const tab = TABS.find((id) => byId(id).getAttribute("aria-selected") === "true") ?? TABS[0];
  const changed = SWITCHES.filter((name) => switchOf(name).checked !== switchOf(name).defaultChecked);
  const listed = (/** @type {boolean} */ kept) => changed.filter((name) => switchOf(name).checked === kept).join(",");
  for (const [name, value, usual] of [
    ["method", byId("method").value, "main"], ["dial", String(Number(byId("dial").value)), "0.5"],
    ["tab", tab.slice("tab-".length), "text"], ["format", checked("format"), "text"],
    ["comments", checked("comments"), "drop"], ["with", listed(true), ""], ["without", listed(false), ""],
  ]) if (value && value !== usual) query.set(name, value);
  history.replaceState(null, "", query.size ? `?${query}` : location.pathname);
}

function restoreChoices() {
  const query = new URLSearchParams(location.search);
  const choose = (/** @type {string} */ name, /** @type {string | null} */ value) => {
    for (const radio of /** @type {NodeListOf<any>} */ (document.querySelectorAll(`input[name="${name}"]`))) {
      if (radio.value === value) radio.checked = true;
    }
  };
  choose("format", query.get("format"));
  choose("comments", query.get("comments"));
  for (const [list, isKept] of /** @type {[string, boolean][]} */ ([["with", true], ["without", false]])) {
    for (const name of (query.get(list) ?? "").split(",")) if (SWITCHES.includes(name)) switchOf(name).checked = isKept;
  }
  const dial = Number(query.get("dial") ?? 0.5);
  byId("dial").value = Number.isFinite(dial) ? dial : 0.5;
  byId("dial-value").textContent = Number(byId("dial").value).toFixed(2);
  const method = query.get("method");
  if (method && [...byId("method").options].some((option) => option.value === method)) byId("method").value = method;
  chooseTab(TABS.includes(`tab-${query.get("tab")}`) ? `tab-${query.get("tab")}` : TABS[0]);
}

const parametersOf = /** @type {Map<string, Set<string>>} */ (new Map());

async function listMethods() {
  const { methods, models, default: usual } = await api("/api/methods");
  for (const { name, parameters } of methods) {
    parametersOf.set(name, new Set(parameters.map((/** @type {any} */ one) => one.name)));
  }
  for (const { name, method } of models) parametersOf.set(name, parametersOf.get(method) ?? new Set());
  byId("method").replaceChildren(
    ...methods.filter((/** @type {any} */ one) => !one.needs_model).map((/** @type {any} */ one) => element("option", { value: one.name, title: one.summary }, one.name)),
    ...models.map((/** @type {any} */ one) => element("option", { value: one.name }, one.name)),
  );
  byId("method").value = usual;
}

// ---- questions to the server

/**
 * Ask about a page, or again about the one that is on its way or shown.
 *
 * @param {import("./inspect-input.js").Source | null} [other]
 */
async function inspect(other = null, onProblem = tellProblem) {
  if (other) state.pending = { source: other, onProblem };
  const wanted = state.pending;
  const source = wanted?.source ?? state.source;
  if (!source) return;
  const asked = ++state.asked;
  saveChoices();
  try {
    const answer = await busy(byId("main"), ask(source, wanted !== null));
    if (asked !== state.asked) return;
    showProblem(byId("problem"), null);
    state.source = source;
    state.pending = null;
    if (wanted) remember(source);
    await show(answer, wanted !== null);
  } catch (error) {
    if (asked !== state.asked) return;
    state.pending = null;
    (wanted?.onProblem ?? onProblem)(error);
  }
}

/**
 * Of a page that the server remembers, only the key travels.
 *
 * @param {import("./inspect-input.js").Source} source
 * @param {boolean} isNew
 */
async function ask(source, isNew) {
  const fields = { method: byId("method").value, options: options() };
  if (!isNew && state.answer) {
    try {
      const answer = await api("/api/inspect", { json: { frame: state.answer.frame, ...fields } });
      return { ...answer, options: fields.options };
    } catch (error) {
      if (/** @type {any} */ (error).status !== 410) throw error;
    }
  }
  return { ...(await api("/api/inspect", toRequest(source, fields))), options: fields.options };
}

async function askReasons(/** @type {number[]} */ blocks) {
  const { frame } = state.answer;
  try {
    const fields = { frame, method: byId("method").value, options: options(), blocks };
    const answer = await api("/api/inspect/reasons", { json: fields });
    if (frame === state.answer.frame) table.addReasons(answer.reasons);
  } catch { /* the table shows dots in their place */ }
}

/**
 * Ask for the text that is wanted. One question at a time: while the dial turns, the steps in between are left out, and
 * the last one wins.
 */
async function askText() {
  if (state.asking) return;
  state.asking = new AbortController();
  byId("clean-text").setAttribute("aria-busy", "true");
  try {
    while (state.written && !state.written.isShown) {
      if (state.asking.signal.aborted) state.asking = new AbortController();
      await writeText(state.written);
    }
  } finally {
    state.asking = null;
    byId("clean-text").removeAttribute("aria-busy");
  }
}

/** @param {Written} wanted */
async function writeText(wanted) {
  const { answer, kept, format, dial } = wanted;
  const chosen = answer.dial ? { dial } : {};
  const key = JSON.stringify([format, chosen]);
  try {
    let words = state.texts.get(key);
    if (words === undefined) {
      const fields = { method: answer.method, options: { ...answer.options, ...chosen }, format };
      const { signal } = state.asking ?? {};
      const said = await api("/api/inspect/text", { json: { frame: answer.frame, ...fields }, signal });
      words = /** @type {string} */ (said.text);
      if (answer === state.answer && words.length < LARGEST_REMEMBERED) state.texts.set(key, words);
    }
    if (wanted === state.written) text.showPieces(findBlocks(words, answer, kept, format), format !== "text");
    wanted.isShown = true;
  } catch (error) {
    if (wanted !== state.written) return;
    state.written = null;
    if (/** @type {any} */ (error).status === 410) inspect(); // the page is sent once more
    else showProblem(byId("problem"), error);
  }
}

// ---- showing what came back

/** @param {any} answer @param {boolean} isNew */
async function show(answer, isNew) {
  const before = state.answer?.frame;
  state.answer = answer;
  state.texts.clear();
  state.written = null;
  state.asking?.abort();
  if (isNew) release();
  if (isNew) text.showNothing("");
  byId("result").hidden = false;
  byId("main").classList.add("has-result");
  byId("input-panel").open = false;
  byId("input-summary").textContent = "Open another page";
  byId("page-title").textContent = answer.metadata.title || state.source?.name || "A page without a title";
  document.title = `${byId("page-title").textContent} · Inspect · mainmatter`;
  aboutPage(byId("metadata"), answer);
  allowControls(answer);
  state.kept = keptAt(answer, Number(byId("dial").value));
  const lengths = answer.blocks.texts.map((/** @type {string} */ words) => words.length);
  plot.draw({ ...answer.blocks, lengths, region: answer.density }, state.kept);
  byId("plot-note").textContent = plotNote(answer);
  table.show(answer, state.kept);
  showKept();
  if (isNew || before !== answer.frame) {
    await page.load(frameAddress(), { isSlow: byId("remote").checked });
    goToMainMatter();
  }
  showBlock("none");
  announce(`${byId("page-title").textContent}. ${byId("counts").textContent}`);
}

/** Without its style sheets a page may begin with screens of links: begin where the main matter does. */
function goToMainMatter() {
  for (let block = 0; block < state.kept.length; block++) if (state.kept[block] && page.scrollTo(block)) return;
}

/** @param {any} answer */
function plotNote(answer) {
  if (!answer.density) return "The page has no text.";
  const { first, last } = answer.density;
  const region = `the region that density chooses, blocks ${first} to ${last}; texts above the dotted line count as long`;
  return `Bars: length of each text; dots: scores of ${answer.method}. Shaded: ${region}.`;
}

function frameAddress() {
  return `/frame/${state.answer.frame}${byId("remote").checked ? "?remote=true" : ""}`;
}

/** @param {any} answer */
function allowControls(answer) {
  const known = new Set(answer.controls);
  byId("dial").disabled = !answer.dial;
  byId("dial-note").textContent = answer.dial ? "" : `(${answer.method} has none)`;
  byId("comments").disabled = !known.has("comments");
  byId("switches").disabled = !SWITCHES.some((name) => known.has(name));
}

/** Tint and count what is kept: no question to the server, so that the dial is felt at once; the text comes after. */
function showKept() {
  const { answer, kept } = state;
  const comments = new Set(answer.blocks.labels.comment);
  page.setStates((block) => (kept[block] ? (comments.has(block) ? "comment" : "kept") : "dropped"));
  byId("counts").textContent = countsOf(answer, kept, Number(byId("dial").value));
  plot.setKept(kept);
  table.setKept(kept);
  byId("table-count").textContent = `${table.order.length.toLocaleString("en")} blocks`;
  showText();
  showDetail(byId("detail"), state, table);
}

/** Write the text anew, if it can be seen and is not what it should be. */
function showText() {
  if (!state.answer || byId("view-text").hidden) return;
  const format = checked("format");
  if (state.written?.kept === state.kept && state.written.format === format) return;
  const isNothing = !state.kept.includes(1);
  const { answer, kept } = state;
  state.written = { answer, kept, format, dial: Number(byId("dial").value), isShown: isNothing };
  if (!answer.blocks.texts.length) text.showNothing(NO_TEXT);
  else if (isNothing) text.showNothing("Nothing is kept. Turn the dial up, or take another method.");
  else askText();
}

// ---- the block that stands out

/** @param {number | null} block @param {string} view */
function hover(block, view) {
  if (state.isPinned || block === null || block === state.block) return;
  state.block = block;
  showBlock(view);
}

/** @param {number} block @param {string} view */
function pick(block, view) {
  state.isPinned = !(state.isPinned && state.block === block);
  state.block = block;
  showBlock(view);
  announce(`Block ${block} ${state.isPinned ? "pinned" : "let go"}`);
}

function release() {
  state.block = null;
  state.isPinned = false;
}

/** Show the chosen block everywhere; the view where it was chosen does not move. @param {string} origin */
function showBlock(origin) {
  if (!state.answer) return;
  const { block, isPinned } = state;
  page.highlight(block, { pinned: isPinned });
  if (block !== null && origin !== "page") page.scrollTo(block);
  plot.highlight(block);
  table.highlight(block, origin !== "table");
  text.highlight(block, origin !== "text");
  showDetail(byId("detail"), state, table);
}

/** @param {number} step 1 or -1 */
function move(step) {
  const order = byId("view-table").hidden ? null : table.order;
  const count = order ? order.length : state.kept.length;
  if (!count) return;
  const here = state.block === null ? -1 : order ? order.indexOf(state.block) : state.block;
  const next = here < 0 ? (step > 0 ? 0 : count - 1) : Math.min(count - 1, Math.max(0, here + step));
  state.block = order ? order[next] : next;
  showBlock("keys");
  const verdict = state.kept[state.block] ? "kept" : "dropped";
  announce(`Block ${state.block}, ${verdict}: ${state.answer.blocks.texts[state.block].slice(0, 120)}`);
}

// ---- what the user does

function turnDial() {
  byId("dial-value").textContent = Number(byId("dial").value).toFixed(2);
  if (!state.answer) return;
  state.kept = keptAt(state.answer, Number(byId("dial").value));
  showKept();
}

/** @param {KeyboardEvent} event */
function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || isForControl(event) || !state.answer) return;
  const inView = event.target instanceof Element && event.target.closest("#page, #plot, #table, #clean-text") !== null;
  const onButton = event.target instanceof Element && event.target.closest("button, a, summary, label, input") !== null;
  const turn = (/** @type {number} */ by) => {
    byId("dial").value = Number(byId("dial").value) + by;
    turnDial();
    saveChoices();
  };
  const actions = /** @type {Record<string, (() => void) | false>} */ ({
    j: () => move(1), k: () => move(-1), ArrowDown: inView && (() => move(1)), ArrowUp: inView && (() => move(-1)),
    Enter: !onButton && state.block !== null && (() => pick(/** @type {number} */ (state.block), "keys")),
    Escape: () => { release(); showBlock("keys"); },
    1: () => chooseTab(TABS[0]), 2: () => chooseTab(TABS[1]), 3: () => chooseTab(TABS[2]),
    "[": !byId("dial").disabled && (() => turn(-0.05)), "]": !byId("dial").disabled && (() => turn(0.05)),
    "?": () => byId("help").showModal(),
  });
  const action = actions[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}

function listen() {
  listenForPages((source) => inspect(source), tellProblem);
  byId("method").addEventListener("change", () => inspect());
  byId("dial").addEventListener("input", turnDial);
  byId("dial").addEventListener("change", saveChoices);
  for (const name of ["comments", ...SWITCHES]) {
    for (const input of document.querySelectorAll(`input[name="${name}"]`)) {
      input.addEventListener("change", () => inspect());
    }
  }
  byId("formats").addEventListener("change", () => { saveChoices(); showText(); });
  byId("filters").addEventListener("change", () => {
    table.setFilter(checked("filter"));
    byId("table-count").textContent = `${table.order.length.toLocaleString("en")} blocks`;
  });
  byId("remote").addEventListener("change", async () => {
    await page.load(frameAddress(), { isSlow: byId("remote").checked });
    showBlock("none");
  });
  byId("copy").addEventListener("click", () => copy(text.text));
  byId("download").addEventListener("click", () => {
    const words = byId("page-title").textContent.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? ["page"];
    download(text.text, words.join("-").slice(0, 60) + ENDINGS[/** @type {keyof typeof ENDINGS} */ (checked("format"))]);
  });
  byId("help-open").addEventListener("click", () => byId("help").showModal());
  document.addEventListener("keydown", onKey);
}

async function start() {
  listen();
  try {
    await listMethods();
  } catch (error) {
    showProblem(byId("problem"), error);
  }
  restoreChoices();
  await inspect(recall());
  document.documentElement.dataset.ready = "true";
}

start();
