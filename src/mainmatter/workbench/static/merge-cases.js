// @ts-check
/**
 * The conflicts of a page, one under the other: what each annotator says, and what is decided.
 *
 * @typedef {import("./annotate-ledger.js").Label} Label
 * @typedef {import("./merge.js").Case} Case
 */
import { element } from "./shell.js";
import { button } from "./annotate-bar.js";
import { BRUSHES, inWords, painted, same } from "./annotate-words.js";

export class MergeCases {
  /** @type {HTMLElement[]} */
  #rows = [];
  /** @type {Case[]} */
  #cases = [];

  /**
   * @param {{decide: (number: number, label: Label | null) => void, activate: (number: number) => void,
   *   hover: (block: number | null) => void}} actions
   */
  constructor(actions) {
    this.actions = actions;
    this.element = element("ol", { class: "cases", "aria-label": "Conflicts" });
  }

  /**
   * @param {Case[]} cases
   * @param {string[]} annotators
   */
  load(cases, annotators) {
    this.#cases = cases;
    this.#rows = cases.map((one, number) => this.#row(one, number, annotators));
    this.element.replaceChildren(...this.#rows);
    if (!cases.length) this.element.append(element("li", { class: "soft no-case" }, "No conflicts: all who labelled the same block said the same of it."));
  }

  /**
   * @param {number} number
   * @param {Label | null} decided
   * @param {boolean} pending
   */
  show(number, decided, pending) {
    const row = this.#rows[number];
    row.dataset.state = decided ? (decided.kept ? "kept" : "dropped") : "open";
    row.classList.toggle("pending", pending);
    const words = /** @type {HTMLElement} */ (row.querySelector(".decision"));
    words.textContent = decided ? `Decided: ${inWords(decided)}${pending ? " · not saved yet" : ""}` : "Not decided";
    for (const choice of /** @type {NodeListOf<HTMLElement>} */ (row.querySelectorAll("button.says"))) {
      const label = this.#cases[number].labels.get(choice.dataset.annotator ?? "");
      choice.setAttribute("aria-pressed", String(decided !== null && same(decided, label)));
    }
  }

  /**
   * @param {number} number
   * @param {boolean} focus
   */
  activate(number, focus) {
    this.element.querySelector(".active")?.classList.remove("active");
    const row = this.#rows[number];
    row?.classList.add("active");
    if (focus) row?.focus({ preventScroll: true });
    row?.scrollIntoView({ block: "nearest" });
  }

  /**
   * @param {Case} one
   * @param {number} number
   * @param {string[]} annotators
   */
  #row({ block, labels }, number, annotators) {
    const row = element(
      "li",
      { class: "case", tabindex: "-1", "data-state": "open" },
      element("p", { class: "case-text" }, block.text),
      element("div", { class: "row tight", role: "group", "aria-label": "What annotators say" }, ...annotators.map((name, i) => this.#says(number, name, labels.get(name), i))),
      element("div", { class: "row tight others", role: "group", "aria-label": "Decide otherwise" }, ...this.#others(block, number)),
      element("p", { class: "decision small" }, "Not decided"),
    );
    row.addEventListener("pointerenter", () => this.actions.hover(block.index));
    row.addEventListener("pointerleave", () => this.actions.hover(null));
    row.addEventListener("focusin", () => this.actions.activate(number));
    return row;
  }

  /**
   * @param {number} number
   * @param {string} name
   * @param {Label | undefined} label
   * @param {number} i
   */
  #says(number, name, label, i) {
    const state = label ? (label.kept ? "kept" : "dropped") : "none";
    const choice = button(
      `${name}: ${inWords(label)}`,
      () => label && this.actions.decide(number, label),
      { class: `says ${state}`, "data-annotator": name, "aria-pressed": "false", disabled: !label },
      i < 9 ? String(i + 1) : "",
    );
    return choice;
  }

  /**
   * @param {import("./annotate-words.js").Block} block
   * @param {number} number
   */
  #others(block, number) {
    const brushes = BRUSHES.filter(({ name }) => name !== "clear" && name !== "keep");
    return brushes.map(({ name, word, key }) => button(word, () => this.actions.decide(number, painted(name, block, undefined)), { class: "quiet small" }, key));
  }
}
