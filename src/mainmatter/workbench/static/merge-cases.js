// @ts-check
/**
 * The conflicts of a page, one under the other: what each annotator says, and what is decided.
 *
 * @typedef {import("./annotate-ledger.js").Label} Label
 * @typedef {import("./annotate-words.js").Brush} Brush
 * @typedef {import("./merge.js").Case} Case
 */
import { element } from "./shell.js";
import { button } from "./annotate-bar.js";
import { BRUSHES, inWords, same } from "./annotate-words.js";

export class MergeCases {
  /** @type {HTMLElement[]} */
  #rows = [];
  /** @type {Case[]} */
  #cases = [];

  /**
   * @param {{follow: (number: number, annotator: string) => void, paint: (number: number, brush: Brush) => void,
   *   pick: (number: number, extend: boolean) => void, activate: (number: number) => void,
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
    if (!cases.length) this.element.append(element("li", { class: "soft no-case" }, "No conflicts: all annotators of a block agree on it."));
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

  /** Show which ones are selected, if several are. @param {number[]} numbers */
  select(numbers) {
    const selected = new Set(numbers);
    this.#rows.forEach((row, number) => {
      row.classList.toggle("selected", selected.has(number));
      /** @type {HTMLElement} */ (row.querySelector(".is-selected")).hidden = !selected.has(number);
    });
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
      element("p", { class: "is-selected badge", hidden: true }, "selected"),
      element("p", { class: "case-text" }, block.text),
      element("div", { class: "row tight", role: "group", "aria-label": "Labels of the annotators" }, ...annotators.map((name, i) => this.#says(number, name, labels.get(name), i))),
      element("div", { class: "row tight others", role: "group", "aria-label": "Other decisions" }, ...this.#others(number)),
      element("p", { class: "decision small" }, "Not decided"),
    );
    row.addEventListener("pointerenter", () => this.actions.hover(block.index));
    row.addEventListener("pointerleave", () => this.actions.hover(null));
    row.addEventListener("mousedown", (/** @type {MouseEvent} */ event) => {
      if (event.button !== 0 || /** @type {Element} */ (event.target).closest("button")) return;
      if (event.shiftKey) event.preventDefault(); // no text is to be selected
      this.actions.pick(number, event.shiftKey);
    });
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
      () => this.actions.follow(number, name),
      { class: `says ${state}`, "data-annotator": name, "aria-pressed": "false", disabled: !label },
      i < 9 ? String(i + 1) : "",
    );
    return choice;
  }

  /** @param {number} number */
  #others(number) {
    const brushes = BRUSHES.filter(({ name }) => name !== "clear" && name !== "keep");
    return brushes.map(({ name, word, key }) => button(word, () => this.actions.paint(number, name), { class: "quiet small" }, key));
  }
}
