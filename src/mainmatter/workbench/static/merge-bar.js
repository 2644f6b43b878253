// @ts-check
/**
 * The bar above a page that is being merged: agreement, what is decided, what is saved.
 *
 * @typedef {import("./annotate-ledger.js").Ledger} Ledger
 */
import { count, element } from "./shell.js";
import { button, figure, SavedState, wayBack } from "./annotate-bar.js";
import { kappaInWords, percent } from "./annotate-words.js";

/** What the tints of the page mean: solid is decided, dotted is what accepting all that agree would decide. */
const LEGEND = [
  ["kept", "decided: kept"], ["dropped", "decided: dropped"],
  ["agreed kept", "all keep it"], ["agreed dropped", "all drop it"], ["conflict", "conflict"],
];

export class MergeBar {
  /**
   * @param {{acceptAgreed: () => void, takeAll: (annotator: string) => void, undo: () => void, redo: () => void, next: () => void, done: () => void,
   *   history: () => void, keys: () => void, retry: () => void, catchUp: (keepMine: boolean) => void}} actions
   * @param {string} by who merges
   */
  constructor(actions, by) {
    this.actions = actions;
    this.name = element("h2", { class: "page-name" });
    this.url = element("p", { class: "soft small page-url" });
    this.progress = element("span", { class: "soft" });
    this.state = new SavedState(actions);
    this.done = button("Mark merged as done", actions.done, { class: "primary" });
    this.accept = button("Accept all that agree", actions.acceptAgreed);
    /** For each annotator, the button that takes what they say. @type {Map<string, HTMLButtonElement>} */
    this.takers = new Map();
    this.taking = element("span", { class: "row tight", role: "group", "aria-label": "Take all from one annotator" });
    this.several = element("input", { type: "checkbox" });
    this.undo = button("Undo", actions.undo, {}, "z");
    this.redo = button("Redo", actions.redo);
    this.figures = element("dl", { class: "figures", "aria-label": "Agreement" });
    this.element = element(
      "div",
      { class: "label-bar" },
      element(
        "div",
        { class: "label-head" },
        element("div", { class: "grow" }, wayBack(by), this.name, this.url),
        element("div", { class: "row" }, this.progress, this.state.element, this.done),
      ),
      this.figures,
      element(
        "div",
        { class: "row tight", role: "group", "aria-label": "Merge" },
        this.accept,
        this.taking,
        element("label", { class: "check small", title: "The next click selects all conflicts from the active one to the one you click, as Shift+click does" }, this.several, "Select up to the next click"),
        button("Next open conflict", actions.next, {}, "u"),
        this.undo,
        this.redo,
        button("History", actions.history, { class: "quiet" }),
        button("Keys", actions.keys, { class: "quiet" }, "?"),
      ),
      element("p", { class: "legend" }, ...LEGEND.flatMap(([kind, words]) => [element("span", { class: `badge ${kind}` }, words), " "])),
      this.state.alert,
    );
  }

  /** Whether a click selects all conflicts since the last click, as with Shift: for devices without that key. */
  get extends() {
    const on = this.several.checked;
    this.several.checked = false;
    return on;
  }

  /**
   * @param {any} view
   * @param {string[]} annotators
   */
  load(view, annotators) {
    this.takers = new Map(annotators.map((name) => [name, button("", () => this.actions.takeAll(name))]));
    this.taking.replaceChildren(...this.takers.values());
    this.name.textContent = `Merge: ${view.name}`;
    this.url.textContent = view.url ?? "";
    this.url.hidden = !view.url || view.url === view.name;
    this.figures.replaceChildren(...view.agreement.flatMap(pairFigures));
  }

  /**
   * @param {Ledger} ledger
   * @param {{open: number, selected: number, agreed: number, cases: number, merged: number, blocks: number}} facts
   */
  show(ledger, { open, selected, agreed, cases, merged, blocks }) {
    const isRange = selected > 1;
    for (const [name, taker] of this.takers) {
      taker.textContent = `Take all of ${name}’s (${isRange ? `${selected} selected` : `${open} open`})`;
      taker.disabled = !isRange && !open;
    }
    this.progress.textContent = `${isRange ? `${count(selected, "conflict")} selected · ` : ""}${cases - open} of ${count(cases, "conflict")} decided · ${merged} of ${count(blocks, "block")} merged`;
    this.state.show(ledger);
    this.accept.textContent = agreed ? `Accept all that agree (${agreed})` : "Accept all that agree";
    this.accept.disabled = !agreed;
    this.undo.disabled = !ledger.canUndo && !ledger.unsaved;
    this.redo.disabled = !ledger.canRedo;
    this.done.textContent = ledger.seemsDone ? "Reopen" : "Mark merged as done";
  }
}

/** @param {{annotators: string[], text: number | null, kept: number | null, kept_kappa: number | null, kind_kappa: number | null, blocks: number}} pair */
function pairFigures(pair) {
  const text = pair.text === null ? "–" : `${pair.text.toFixed(1)} %`;
  return [
    figure(pair.annotators.join(" and "), `${text} of the text`, "FIASCO's minimal edit distance between the two clean texts, as a similarity"),
    figure("keep or drop", `${percent(pair.kept)}, κ ${kappaInWords(pair.kept_kappa)}`, `Cohen's kappa over ${count(pair.blocks, "block")}`),
    figure("kinds", `κ ${kappaInWords(pair.kind_kappa)}`, "Cohen's kappa over heading, paragraph, list item, comment"),
  ];
}
