// A form that makes a call of the API and shows what the server answers. Answers are shown as text, never as markup.
// @ts-check

import { announce, busy, element, showProblem } from "./shell.js";

/** @typedef {Record<string, any>} Json */

const LONGEST_SHOWN = 200_000; // characters of an answer
let forms = 0;

/**
 * A form for one call.
 *
 * @param {string} verb
 * @param {string} path with {names} for its parts that vary
 * @param {Json} operation
 * @returns {HTMLFormElement}
 */
export function makeTry(verb, path, operation) {
  forms += 1;
  const prefix = `try-${forms}`;
  const parts = [...path.matchAll(/\{(\w+)\}/g)].map((match) => field(`${prefix}-${match[1]}`, match[1]));
  const query = field(`${prefix}-query`, "Query, such as format=markdown&blocks");
  const body = bodyControls(prefix, operation.requestBody?.content ?? {});
  const result = element("div", { class: "result stack", "aria-live": "off" });
  const form = element("form", { class: "stack try" },
    element("h4", {}, "Try it"), ...parts.map(([place]) => place), query[0], ...body.controls,
    element("div", { class: "row" }, element("button", { type: "submit", class: "primary" }, `Send ${verb.toUpperCase()}`)), result);
  form.addEventListener("submit", async (/** @type {Event} */ event) => {
    event.preventDefault();
    const names = parts.map(([, input]) => encodeURIComponent(input.value));
    const address = path.replaceAll(/\{\w+\}/g, () => names.shift() ?? "") + (query[1].value ? `?${query[1].value}` : "");
    try {
      const request = body.make();
      await busy(result, send(address, { method: verb.toUpperCase(), ...request }, result));
    } catch (error) {
      showProblem(result, error);
    }
  });
  return form;
}

/** A labelled line of text. @param {string} id @param {string} label @returns {[HTMLElement, HTMLInputElement]} */
function field(id, label) {
  const input = element("input", { id, type: "text", autocomplete: "off", spellcheck: "false" });
  return [element("div", { class: "field" }, element("label", { for: id }, label), input), input];
}

/**
 * Controls for what a call is sent: a type, and a text or a file.
 *
 * @param {string} prefix
 * @param {Json} content what the call takes, by media type
 * @returns {{controls: HTMLElement[], make: () => {headers?: Record<string, string>, body?: BodyInit}}}
 */
function bodyControls(prefix, content) {
  const types = Object.keys(content);
  if (!types.length) return { controls: [], make: () => ({}) };
  const type = element("select", { id: `${prefix}-type` }, ...types.map((name) => element("option", {}, name)));
  const text = element("textarea", { id: `${prefix}-body`, spellcheck: "false" });
  const file = element("input", { id: `${prefix}-file`, type: "file" });
  const textField = element("div", { class: "field" }, element("label", { for: text.id }, "Request body"), text);
  const fileField = element("div", { class: "field" }, element("label", { for: file.id }, "File to send"), file);
  const choose = () => {
    const isForm = type.value === "multipart/form-data";
    textField.hidden = isForm;
    fileField.hidden = !isForm;
    if (!isForm) text.value = example(content[type.value]);
  };
  type.addEventListener("change", choose);
  choose();
  const make = () => {
    if (type.value !== "multipart/form-data") return { headers: { "Content-Type": type.value }, body: text.value };
    if (!file.files[0]) throw new Error("choose a file first");
    const form = new FormData();
    form.append("file", file.files[0]);
    return { body: form };
  };
  const typeField = element("div", { class: "field" }, element("label", { for: type.id }, "Content-Type"), type);
  return { controls: [typeField, textField, fileField], make };
}

/** An example of what a call takes, as text. @param {Json} content */
function example(content) {
  const given = content.example ?? Object.values(content.examples ?? {})[0]?.value;
  if (given === undefined) return "{}";
  return typeof given === "string" ? given : JSON.stringify(given, null, 2);
}

/** Make a call and show the answer. @param {string} address @param {RequestInit} request @param {HTMLElement} place */
async function send(address, request, place) {
  const start = performance.now();
  const response = await fetch(address, { ...request, credentials: "same-origin" });
  const text = await response.text();
  const seconds = ((performance.now() - start) / 1000).toFixed(3);
  const type = response.headers.get("Content-Type") ?? "";
  const shown = type.includes("json") ? indented(text) : text;
  const line = `${response.status} ${response.statusText} · ${type.split(";")[0]} · ${text.length.toLocaleString("en")} characters · ${seconds} s`;
  place.replaceChildren(
    element("p", { class: response.ok ? "note" : "problem" }, line),
    element("pre", { class: "well source", tabindex: "0", role: "region", "aria-label": "Response" }, shown.slice(0, LONGEST_SHOWN)));
  announce(`Response: ${response.status}`);
}

/** JSON that people can read. @param {string} text */
function indented(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
