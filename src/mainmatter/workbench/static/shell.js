// What every view of the workbench shares: the masthead, the theme, requests to the server, messages to the user.
// Import it first: it fills <header id="masthead"> by itself. Text of pages goes through `element` or `textContent`
// only, so that it never becomes markup.
// @ts-check

const PLACES = [
  ["/", "Inspect"],
  ["/corpus", "Corpus"],
  ["/compare", "Compare"],
  ["/annotate", "Annotate"],
  ["/teach", "Teach"],
  ["/api", "API"],
];
const THEMES = ["system", "light", "dark"];
const THEME_KEY = "mainmatter-theme";
const TOAST_SECONDS = 6;

/** What the server said went wrong, and what to do about it. */
export class ApiError extends Error {
  /** @param {string} message @param {string} hint @param {number} status */
  constructor(message, hint = "", status = 0) {
    super(message);
    this.name = "ApiError";
    this.hint = hint;
    this.status = status;
  }
}

/**
 * Ask the server. An object for `json` is sent as JSON, a FormData as `body` as a form.
 *
 * @param {string} path
 * @param {{method?: string, json?: unknown, body?: BodyInit, signal?: AbortSignal,
 *   headers?: Record<string, string>}} [options]
 * @returns {Promise<any>} what it answered: an object where that is JSON, else text.
 * @throws {ApiError} with the server's own words
 */
export async function api(path, options = {}) {
  const { json, body, signal } = options;
  const headers = new Headers(options.headers);
  if (json !== undefined) headers.set("Content-Type", "application/json");
  const method = options.method ?? (json !== undefined || body !== undefined ? "POST" : "GET");
  let response;
  try {
    response = await fetch(path, {
      method, headers, signal, body: json !== undefined ? JSON.stringify(json) : body, credentials: "same-origin",
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError("the server does not answer", "Is mainmatter serve still running?");
  }
  const isJson = (response.headers.get("Content-Type") ?? "").includes("json");
  const answer = isJson ? await response.json().catch(() => null) : await response.text();
  if (response.ok) return answer;
  const message = isJson && answer?.error ? answer.error : `the server answered ${response.status}`;
  throw new ApiError(message, (isJson && answer?.hint) || "", response.status);
}

/**
 * Make an element. `class`, `dataset` and `on` are special; a value of true or false sets or leaves out an attribute,
 * null and undefined leave it out. Children are nodes or text, never markup.
 *
 * @param {string} tag
 * @param {Record<string, any>} [properties]
 * @param {...(Node | string | number | null | undefined)} children
 * @returns {any} the element; `any`, so that callers need no casts
 */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "class") made.className = value;
    else if (name === "dataset") Object.assign(made.dataset, value);
    else if (name === "on") Object.entries(value).forEach(([event, listener]) => made.addEventListener(event, listener));
    else if (name === "value" && "value" in made) made.value = value;
    else if (name === "checked" && "checked" in made) made.checked = value;
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) {
    if (child !== null && child !== undefined) made.append(child instanceof Node ? child : String(child));
  }
  return made;
}

/**
 * Make an element of a drawing.
 *
 * @param {string} tag
 * @param {Record<string, string | number>} attributes
 * @returns {SVGElement}
 */
export function makeSvg(tag, attributes) {
  const made = /** @type {SVGElement} */ (document.createElementNS("http://www.w3.org/2000/svg", tag));
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  return made;
}

/** The element of an id, which must be there. @param {string} id @returns {any} */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no element #${id}`);
  return found;
}

const live = element("div", { class: "visually-hidden", role: "status", "aria-live": "polite", id: "live" });

/** Announce something to screen readers. @param {string} text */
export function announce(text) {
  live.textContent = "";
  requestAnimationFrame(() => { live.textContent = text; });
}

let toastTimer = 0;

/** Show a short message for some seconds, and announce it. @param {string} text */
export function toast(text) {
  document.querySelector(".toast")?.remove();
  clearTimeout(toastTimer);
  const line = element("div", { class: "toast" }, text);
  (document.getElementById("main") ?? document.body).append(line); // in a landmark
  toastTimer = window.setTimeout(() => line.remove(), TOAST_SECONDS * 1000);
  announce(text);
}

/**
 * Show an error's message and hint in an element; null removes it.
 *
 * @param {HTMLElement} place
 * @param {unknown} error
 */
export function showProblem(place, error) {
  place.replaceChildren();
  if (!error) return;
  const hint = error instanceof ApiError ? error.hint : "";
  const message = error instanceof Error ? error.message : String(error);
  const words = [message, hint].filter(Boolean).map(asSentence).join(" ");
  place.append(element("p", { class: "problem", role: "alert" }, element("strong", {}, "That did not work: "), words));
}

/** With a capital letter, unless it begins with an address, and a full stop. @param {string} words */
function asSentence(words) {
  const begun = /^\w+:\/\//.test(words) ? words : words.charAt(0).toUpperCase() + words.slice(1);
  return /[.?!…]$/.test(begun) ? begun : `${begun}.`;
}

/**
 * A count with its noun.
 *
 * @param {number} number
 * @param {string} noun
 */
export function count(number, noun) {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

let working = 0;

/**
 * Show that something is in progress until a promise settles.
 *
 * @template T
 * @param {HTMLElement | null} place gets aria-busy
 * @param {Promise<T>} promise
 * @returns {Promise<T>}
 */
export async function busy(place, promise) {
  working += 1;
  if (working === 1) document.body.append(element("div", { class: "working", id: "working", "aria-hidden": "true" }));
  place?.setAttribute("aria-busy", "true");
  try {
    return await promise;
  } finally {
    place?.removeAttribute("aria-busy");
    working -= 1;
    if (working === 0) document.getElementById("working")?.remove();
  }
}

/**
 * Make tabs work: arrow keys move between them, and `onChoose` is called with the one shown. The tabs are buttons with role=tab and
 * aria-controls.
 *
 * @param {HTMLElement} list the element with role=tablist
 * @param {(id: string) => void} [onChoose] gets the id of the tab
 * @returns {(id: string) => void} shows the tab of an id
 */
export function makeTabs(list, onChoose) {
  const tabs = /** @type {HTMLElement[]} */ ([...list.querySelectorAll('[role="tab"]')]);
  const choose = (/** @type {string} */ id) => {
    for (const tab of tabs) {
      const chosen = tab.id === id;
      tab.setAttribute("aria-selected", String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
      byId(tab.getAttribute("aria-controls") ?? "").hidden = !chosen;
    }
    onChoose?.(id);
  };
  tabs.forEach((tab, i) => {
    tab.addEventListener("click", () => choose(tab.id));
    tab.addEventListener("keydown", (event) => {
      const next = { ArrowRight: i + 1, ArrowLeft: i - 1 + tabs.length, Home: 0, End: tabs.length - 1 }[event.key];
      if (next === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      tabs[next % tabs.length].focus();
      choose(tabs[next % tabs.length].id);
    });
  });
  return choose;
}

/** Put text on the clipboard, and say so. @param {string} text @param {string} [what] */
export async function copy(text, what = "text") {
  try {
    await navigator.clipboard.writeText(text);
    toast(`Copied the ${what}.`);
  } catch {
    toast("The browser blocked copying; select the text instead.");
  }
}

/** Give text to the user as a file. @param {string} text @param {string} name @param {string} [type] */
export function download(text, name, type = "text/plain") {
  const address = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = element("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

const WITH_KEYS = "input, textarea, select, dialog, [contenteditable]";
const WITHOUT_LETTERS = 'input:is([type="checkbox"], [type="radio"], [type="range"], [type="file"])';

/** Whether a key press is meant for the control that has focus; checkboxes and the like take no letters. @param {KeyboardEvent} event */
export function isForControl(event) {
  const control = event.target instanceof Element ? event.target.closest(WITH_KEYS) : null;
  const isLetter = event.key.length === 1 && event.key !== " ";
  return control !== null && !(isLetter && control.matches(WITHOUT_LETTERS));
}

/**
 * Call an action once calls have paused for some milliseconds.
 *
 * @param {(...words: any[]) => void} action
 * @param {number} pause
 */
export function debounced(action, pause) {
  let timer = 0;
  return (/** @type {any[]} */ ...words) => {
    clearTimeout(timer);
    timer = window.setTimeout(() => action(...words), pause);
  };
}

function storedTheme() {
  try {
    return localStorage.getItem(THEME_KEY) ?? "system";
  } catch {
    return "system";
  }
}

/** @param {string} theme */
function useTheme(theme) {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem(THEME_KEY, theme);
  } catch { /* the choice lasts until the page is closed */ }
}

function themeButton() {
  const name = () => `Theme: ${storedTheme()}`;
  const button = element("button", { type: "button", class: "quiet theme", title: "System, light or dark" }, name());
  button.addEventListener("click", () => {
    useTheme(THEMES[(THEMES.indexOf(storedTheme()) + 1) % THEMES.length]);
    button.textContent = name();
  });
  return button;
}

function fillMasthead() {
  useTheme(storedTheme());
  const here = location.pathname.replace(/\/$/, "") || "/";
  const current = (/** @type {string} */ path) => (path === here ? "page" : null);
  const links = PLACES.map(([path, name]) => element("a", { href: path, "aria-current": current(path) }, name));
  document.getElementById("masthead")?.append(
    element("a", { href: "/", class: "wordmark" }, "mainmatter"),
    element("nav", { "aria-label": "Workbench" }, ...links),
    themeButton(),
  );
  document.body.append(live);
}

fillMasthead();
