// The dial: a slider whose steps each change about the same amount of text, the value that the command line takes, and a picture of
// how much text each step keeps.
// @ts-check

import { byId, makeSvg } from "./shell.js";

const USUAL = 0.5;
const HEIGHT = 100;

export class Dial {
  /** @param {() => void} onTurn the user moved it */
  constructor(onTurn) {
    this.input = /** @type {HTMLInputElement} */ (byId("dial"));
    this.steps = [0, USUAL, 1];
    /** What share of the text each step keeps. @type {number[]} */
    this.shares = [];
    this.value = USUAL;
    this.pointer = makeSvg("path", { class: "pointer" });
    this.input.addEventListener("input", () => {
      this.value = this.steps[Number(this.input.value)];
      this.#tell();
      onTurn();
    });
  }

  /** Whether it is at its default. */
  get isUsual() {
    return this.value === USUAL;
  }

  /** Set it to a value; the next page's steps will include it. @param {number} value */
  set(value) {
    this.value = Number.isFinite(value) ? Math.min(1, Math.max(0, value)) : USUAL;
    this.#place();
  }

  /** Take over the steps of a page. @param {any} answer what /api/inspect said */
  show(answer) {
    this.input.disabled = !answer.dial;
    byId("dial-note").textContent = answer.dial ? "" : `(${answer.method} has none)`;
    this.steps = answer.dial?.steps ?? [0, USUAL, 1];
    this.shares = answer.dial ? sharesOf(answer) : [];
    this.input.max = String(this.steps.length - 1);
    this.#draw();
    this.#place();
  }

  /** Turn it by a number of steps. @param {number} by */
  turn(by) {
    this.input.value = String(Number(this.input.value) + by);
    this.input.dispatchEvent(new Event("input"));
  }

  #place() {
    const distances = this.steps.map((step) => Math.abs(step - this.value));
    this.input.value = String(distances.indexOf(Math.min(...distances)));
    this.#tell();
  }

  #tell() {
    const step = Number(this.input.value);
    const share = this.shares[step];
    const kept = share === undefined ? "" : `: ${Math.round(100 * share)} % of the text`;
    byId("dial-value").textContent = say(this.value);
    byId("dial-kept").textContent = kept;
    this.input.setAttribute("aria-valuetext", say(this.value) + kept);
    this.pointer.setAttribute("d", share === undefined ? "" : `M${step} ${HEIGHT}V${HEIGHT * (1 - share)}`);
  }

  /** One stair per step, above that step of the slider. */
  #draw() {
    const curve = byId("dial-curve");
    curve.replaceChildren();
    const last = this.shares.length - 1;
    if (last < 1) return;
    const stairs = this.shares.map((share, i) => `${i ? "H" : "M"}${Math.max(0, i - 0.5)}${i ? "" : ` ${HEIGHT}`}V${HEIGHT * (1 - share)}`);
    const svg = makeSvg("svg", { viewBox: `0 0 ${last} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" });
    svg.append(makeSvg("path", { class: "stairs", d: `${stairs.join("")}H${last}V${HEIGHT}Z` }), this.pointer);
    curve.append(svg);
  }
}

/** A value of the dial, as short as it can be typed. @param {number} value */
export function say(value) {
  const short = value.toFixed(2);
  return Number(short) === value ? short : String(Number(value.toFixed(4)));
}

/** @param {any} answer @returns {number[]} */
function sharesOf(answer) {
  const before = new Float64Array(answer.blocks.texts.length + 1);
  answer.blocks.texts.forEach((/** @type {string} */ words, /** @type {number} */ i) => { before[i + 1] = before[i] + words.length; });
  const all = before[before.length - 1] || 1;
  return answer.dial.kept.map((/** @type {number[]} */ runs) => {
    let [place, kept] = [0, 0];
    runs.forEach((run, i) => {
      if (i % 2) kept += before[place + run] - before[place];
      place += run;
    });
    return kept / all;
  });
}
