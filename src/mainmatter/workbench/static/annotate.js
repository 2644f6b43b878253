// @ts-check
/** Annotate: who is signed in, and which view is shown: all pages, one to label, or one to merge. */
import { api, byId, element, showProblem } from "./shell.js";
import { button } from "./annotate-bar.js";
import { LabelView } from "./annotate-label.js";
import { chooseMode, chosenMode, MODE_WORDS } from "./annotate-mode.js";
import { BackgroundTeaching } from "./annotate-teaching.js";
import { MergeView } from "./merge.js";
import { PagesView } from "./pages-list.js";

const NAME = "mainmatter-annotator";
const RESERVED = new Set(["merged", "best", "gold"]);

const LEADS = {
  teach: "Correct the suggestions page by page. A model learns from your labels as you go, and its suggestions get better.",
  gold: "Label each block of a page: is it main matter? Two people label every page, and a third merges their labels. The result measures methods and teaches models.",
};

/** @typedef {{element: HTMLElement, open: () => Promise<void>, mayLeave: () => boolean, close: () => void}} View */

/** @type {View | null} */
let view = null;
let shownHash = location.hash;
const teaching = new BackgroundTeaching();

/** The name under which labels are stored; "" before anybody signed in. */
function annotator() {
  return localStorage.getItem(NAME) ?? "";
}

/** @param {string} name */
function signIn(name) {
  chooseMode(/** @type {HTMLInputElement} */ (document.querySelector('#modes input:checked')).value);
  localStorage.setItem(NAME, name);
  void show();
}

function signOut() {
  if (view && !view.mayLeave()) return;
  localStorage.removeItem(NAME);
  history.replaceState(null, "", "#/");
  void show();
}

function listenToSignIn() {
  byId("sign-in-form").addEventListener("submit", (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const name = byId("name").value.trim().replace(/\s+/g, " ");
    if (!name) return;
    if (RESERVED.has(name.toLowerCase())) return showProblem(byId("sign-in-problem"), new Error(`"${name}" is a reserved name; choose another.`));
    return signIn(name);
  });
}

async function askForName() {
  byId("name").value = "";
  /** @type {HTMLInputElement} */ (document.querySelector(`#modes input[value="${chosenMode()}"]`)).checked = true;
  showProblem(byId("sign-in-problem"), null);
  byId("name").focus();
  const place = byId("names");
  place.replaceChildren();
  const { annotators } = await api("/api/annotate/annotators").catch(() => ({ annotators: [] }));
  if (annotators.length) place.append(element("span", { class: "soft small" }, "Or continue as"), ...annotators.map((/** @type {string} */ name) => button(name, () => signIn(name))));
}

function showWho() {
  const name = annotator();
  byId("signed-in").hidden = !name;
  const modes = element("select", { id: "mode", "aria-label": "What you are labelling for" }, ...Object.entries(MODE_WORDS).map(([value, words]) => element("option", { value }, words)));
  modes.value = chosenMode();
  modes.addEventListener("change", () => {
    chooseMode(modes.value);
    void show();
  });
  byId("signed-in").replaceChildren("You are ", element("strong", { id: "annotator" }, name), " ", button("Change", signOut, { class: "quiet small" }), " ", modes);
  byId("sign-in").hidden = Boolean(name);
  byId("lead").textContent = LEADS[chosenMode()];
}

/**
 * @param {string} hash such as "#/page/3"
 * @returns {View}
 */
function viewOf(hash) {
  const [, place, number] = /^#\/(page|merge)\/(\d+)$/.exec(hash) ?? [];
  if (place === "page") return new LabelView(Number(number), annotator(), { mode: chosenMode(), next: nextPage, teaching });
  if (place === "merge") return new MergeView(Number(number), annotator());
  return new PagesView(annotator(), chosenMode());
}

/**
 * The page to label after another: in Teach mode the most useful one, else the first one after it that has blocks to
 * label and that this annotator is not done with.
 * @param {number} after
 * @returns {Promise<number | null>}
 */
async function nextPage(after) {
  if (chosenMode() === "teach") {
    const queue = await api(`/api/annotate/queue?annotator=${encodeURIComponent(annotator())}&after=${after}`);
    return queue.pages.find((/** @type {any} */ page) => page.id !== after)?.id ?? null;
  }
  const { pages } = await api(`/api/annotate/pages?annotator=${encodeURIComponent(annotator())}`);
  const open = pages.filter((/** @type {any} */ page) => page.blocks && !page.done && page.id !== after && page.status !== "merged");
  return (open.find((/** @type {any} */ page) => page.id > after) ?? open[0])?.id ?? null;
}

async function show() {
  view?.close();
  view = null;
  shownHash = location.hash;
  showWho();
  const place = byId("view");
  place.replaceChildren();
  document.title = "Annotate · mainmatter";
  if (!annotator()) return askForName();
  const next = viewOf(location.hash);
  view = next;
  document.body.classList.toggle("at-work", !(next instanceof PagesView));
  place.replaceChildren(next.element);
  try {
    await next.open();
  } catch (error) {
    if (view === next) explain(place, next, error);
  }
  return undefined;
}

/**
 * @param {HTMLElement} place
 * @param {View} next
 * @param {unknown} error
 */
function explain(place, next, error) {
  const box = element("div", {});
  showProblem(box, error);
  const status = /** @type {{status?: number}} */ (error).status;
  const anyway = status === 409 && next instanceof MergeView;
  place.replaceChildren(box, element("div", { class: "row" }, element("a", { href: "#/", class: "button" }, "All pages"), anyway ? button("Merge anyway", () => openAnyway(place, next)) : null));
}

/**
 * @param {HTMLElement} place
 * @param {MergeView} next
 */
function openAnyway(place, next) {
  place.replaceChildren(next.element);
  next.open(true).catch((error) => explain(place, next, error));
}

window.addEventListener("hashchange", () => {
  if (location.hash === shownHash) return;
  if (view && !view.mayLeave()) history.replaceState(null, "", shownHash || "#/");
  else void show();
});
window.addEventListener("storage", (event) => {
  if (event.key === NAME) void show(); // another window signed in or out
});
listenToSignIn();
void show();
