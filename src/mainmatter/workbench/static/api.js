// The API page: what /api/openapi.json says, for people, and a form to try each call.
// @ts-check

import { api, byId, copy, element, showProblem } from "./shell.js";
import { makeTry } from "./api-try.js";

/** @typedef {Record<string, any>} Json */

const VERBS = ["get", "post", "put", "patch", "delete"];

/** Makes the details of each call that has not been opened yet. @type {Map<HTMLElement, () => HTMLElement>} */
const bodies = new Map();

/** What a reference stands for. @param {Json} document_ @param {Json | undefined} schema @returns {Json} */
export function resolve(document_, schema) {
  if (!schema?.$ref) return schema ?? {};
  return schema.$ref.slice(2).split("/").reduce((/** @type {any} */ place, /** @type {string} */ step) => place?.[step], document_) ?? {};
}

/** A schema's type in a few words. @param {Json} document_ @param {Json} schema @returns {string} */
function typeName(document_, schema) {
  const found = resolve(document_, schema);
  if (found.enum) return found.enum.map((/** @type {any} */ value) => JSON.stringify(value)).join(" | ");
  if (found.const !== undefined) return JSON.stringify(found.const);
  if (found.anyOf) return found.anyOf.map((/** @type {Json} */ each) => typeName(document_, each)).filter((/** @type {string} */ name) => name !== "null").join(" | ");
  if (found.type === "array") return `list of ${typeName(document_, found.items ?? {})}`;
  if (found.format === "binary") return "file";
  return found.type ?? "anything";
}

/** A description as plain text, without code marks. @param {string | undefined} text */
function words(text) {
  return (text ?? "").replaceAll("`", "").replaceAll(/\n(?!\n)/g, " ").replaceAll(/\n\s*/g, "\n\n");
}

/**
 * A table of fields or parameters.
 *
 * @param {Json} document_
 * @param {string} caption
 * @param {[string, Json, boolean][]} rows name, schema, whether it is needed
 */
function fieldTable(document_, caption, rows) {
  const body = rows.map(([name, schema, needed]) => {
    const described = { ...resolve(document_, schema), ...schema };
    const standard = described.default === undefined || described.default === null ? "" : JSON.stringify(described.default);
    return element("tr", {},
      element("th", { scope: "row", class: "name-cell" }, name, needed ? " (required)" : ""),
      element("td", { class: "type-cell" }, typeName(document_, schema)),
      element("td", { class: "mono" }, standard),
      element("td", {}, words(described.description)));
  });
  const head = ["Name", "Type", "Default", "Meaning"].map((name) => element("th", { scope: "col" }, name));
  return element("div", { class: "table-scroll", role: "region", tabindex: "0", "aria-label": caption },
    element("table", { class: "data" },
      element("caption", {}, caption), element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...body)));
}

/** What a call takes. @param {Json} document_ @param {Json} operation */
function inputs(document_, operation) {
  const made = [];
  const parameters = operation.parameters ?? [];
  if (parameters.length) {
    made.push(fieldTable(document_, "Parameters", parameters.map((/** @type {Json} */ each) => [
      each.name, { ...each.schema, description: each.description ?? each.schema?.description }, each.required ?? false])));
  }
  for (const [type, content] of Object.entries(operation.requestBody?.content ?? {})) {
    const schema = resolve(document_, content.schema);
    const fields = Object.entries(schema.properties ?? {});
    if (!fields.length) made.push(element("p", {}, element("code", {}, type), ": the page itself, unchanged."));
    else made.push(fieldTable(document_, `Fields of ${type}`, fields.map(([name, each]) => [name, each, (schema.required ?? []).includes(name)])));
  }
  return made;
}

/** What a call gives. @param {Json} document_ @param {Json} operation */
function outputs(document_, operation) {
  const made = [];
  const good = operation.responses?.["200"]?.content?.["application/json"]?.schema;
  const fields = Object.entries(resolve(document_, good).properties ?? {});
  if (fields.length) made.push(fieldTable(document_, "Fields of the response", fields.map(([name, each]) => [name, each, false])));
  const rows = Object.entries(operation.responses ?? {}).map(([status, each]) =>
    [element("dt", { class: "mono" }, status), element("dd", {}, words(each.description))]).flat();
  made.push(element("h4", {}, "Responses"), element("dl", { class: "facts" }, ...rows));
  return made;
}

/** @param {string} verb @param {string} path */
function anchor(verb, path) {
  return `${verb}${path.replaceAll(/[^a-z]+/gi, "-")}`.replace(/-$/, "");
}

/** The command that makes a call. @param {string} verb @param {string} path @param {Json} operation */
function curl(verb, path, operation) {
  const types = Object.keys(operation.requestBody?.content ?? {});
  const address = `${location.origin}${path}`;
  if (types.includes("text/html")) return `curl --data-binary @page.html -H 'Content-Type: text/html' -H 'Accept: text/plain' ${address}`;
  if (types.includes("application/json")) return `curl -X ${verb.toUpperCase()} --json @request.json ${address}`;
  return verb === "get" ? `curl ${address}` : `curl -X ${verb.toUpperCase()} ${address}`;
}

/** One call: what it is for, takes and gives, and a form to try it. @param {Json} document_ @param {string} verb @param {string} path @param {Json} operation */
function call(document_, verb, path, operation) {
  const details = element("details", { class: "sheet call", id: anchor(verb, path) },
    element("summary", {}, element("span", { class: `verb ${verb}` }, verb.toUpperCase()), element("h3", {}, path),
      element("span", { class: "soft" }, operation.summary ?? "")));
  details.addEventListener("toggle", () => fill(details), { once: true });
  bodies.set(details, () => callBody(document_, verb, path, operation));
  return details;
}

/** Show the details of a call, once. @param {HTMLElement} details */
function fill(details) {
  const body = bodies.get(details);
  if (body) details.append(body());
  bodies.delete(details);
}

/** The details of a call. @param {Json} document_ @param {string} verb @param {string} path @param {Json} operation */
function callBody(document_, verb, path, operation) {
  const command = curl(verb, path, operation);
  return element("div", { class: "stack call-body" },
    element("p", { class: "prose-line" }, words(operation.description)),
    ...inputs(document_, operation), ...outputs(document_, operation),
    element("div", { class: "row" }, element("code", { class: "source grow" }, command),
      element("button", { type: "button", on: { click: () => copy(command, "command") } }, "Copy")),
    makeTry(verb, path, operation));
}

/** The calls by tag. @param {Json} document_ @returns {Map<string, [string, string, Json][]>} */
function byTag(document_) {
  const groups = new Map();
  for (const [path, operations] of Object.entries(document_.paths)) {
    for (const verb of VERBS.filter((each) => each in operations)) {
      const tag = operations[verb].tags?.[0] ?? "others";
      groups.set(tag, [...(groups.get(tag) ?? []), [verb, path, operations[verb]]]);
    }
  }
  return groups;
}

/** Open the call that the address names. */
function openNamed() {
  const named = document.getElementById(location.hash.slice(1));
  if (!(named instanceof HTMLDetailsElement)) return;
  // Now, not at the event that follows: the Tab key must not skip what is still to come.
  fill(named);
  named.open = true;
  named.scrollIntoView();
  named.querySelector("summary")?.focus({ preventScroll: true });
}

async function show() {
  const document_ = await api("/api/openapi.json");
  const [first, ...others] = words(document_.info.description).split("\n\n");
  byId("about").append(
    element("p", {}, first), ...others.map((text) => element("p", {}, text)),
    element("p", { class: "soft" }, `Version ${document_.info.version}. Machine-readable: `,
      element("a", { href: "/api/openapi.json" }, "openapi.json"), " (OpenAPI 3.1)."));
  for (const [tag, calls] of byTag(document_)) {
    byId("calls").append(element("h2", { class: "call-tag" }, tag), ...calls.map((each) => call(document_, ...each)));
    const links = calls.map(([verb, path]) => element("li", {}, element("a", { href: `#${anchor(verb, path)}` }, `${verb.toUpperCase()} ${path.replace("/api/", "")}`)));
    byId("contents").append(element("h2", {}, tag), element("ul", {}, ...links));
  }
  window.addEventListener("hashchange", openNamed);
  openNamed();
}

show().catch((error) => showProblem(byId("problem"), error));
