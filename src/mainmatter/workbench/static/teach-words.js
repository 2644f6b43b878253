// The words and tables for figures and states of teaching.
// @ts-check

import { element } from "./shell.js";

/** What a job's state is called, and the kind of its badge. @type {Record<string, [string, string]>} */
export const STATES = {
  running: ["running", ""],
  finished: ["finished", "kept"],
  failed: ["failed", "dropped"],
  cancelled: ["cancelled", "dropped"],
  died: ["process died", "dropped"],
};

/** What the readiness of pages is called. @type {[string, string, string][]} */
export const READINESS = [
  ["merged", "merged", "kept"],
  ["agreed", "agreed by everyone who is done", "kept"],
  ["single", "done by one annotator", "kept"],
  ["conflict", "in conflict, to be merged", "conflict"],
  ["unfinished", "started, not done", "dropped"],
  ["new", "not labelled", ""],
];

/** @param {number} value */
export const score = (value) => value.toFixed(3);

/** A number with its sign. @param {number} value */
export const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(3)}`;

/** @param {number} value */
export const probability = (value) => (value < 0.001 ? "< 0.001" : value.toFixed(3));

/** A probability in percent, never 0 or 100: it is an estimate. @param {number} value */
export const percent = (value) => `${Math.min(99, Math.max(1, Math.round(100 * value)))} %`;

/** @param {any} gain */
export const interval = (gain) => `${signed(gain.low)} to ${signed(gain.high)}`;

/**
 * Fill a table. Cells are text, numbers or nodes; columns whose name begins with "#" hold numbers.
 *
 * @param {HTMLElement} table
 * @param {string} caption
 * @param {string[]} columns
 * @param {(string | number | Node)[][]} rows
 */
export function fillTable(table, caption, columns, rows) {
  const isNumber = columns.map((column) => column.startsWith("#"));
  const heads = columns.map((column, i) =>
    element("th", { scope: "col", class: isNumber[i] ? "number" : null }, column.replace(/^#/, "")));
  const body = rows.map((row) => element("tr", {}, ...row.map((cell, i) =>
    element(i === 0 ? "th" : "td", { scope: i === 0 ? "row" : null, class: isNumber[i] ? "number" : null }, cell))));
  table.replaceChildren(
    element("caption", {}, caption),
    element("thead", {}, element("tr", {}, ...heads)),
    element("tbody", {}, ...body),
  );
}

/** The points of a learning curve as rows. @param {any[]} points */
export function curveRows(points) {
  return points.map((point) => [
    point.pages, point.words.toLocaleString("en"), score(point.taught), score(point.shipped), signed(point.gain), interval(point),
    probability(point.p), point.wins, point.losses,
  ]);
}

export const CURVE_COLUMNS = ["#pages", "#words", "#taught", "#shipped", "#gain", "95 % interval", "#p", "#better on", "#worse on"];
