// Where the page comes from: pasted HTML or an address, a file, the example, or this view's own address. Also remembers
// shown pages, so that a reload or the back button shows them again. Compare uses it too.
// @ts-check

import { api, byId } from "./shell.js";

const EXAMPLE = "the example";
const EXAMPLE_URL = "https://harbourlamp.example/stories/tide-clock";
const STORED = "mainmatter-page";
const MOST_STORED = 2_000_000; // characters; browsers give a site some five million

/**
 * A page on its way to the server.
 *
 * @typedef {object} Source
 * @property {string} name what the user calls it
 * @property {string} [html] its HTML
 * @property {string} [url] where to fetch it; with `html`, where that came from
 * @property {string} [text] a plain-text dump
 * @property {string} [file] the bytes of a file, as base64
 * @property {{name: string, page: string}} [corpus] a page of a corpus that the server has
 * @property {string} [frame] the key of a page that the server showed before, and may have forgotten
 */

/**
 * Make the input panel work.
 *
 * @param {(source: Source) => void} onSource the user gave a page
 * @param {(error: Error) => void} onProblem what was given is no page
 */
export function listenForPages(onSource, onProblem) {
  const text = byId("input-text");
  byId("input-form").addEventListener("submit", (/** @type {Event} */ event) => {
    event.preventDefault();
    const source = fromText(text.value, byId("input-url").value);
    if (source) onSource(source);
    else onProblem(new Error("No page yet: paste a page's HTML or address, or choose a file."));
  });
  byId("input-file").addEventListener("change", async (/** @type {any} */ event) => {
    if (event.target.files.length) onSource(await fromFile(event.target.files[0]));
    event.target.value = "";
  });
  byId("input-example").addEventListener("click", () => { fetchExample().then(onSource, onProblem); });
  listenForDrops(byId("input-panel"), onSource);
}

/** The example, which the server has. @returns {Promise<Source>} */
export async function fetchExample() {
  return { name: EXAMPLE, html: await api("/static/example.html"), url: EXAMPLE_URL };
}

/** @param {Source} source */
export function isExample({ name, url }) {
  return name === EXAMPLE && url === EXAMPLE_URL;
}

/** @param {HTMLElement} panel @param {(source: Source) => void} onSource */
function listenForDrops(panel, onSource) {
  for (const name of ["dragover", "dragleave", "drop"]) {
    panel.addEventListener(name, (/** @type {any} */ dragged) => {
      if (!dragged.dataTransfer?.types.includes("Files")) return;
      dragged.preventDefault();
      panel.classList.toggle("dropping", name === "dragover");
    });
  }
  panel.addEventListener("drop", async (/** @type {any} */ event) => {
    const file = event.dataTransfer?.files[0];
    if (file) onSource(await fromFile(file));
  });
}

/**
 * What was typed or pasted: an address, HTML, or plain text; null for nothing.
 *
 * @param {string} typed
 * @param {string} url
 * @returns {Source | null}
 */
export function fromText(typed, url) {
  const text = typed.trim();
  if (!text) return null;
  if (/^[a-z]+:\/\/\S+$/i.test(text)) return { name: text, url: text }; // the server refuses those that it does not fetch
  if (/^[\w-]+(\.[\w-]+)*\.[a-z]{2,}(\/\S*)?$/i.test(text)) return { name: text, url: `https://${text}` };
  const from = url.trim() ? { url: url.trim() } : {};
  if (/<[a-z!/][^>]*>/i.test(text)) return { name: "the pasted page", html: typed, ...from };
  return { name: "the pasted text", text: typed };
}

/** @param {File} file @returns {Promise<Source>} */
async function fromFile(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let binary = "";
  for (let i = 0; i < bytes.length; i += 32_768) binary += String.fromCharCode(...bytes.subarray(i, i + 32_768));
  return { name: file.name, file: btoa(binary) };
}

/**
 * A request about a page: JSON, or a form if the page is a file, whose bytes decide its encoding.
 *
 * @param {Source} source
 * @param {Record<string, any>} fields
 * @returns {{json: object} | {body: FormData}}
 */
export function toRequest(source, fields) {
  if (source.file === undefined) {
    const { name: _, ...page } = source;
    return { json: { ...page, ...fields } };
  }
  const form = new FormData();
  form.set("file", new Blob([Uint8Array.from(atob(source.file), (letter) => letter.charCodeAt(0))]), source.name);
  for (const [name, value] of Object.entries(fields)) {
    form.set(name, typeof value === "string" ? value : JSON.stringify(value));
  }
  return { body: form };
}

/** Remember a page for the other views in this tab, unless it is too large. @param {Source} source */
export function remember(source) {
  const stored = JSON.stringify(source);
  try {
    if (stored.length > MOST_STORED) sessionStorage.removeItem(STORED);
    else sessionStorage.setItem(STORED, stored);
  } catch { /* no room: the other view will ask for the page again */ }
}

/** The page that this tab showed last. @returns {Source | null} */
export function recall() {
  try {
    return JSON.parse(sessionStorage.getItem(STORED) ?? "null");
  } catch {
    return null;
  }
}

/**
 * The page that an address names: one to be fetched, or one of a corpus.
 *
 * @param {URLSearchParams} query
 * @returns {Source | null}
 */
export function fromAddress(query) {
  const [url, corpus, page] = ["url", "corpus", "page"].map((name) => query.get(name)?.trim());
  if (corpus && page) return { name: page, corpus: { name: corpus, page } };
  return url ? { name: url, url } : null;
}

/**
 * Name a page in an address, if others can open it from there; they cannot open pasted HTML.
 *
 * @param {URLSearchParams} query
 * @param {Source | null} source
 */
export function toAddress(query, source) {
  if (source?.corpus) {
    query.set("corpus", source.corpus.name);
    query.set("page", source.corpus.page);
  } else if (source?.url && isFetched(source)) query.set("url", source.url);
}

/** Whether the server has to fetch a page from the web. @param {Source} source */
export function isFetched({ html, text, file, corpus, frame }) {
  return html === undefined && text === undefined && file === undefined && !corpus && !frame;
}

/**
 * What the browser's history keeps of a page: the page or, if it is too large, its key; null if it has none.
 *
 * @typedef {{source: Source, frame?: string}} Entry
 * @param {Source} source
 * @param {string} [frame] its key
 * @returns {Entry | null}
 */
export function toEntry(source, frame) {
  const isLarge = [source.html, source.text, source.file].some((given) => given && given.length > MOST_STORED);
  if (!isLarge) return { source, frame };
  return frame ? { source: { name: source.name, frame }, frame } : null;
}
