// "Correct this page": the page goes to Annotate's store, with what a method kept of it as its labels, and opens there.
// @ts-check

import { api, busy, byId, element } from "./shell.js";
import { toRequest } from "./inspect-input.js";

const NAME = "mainmatter-annotator"; // as Annotate stores it
const GONE = 410; // the server does not remember the page of a frame any more

/**
 * Take a page to Annotate. Whoever has not said who they are is asked first; who then takes it back stays here.
 *
 * @param {import("./inspect-input.js").Source} source the page
 * @param {{method: string, options: Record<string, any>, frame?: string}} kept what says which blocks are kept: a method
 *   and its parameters, the dial included; and under which key the server knows the page, if it does
 * @returns {Promise<void>} settled when the browser is on its way there, or stays
 * @throws {import("./shell.js").ApiError} with the server's own words
 */
export async function correct(source, { method, options, frame }) {
  const annotator = localStorage.getItem(NAME) || await askName();
  if (!annotator) return;
  const { url } = await busy(byId("main"), send(source, frame, { method, options, annotator }));
  localStorage.setItem(NAME, annotator); // a name that the server refuses is asked for again
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
  // Of a file the bytes tell the encoding, and they travel in a form.
  const { method, options } = fields;
  return ask({ frame: (await api("/api/inspect", toRequest(source, { method, options }))).frame });
}

/** Who corrects; "" if they would rather not. @returns {Promise<string>} */
function askName() {
  const name = element("input", { id: "correct-name", autocomplete: "nickname", maxlength: 100, required: true, "aria-describedby": "correct-about" });
  const form = element("form", { method: "dialog", class: "stack" },
    element("div", { class: "field" }, element("label", { for: "correct-name" }, "Your name"), name),
    element("p", { id: "correct-about", class: "soft small" }, "It tells your labels from those of others. There is no password."),
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
