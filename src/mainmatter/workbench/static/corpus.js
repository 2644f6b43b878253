// Corpus: the pages of a corpus, sorted, filtered and searched, and one page beside what the corpus stores of it. The
// address holds what is shown, so that you can share it and go back.
// @ts-check

import { announce, api, busy, byId, count, element, showProblem } from "./shell.js";
import { CorpusList, EVERYTHING, FILTERS } from "./corpus-list.js";
import { CorpusPage } from "./corpus-page.js";
import { listenForKeys } from "./keymap.js";

/**
 * @typedef {import("./corpus-list.js").Choice} Choice
 * @typedef {import("./corpus-list.js").Start} Start
 */

const START = "0-0";
const LEAST_SURE = 20;
const PAUSE = 300; // milliseconds between two polls of an import

const page = new CorpusPage();
const list = new CorpusList({ onOpen: (row) => open(row.key ?? ""), onChange: (how) => { note(how); byId("corpus-sent").replaceChildren(); } });
/** @type {string[]} */
let names = [];
/** The page that is shown. @type {string | null} */
let shown = null;
let steps = 0; // the number of the user's last action: answers to earlier ones are ignored

// ---- the address

/** @returns {{choice: Choice, at: string, key: string | null}} */
function readAddress() {
  const query = new URLSearchParams(location.search);
  const choice = { ...EVERYTHING };
  for (const field of /** @type {(keyof Choice)[]} */ (Object.keys(choice))) choice[field] = query.get(field) || choice[field];
  if (!names.includes(choice.name)) choice.name = names[0];
  return { choice, at: query.get("start") ?? START, key: query.get("page") };
}

function addressOf() {
  const query = new URLSearchParams();
  for (const field of /** @type {(keyof Choice)[]} */ (Object.keys(EVERYTHING))) {
    if (list.choice[field] && list.choice[field] !== EVERYTHING[field]) query.set(field, list.choice[field]);
  }
  const { at } = list.starts[list.starts.length - 1];
  if (at !== START) query.set("start", at);
  if (shown) query.set("page", shown);
  return query.size ? `?${query}` : location.pathname;
}

/** Put what is shown into the address. @param {"push" | "replace"} how */
function note(how) {
  const address = addressOf();
  const isSame = new URL(address, location.href).href === location.href;
  const memory = { starts: list.starts };
  if (how === "replace" || isSame) history.replaceState(memory, "", address);
  else history.pushState(memory, "", address);
}

/** Show what the address says. */
async function follow() {
  const step = ++steps;
  const { choice, at, key } = readAddress();
  const starts = /** @type {Start[] | undefined} */ (history.state?.starts) ?? [{ at, before: at === START ? 0 : null }];
  const isListed = list.isListed && at === list.starts[list.starts.length - 1].at
    && Object.entries(choice).every(([field, value]) => value === list.choice[/** @type {keyof Choice} */ (field)]);
  if (!key) showList(false);
  if (!isListed) await list.show(choice, starts);
  if (step === steps && key) await open(key, null);
}

// ---- one page

/**
 * @param {string} key
 * @param {"push" | null} how whether to add a step to the browser's history; null if it was added already
 */
async function open(key, how = "push") {
  const step = ++steps;
  shown = key;
  if (how) note(how);
  const isThere = await page.show(list.choice.name, key, list.about);
  if (step !== steps) return;
  list.mark(key);
  byId("list-view").hidden = isThere;
  byId("page-view").hidden = !isThere;
  document.body.classList.toggle("shows-page", isThere);
  if (isThere) byId("corpus-page-title").focus();
}

/** @param {boolean} [isStep] whether to add a step to the browser's history */
function showList(isStep = true) {
  steps += 1;
  shown = null;
  page.leave();
  if (isStep) note("push");
  byId("page-view").hidden = true;
  byId("list-view").hidden = !names.length;
  document.body.classList.remove("shows-page");
  document.title = "Corpus · mainmatter";
  showProblem(byId("problem"), null);
  list.focus();
}

/** Go to the next page of the list, or the one before. @param {number} by 1 or -1 */
async function go(by) {
  const step = steps;
  const keys = () => list.rows.flatMap((row) => row.key ?? []);
  const at = keys().indexOf(shown ?? "");
  let next = at < 0 ? keys()[0] : keys()[at + by];
  if (!next) {
    const isTurned = await list.turn(by, null);
    if (isTurned === null || step !== steps) return; // the user went elsewhere in the meantime
    if (isTurned) next = keys()[by > 0 ? 0 : keys().length - 1];
  }
  if (next) await open(next);
  else announce(by > 0 ? "This is the last page of the list." : "This is the first page of the list.");
}

// ---- the least sure, to Annotate

async function send() {
  const { name, find } = list.choice;
  const fields = /** @type {Record<string, any>} */ ({ name, find, most: LEAST_SURE });
  for (const field of FILTERS) {
    const value = list.choice[field];
    if (value) fields[field] = field === "language" || field === "page_type" ? value : Number(value);
  }
  byId("corpus-send").disabled = true;
  byId("corpus-sent").replaceChildren(element("p", { class: "note" }, "Looking for the pages …"));
  try {
    showSent(await busy(byId("list-view"), untilDone(await api("/api/annotate/imports/corpus", { json: fields }))));
  } catch (error) {
    showProblem(byId("corpus-sent"), error);
  } finally {
    byId("corpus-send").disabled = false;
  }
}

/** @param {any} job an import @returns {Promise<any>} the same, when it has ended */
async function untilDone(job) {
  let now = job;
  while (now.state === "running") {
    await new Promise((resolve) => { setTimeout(resolve, PAUSE); });
    now = await api(`/api/annotate/imports/${encodeURIComponent(job.id)}`);
  }
  return now;
}

/** @param {any} job */
function showSent(job) {
  if (job.state === "failed") {
    showProblem(byId("corpus-sent"), new Error(job.message));
    return;
  }
  const parts = [`${count(job.added, "page")} added`];
  if (job.known) parts.push(`${job.known.toLocaleString("en")} already there`);
  if (job.rejected) parts.push(`${job.rejected.toLocaleString("en")} could not be added: ${job.rejects[0].name}: ${job.rejects[0].why}`);
  byId("corpus-sent").replaceChildren(element("p", { class: "note" }, `${parts.join(", ")}. `,
    element("a", { href: "/annotate" }, "Go to Annotate")));
}

// ---- what the user does

/** @param {() => void} action what a key does while a page is shown */
const onPage = (action) => () => (shown ? action() : false);
/** @type {import("./keymap.js").Key[]} */
const KEYS = [
  { keys: ["n"], about: "next page of the list", run: onPage(() => void go(1)) },
  { keys: ["p"], about: "previous page of the list", run: onPage(() => void go(-1)) },
  { keys: ["Escape"], about: "back to the list", run: onPage(() => showList()) },
  { keys: ["ArrowDown", "ArrowUp"], about: "in the list: next and previous page" },
  { keys: ["PageDown", "PageUp"], about: "in the list: the next and the previous 50 pages" },
  { keys: ["Enter"], about: "in the list: open the page" },
];

async function start() {
  byId("corpus-previous").addEventListener("click", () => go(-1));
  byId("corpus-next").addEventListener("click", () => go(1));
  byId("corpus-close").addEventListener("click", () => showList());
  byId("corpus-send").addEventListener("click", send);
  byId("help-open").addEventListener("click", listenForKeys(KEYS));
  window.addEventListener("popstate", follow);
  try {
    names = (await api("/api/corpora")).corpora.map((/** @type {any} */ one) => one.name);
  } catch (error) {
    showProblem(byId("problem"), error);
  }
  byId("corpus-none").hidden = names.length > 0;
  byId("corpus-name-field").hidden = names.length < 2;
  byId("corpus-name").replaceChildren(...names.map((name) => element("option", { value: name }, name)));
  if (names.length) await follow();
  document.documentElement.dataset.ready = "true";
}

void start();
