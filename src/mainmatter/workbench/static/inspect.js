// Inspect: a page, what a method keeps of it, and why. The page, the plot, the table and the text show the same blocks; a
// block chosen in one of them is highlighted in all.
// @ts-check

import { announce, api, busy, byId, copy, debounced, download } from "./shell.js";
import { element, makeTabs, showProblem } from "./shell.js";
import { correct } from "./correct.js";
import { DensityPlot } from "./density-plot.js";
import { Dial } from "./dial.js";
import { fetchExample, fromAddress, isExample, isFetched, listenForPages, recall, remember, toAddress, toEntry, toRequest } from "./inspect-input.js";
import { BlockTable } from "./inspect-table.js";
import { CleanText, findBlocks } from "./inspect-text.js";
import { aboutPage, countsOf, keptAt, showDetail } from "./inspect-words.js";
import { listenForKeys } from "./keymap.js";
import { PageFrame } from "./page-frame.js";

const SWITCHES = ["headline", "bylines", "captions", "headings", "tables", "code"];
const TABS = ["tab-text", "tab-plot", "tab-table"];
const NO_TEXT = "This page has no text. If scripts or frames build it, the text is elsewhere: "
  + "save the page from a browser and open that file, or open the address of the frame.";
const BLOCK = /^#block=(\d+)$/;
const LARGEST_REMEMBERED = 500_000; // characters of a text that need not be asked for again
const ENDINGS = { text: ".txt", markdown: ".md", cleaneval: ".cleaneval.txt" };

/** @typedef {{source: import("./inspect-input.js").Source, frame?: string, onProblem: (error: unknown) => void, isEntry: boolean}} Pending */
/** @typedef {{answer: any, kept: Uint8Array, format: string, dial: number, isShown: boolean}} Written */

const state = {
  usual: "main", // the method in use; the address leaves it out
  source: /** @type {import("./inspect-input.js").Source | null} */ (null),
  /** The page that is being loaded. @type {Pending | null} */
  pending: null,
  answer: /** @type {any} */ (null),
  kept: /** @type {Uint8Array} */ (new Uint8Array()),
  block: /** @type {number | null} */ (null),
  isPinned: false,
  isNamed: false, // the block was chosen, not just pointed at, so the address names it
  isSettled: false, // the view has caught up with the address, so that changes may be written to it
  written: /** @type {Written | null} */ (null), // what the text shows, or will
  texts: /** @type {Map<string, string>} */ (new Map()), // of this answer, by format and step of the dial
  asking: /** @type {AbortController | null} */ (null), // for a text
  asked: 0, // the number of the last request: answers to earlier ones are ignored
};

/** The pointer events of a view. @param {string} view */
const pointing = (view) => ({
  onHover: (/** @type {number | null} */ block) => hover(block, view),
  onPick: (/** @type {number} */ block) => pick(block, view),
});
const page = new PageFrame(byId("page"), pointing("page"));
const plot = new DensityPlot(byId("plot"), pointing("plot"));
const text = new CleanText(byId("clean-text"), pointing("text"));
const table = new BlockTable(byId("table"), { ...pointing("table"), onNeedReasons: debounced(askReasons, 200) });
const dial = new Dial(() => { turnDial(); saveSoon(); });
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

/** The parameters of the method, without the dial and with it: the answer's steps then include its value. */
function options() {
  const known = parametersOf.get(byId("method").value) ?? new Set(["dial", "comments", ...SWITCHES]);
  const chosen = /** @type {Record<string, any>} */ ({});
  if (known.has("comments") && checked("comments") !== "drop") chosen.comments = checked("comments");
  for (const name of SWITCHES) {
    const { checked: isChecked, defaultChecked } = switchOf(name);
    if (known.has(name) && isChecked !== defaultChecked) chosen[name] = isChecked;
  }
  return { others: chosen, withDial: known.has("dial") && !dial.isUsual ? { ...chosen, dial: dial.value } : chosen };
}

/** The page that is shown, the choices and the chosen block, as an address. */
function address() {
  const query = new URLSearchParams();
  const tab = TABS.find((id) => byId(id).getAttribute("aria-selected") === "true") ?? TABS[0];
  const changed = SWITCHES.filter((name) => switchOf(name).checked !== switchOf(name).defaultChecked);
  const listed = (/** @type {boolean} */ kept) => changed.filter((name) => switchOf(name).checked === kept).join(",");
  toAddress(query, state.source);
  for (const [name, value, usual] of [
    ["method", byId("method").value, state.usual], ["dial", String(dial.value), "0.5"],
    ["tab", tab.slice("tab-".length), "text"], ["format", checked("format"), "text"],
    ["comments", checked("comments"), "drop"], ["with", listed(true), ""], ["without", listed(false), ""],
  ]) if (value && value !== usual) query.set(name, value);
  const block = state.isNamed && state.block !== null ? `#block=${state.block}` : "";
  return `${location.pathname}${query.size ? `?${query}` : ""}${block}`;
}

function saveChoices() {
  if (state.isSettled) history.replaceState(history.state, "", address());
}
const saveSoon = debounced(saveChoices, 200); // browsers limit the number of changes per minute

/** Take over the choices of an address. @param {URLSearchParams} query */
function restoreChoices(query) {
  const choose = (/** @type {string} */ name, /** @type {string} */ value) => {
    const radios = /** @type {any[]} */ ([...document.querySelectorAll(`input[name="${name}"]`)]);
    (radios.find((radio) => radio.value === value) ?? radios[0]).checked = true;
  };
  choose("format", query.get("format") ?? "text");
  choose("comments", query.get("comments") ?? "drop");
  const [wanted, unwanted] = ["with", "without"].map((list) => (query.get(list) ?? "").split(","));
  for (const name of SWITCHES) {
    switchOf(name).checked = wanted.includes(name) || (switchOf(name).defaultChecked && !unwanted.includes(name));
  }
  dial.set(Number(query.get("dial") ?? NaN));
  const method = query.get("method") ?? state.usual;
  if ([...byId("method").options].some((option) => option.value === method)) byId("method").value = method;
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
  state.usual = usual;
  byId("method").value = usual;
}

// ---- questions to the server

/**
 * Ask about a page, or again about the one that is being loaded or shown.
 *
 * @param {import("./inspect-input.js").Source | null} [other]
 * @param {(error: unknown) => void} [onProblem]
 * @param {{frame?: string}} [how] the key under which the server may remember the page
 */
async function inspect(other = null, onProblem = tellProblem, { frame } = {}) {
  if (other) state.pending = { source: other, frame, onProblem, isEntry: state.isSettled };
  const wanted = state.pending;
  const source = wanted?.source ?? state.source;
  if (!source) return;
  const asked = ++state.asked;
  saveChoices();
  tellFetching(wanted && !wanted.frame ? source : null);
  try {
    await busy(byId("main"), (async () => {
      const answer = await ask(source, wanted ? wanted.frame : state.answer?.frame);
      if (asked !== state.asked) return;
      showProblem(byId("problem"), null);
      state.source = source;
      state.pending = null;
      if (wanted) keep(source, answer.frame, wanted.isEntry);
      await show(answer, wanted !== null);
    })());
  } catch (error) {
    if (asked !== state.asked) return;
    state.pending = null;
    (wanted?.onProblem ?? onProblem)(error);
  } finally {
    if (asked === state.asked) tellFetching(null);
  }
}

/** Show which page the server is fetching from the web. @param {import("./inspect-input.js").Source | null} source */
function tellFetching(source) {
  const isFetching = source !== null && isFetched(source);
  byId("fetching").hidden = !isFetching;
  byId("fetching-address").textContent = isFetching ? source.url : "";
}

/**
 * Remember a page that is about to be shown, for the back button, a reload, and the other views.
 *
 * @param {import("./inspect-input.js").Source} source
 * @param {string} frame
 * @param {boolean} isEntry
 */
function keep(source, frame, isEntry) {
  if (!source.frame) remember(source);
  if (isEntry) {
    state.isNamed = false;
    history.pushState(toEntry(source, frame), "", address());
  } else history.replaceState(toEntry(source, frame), "");
}

/** Stop waiting for the page that is being loaded. */
function takeBack() {
  if (!state.pending) return;
  state.pending = null;
  state.asked += 1;
  tellFetching(null);
}

/**
 * Ask about a page; if the server still has it, send only its key.
 *
 * @param {import("./inspect-input.js").Source} source
 * @param {string | undefined} frame
 */
async function ask(source, frame) {
  const { others, withDial } = options();
  const fields = { method: byId("method").value, options: withDial };
  if (frame) {
    try {
      return { ...(await api("/api/inspect", { json: { frame, ...fields } })), options: others };
    } catch (error) {
      if (/** @type {any} */ (error).status !== 410) throw error;
    }
  }
  return { ...(await api("/api/inspect", toRequest(source, fields))), options: others };
}

async function askReasons(/** @type {number[]} */ blocks) {
  const { answer } = state;
  const { frame } = answer;
  try {
    const fields = { frame, method: state.answer.method, options: state.answer.options, blocks };
    const told = await api("/api/inspect/reasons", { json: fields });
    if (answer !== state.answer) return;
    table.addReasons(told);
    showDetail(byId("detail"), state, table);
  } catch { /* the table shows dots in their place */ }
}

/**
 * Ask for the text to show, one request at a time: while the dial turns, steps in between are skipped, and the last one
 * wins.
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
  const { answer, kept, format } = wanted;
  const chosen = answer.dial ? { dial: wanted.dial } : {};
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
    if (/** @type {any} */ (error).status === 410) inspect(); // send the page again
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
  const isFirst = state.source !== null && isExample(state.source);
  byId("main").classList.toggle("is-first", isFirst);
  byId("first").hidden = !isFirst;
  byId("input-panel").open = isFirst;
  byId("input-summary").textContent = isFirst ? "Open a page" : "Open another page";
  byId("page-title").textContent = answer.metadata.title || state.source?.name || "Untitled page";
  document.title = `${isFirst ? "" : `${byId("page-title").textContent} · `}Inspect · mainmatter`;
  aboutPage(byId("metadata"), answer);
  allowControls(answer);
  state.kept = keptAt(answer, dial.value);
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

/** Without its style sheets a page may begin with screens of links: scroll to the main matter. */
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
  dial.show(answer);
  byId("comments").disabled = !known.has("comments");
  byId("switches").disabled = !SWITCHES.some((name) => known.has(name));
}

/** Tint and count what is kept, without asking the server, so that the dial responds at once; the text follows. */
function showKept() {
  const { answer, kept } = state;
  const comments = new Set(answer.blocks.labels.comment);
  page.setStates((block) => (kept[block] ? (comments.has(block) ? "comment" : "kept") : "dropped"));
  byId("counts").textContent = countsOf(answer, kept, dial.value);
  plot.setKept(kept);
  table.setKept(kept);
  byId("table-count").textContent = `${table.order.length.toLocaleString("en")} blocks`;
  showText();
  showDetail(byId("detail"), state, table);
}

/** Update the text, if it is visible and out of date. */
function showText() {
  if (!state.answer || byId("view-text").hidden) return;
  const format = checked("format");
  if (state.written?.kept === state.kept && state.written.format === format) return;
  const isNothing = !state.kept.includes(1);
  const { answer, kept } = state;
  state.written = { answer, kept, format, dial: dial.value, isShown: isNothing };
  if (!answer.blocks.texts.length) text.showNothing(NO_TEXT);
  else if (isNothing) text.showNothing("Nothing is kept. Turn the dial up, or choose another method.");
  else askText();
}

// ---- the block that stands out

/** @param {number | null} block @param {string} view */
function hover(block, view) {
  if (state.isPinned || block === null || block === state.block) return;
  state.block = block;
  state.isNamed = false;
  showBlock(view);
}

/** @param {number} block @param {string} view */
function pick(block, view) {
  state.isPinned = !(state.isPinned && state.block === block);
  state.isNamed = state.isPinned;
  state.block = block;
  showBlock(view);
  announce(`Block ${block} ${state.isPinned ? "pinned" : "unpinned"}`);
}

function release() {
  state.block = null;
  state.isPinned = false;
  state.isNamed = false;
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
  saveSoon();
}

/** @param {number} step 1 or -1 */
function move(step) {
  const order = byId("view-table").hidden ? null : table.order;
  const count = order ? order.length : state.kept.length;
  if (!count) return;
  const here = state.block === null ? -1 : order ? order.indexOf(state.block) : state.block;
  const next = here < 0 ? (step > 0 ? 0 : count - 1) : Math.min(count - 1, Math.max(0, here + step));
  state.block = order ? order[next] : next;
  state.isNamed = true;
  showBlock("keys");
  const verdict = state.kept[state.block] ? "kept" : "dropped";
  announce(`Block ${state.block}, ${verdict}: ${state.answer.blocks.texts[state.block].slice(0, 120)}`);
}

// ---- what the user does

function turnDial() {
  if (!state.answer) return;
  state.kept = keptAt(state.answer, dial.value);
  showKept();
}

async function correctPage() {
  const { source, answer } = state;
  if (!source || !answer) return;
  const { method, frame } = answer;
  try {
    await correct(source, { method, options: answer.dial ? { ...answer.options, dial: dial.value } : answer.options, frame });
  } catch (error) {
    tellProblem(error);
  }
}

/** Pin the block that the address names. */
function pickNamed() {
  const block = Number(BLOCK.exec(location.hash)?.[1] ?? -1);
  if (block < 0 || block >= state.kept.length) release();
  else Object.assign(state, { block, isPinned: true, isNamed: true });
  showBlock("keys");
}

/**
 * Show what a step of the browser's history showed.
 *
 * @param {import("./inspect-input.js").Entry | null} entry null if the user changed the address
 */
async function goTo(entry) {
  const named = fromAddress(new URLSearchParams(location.search));
  const isShown = entry ? entry.frame === state.answer?.frame : !named;
  takeBack();
  state.isSettled = false;
  restoreChoices(new URLSearchParams(location.search));
  if (isShown && state.source) history.replaceState(toEntry(state.source, state.answer.frame), "");
  await inspect(isShown ? null : entry?.source ?? named, tellProblem, { frame: entry?.frame });
  pickNamed();
  state.isSettled = true;
}

const letGo = () => { release(); showBlock("keys"); };
const isIn = (/** @type {KeyboardEvent} */ event, /** @type {string} */ places) => event.target instanceof Element && event.target.closest(places) !== null;
const walk = (/** @type {number} */ step) => (/** @type {KeyboardEvent} */ event) => {
  if (!state.answer || (event.key.startsWith("Arrow") && !isIn(event, "#page, #plot, #table, #clean-text"))) return false;
  return move(step);
};
const turn = (/** @type {number} */ by) => () => (byId("dial").disabled || !state.answer ? false : dial.turn(by));
/** @type {import("./keymap.js").Key[]} */
const KEYS = [
  { keys: ["j", "ArrowDown"], about: "next block (arrow keys work inside the page, text, plot and table)", run: walk(1) },
  { keys: ["k", "ArrowUp"], about: "previous block", run: walk(-1) },
  { keys: ["Enter"], about: "pin the block, so that the pointer does not choose another; again to unpin it",
    run: (event) => (state.block === null || isIn(event, "button, a, summary, label, input") ? false : pick(state.block, "keys")) },
  { keys: ["Escape"], about: "clear the chosen block", run: () => (state.answer ? letGo() : false) },
  ...TABS.map((id, i) => ({ keys: [String(i + 1)], about: ["clean text", "density", "blocks"][i], run: () => (state.answer ? chooseTab(id) : false) })),
  { keys: ["["], about: "turn the dial down", run: turn(-1) },
  { keys: ["]"], about: "turn the dial up", run: turn(1) },
  { keys: ["c"], about: "correct this page", run: () => (state.answer ? void correctPage() : false) },
];

function listen() {
  listenForPages((source) => inspect(source), tellProblem);
  byId("method").addEventListener("change", () => inspect());
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
  byId("correct").addEventListener("click", correctPage);
  byId("help-open").addEventListener("click", listenForKeys(KEYS));
  window.addEventListener("popstate", (event) => { void goTo(event.state); });
}

async function start() {
  listen();
  try {
    await listMethods();
  } catch (error) {
    showProblem(byId("problem"), error);
  }
  restoreChoices(new URLSearchParams(location.search));
  await open();
  if (state.answer && BLOCK.test(location.hash)) pickNamed();
  state.isSettled = true;
  if (state.answer) saveChoices();
  document.documentElement.dataset.ready = "true";
}

/** Open the page from before a reload, the one in the address, the last one in another view, or the example. */
async function open() {
  const entry = /** @type {import("./inspect-input.js").Entry | null} */ (history.state);
  const source = entry?.source ?? fromAddress(new URLSearchParams(location.search)) ?? recall();
  await inspect(source ?? await fetchExample().catch(() => null), tellProblem, { frame: entry?.frame });
}

start();
