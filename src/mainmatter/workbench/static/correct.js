// "Correct this page": the page goes to Annotate's store, with what a method kept of it as its labels, and opens there.
// @ts-check

import { api, busy, byId, element } from "./shell.js";
import { toRequest } from "./inspect-input.js";

const NAME = "mainmatter-annotator"; // as Annotate stores it
const GONE = 410; // the server no longer has the page of a frame

/**
 * Take a page to Annotate. Users who have not signed in are asked for a name first; if they cancel, they stay here.
 *
 * @param {import("./inspect-input.js").Source} source the page
 * @param {{method: string, options: Record<string, any>, frame?: string}} kept what decides which blocks are kept: a method
 *   and its parameters, including the dial; and the key under which the server knows the page, if it does
 * @returns {Promise<void>} settled when the browser leaves for Annotate, or the user cancelled
 * @throws {import("./shell.js").ApiError} with the server's own words
 */
export async function correct(source, { method, options, frame }) {
  const annotator = localStorage.getItem(NAME) || await askName();
  if (!annotator) return;
  const { url } = await busy(byId("main"), send(source, frame, { method, options, annotator }));
  localStorage.setItem(NAME, annotator); // only now: the server may refuse a name
  location.assign(url);
}

/**
 * @param {import("./inspect-input.js").Source} source
 * @param {string | undefined} frame
 * @param {{method: string, options: Record<string, any>, annotator: string}} fields
 * @returns {Promise<{page: number, labelled: number, url: string}>}
 */
async function send(source, frame, fields) {
  const ask = (/** @type {object} */ page) => api("/api/annotate/correct", { json: { ...page, ...fields } });
  if (frame) {
    try {
      return await ask({ frame });
    } catch (error) {
      if (/** @type {any} */ (error).status !== GONE) throw error;
    }
  }
  const { name: _, ...page } = source;
  if (source.file === undefined) return ask(page);
  // A file's bytes decide its encoding, so they are sent in a form.
  const { method, options } = fields;
  return ask({ frame: (await api("/api/inspect", toRequest(source, { method, options }))).frame });
}

/** Who corrects; "" if they would rather not. @returns {Promise<string>} */
function askName() {
  const name = element("input", { id: "correct-name", autocomplete: "nickname", maxlength: 100, required: true, "aria-describedby": "correct-about" });
  const form = element("form", { method: "dialog", class: "stack" },
    element("div", { class: "field" }, element("label", { for: "correct-name" }, "Your name"), name),
    element("p", { id: "correct-about", class: "soft small" }, "Your labels are stored under this name. There is no password."),
    element("div", { class: "row" },
      element("button", { class: "primary", value: "go" }, "Correct the page"),
      element("button", { type: "submit", formnovalidate: true, value: "" }, "Cancel")));
  const dialog = /** @type {HTMLDialogElement} */ (element("dialog", { id: "correct-dialog", "aria-labelledby": "correct-title" },
    element("h2", { id: "correct-title" }, "Who are you?"), form));
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "go" ? name.value.trim().replace(/\s+/g, " ") : "");
    });
  });
}
