// @ts-check
/**
 * Merging: a third person decides where annotators disagree (FIASCO, section 5). The result is stored under "merged".
 *
 * @typedef {import("./annotate-ledger.js").Label} Label
 * @typedef {import("./annotate-ledger.js").Change} Change
 * @typedef {import("./annotate-words.js").Block} Block
 * @typedef {import("./annotate-words.js").Brush} Brush
 * @typedef {{block: Block, labels: Map<string, Label>}} Case
 */
import { announce, api, busy, count, element, toast } from "./shell.js";
import { PageFrame } from "./page-frame.js";
import { listenToKeys } from "./annotate-keys.js";
import { openHistory } from "./annotate-history.js";
import { openKeys } from "./annotate-keys-help.js";
import { Ledger } from "./annotate-ledger.js";
import { mayLeave, takeBack } from "./annotate-bar.js";
import { MergeBar } from "./merge-bar.js";
import { MergeCases } from "./merge-cases.js";
import { Selection } from "./annotate-selection.js";
import { BRUSHES, inWords, painted } from "./annotate-words.js";

const MERGED = "merged";

export class MergeView {
  #leaving = new AbortController();
  /** @type {Block[]} */
  #blocks = [];
  /** @type {Case[]} the blocks that annotators disagree on */
  #cases = [];
  /** @type {string[]} */
  #annotators = [];
  /** @type {Map<string, Map<string, Label>>} */
  #said = new Map();
  /** The selected conflicts: a decision applies to all of them. */
  #selection = new Selection();
  #name = "";

  /**
   * @param {number} page
   * @param {string} by who merges
   */
  constructor(page, by) {
    this.page = page;
    this.by = by;
    this.path = `/api/annotate/pages/${page}`;
    this.ledger = new Ledger({
      send: (change, revision) => this.#send(change, revision),
      look: () => api(`${this.path}/labels?annotator=${MERGED}`),
      tell: () => this.#show(),
    });
    this.bar = new MergeBar({
      acceptAgreed: () => this.ledger.change({ type: "accept-agreed" }),
      takeAll: (annotator) => this.#takeAll(annotator),
      undo: () => takeBack(this.ledger, "undo"),
      redo: () => takeBack(this.ledger, "redo"),
      next: () => this.#nextOpen(),
      done: () => this.#markDone(),
      history: () => openHistory(this.page, this.#name, MERGED),
      keys: () => openKeys("merging"),
      retry: () => this.ledger.retry(),
      catchUp: (keepMine) => this.ledger.catchUp(keepMine).catch((error) => toast(error.message)),
    }, by);
    this.cases = new MergeCases({
      follow: (number, annotator) => this.#follow(annotator, this.#selectedWith(number)),
      paint: (number, brush) => this.#paint(brush, this.#selectedWith(number)),
      pick: (number, extend) => this.#goTo(number, true, extend || this.bar.extends),
      activate: (number) => { if (!this.#selection.has(number)) this.#goTo(number, false); },
      hover: (block) => this.frame.highlight(block ?? this.#cases[this.#selection.active]?.block.index ?? null),
    });
    this.place = element("div", { class: "frame-place" });
    this.frame = new PageFrame(this.place, {
      label: "The page; the blocks that annotators disagree on are in the list beside it",
      onPick: (/** @type {number} */ block, /** @type {PointerEvent} */ event) => this.#pick(block, event.shiftKey || this.bar.extends),
    });
    this.frame.addStyle(FRAME_STYLE);
    this.element = element(
      "section",
      { class: "merging", "aria-label": "Merging the labels of a page" },
      this.bar.element,
      element("div", { class: "panes label-panes" }, this.place, element("div", { class: "pane" }, this.cases.element)),
    );
  }

  /** @param {boolean} [anyway] even if the merging person has not finished labelling the page */
  async open(anyway = false) {
    const query = `by=${encodeURIComponent(this.by)}${anyway ? "&anyway=true" : ""}`;
    const view = await busy(this.element, api(`${this.path}/comparison?${query}`));
    this.#take(view);
    listenToKeys(this.#keys(), this.#leaving.signal);
    window.addEventListener("beforeunload", (event) => this.ledger.unsaved && event.preventDefault(), { signal: this.#leaving.signal });
    this.ledger.open(view.merged);
    await this.frame.load(view.frame);
    this.#nextOpen(true);
  }

  mayLeave() {
    return mayLeave(this.ledger);
  }

  close() {
    this.ledger.close();
    this.#leaving.abort();
  }

  /** @param {any} view */
  #take(view) {
    this.#name = view.name;
    document.title = `Merge ${view.name} · Annotate · mainmatter`;
    this.#blocks = view.blocks;
    this.#annotators = view.annotators.map((/** @type {{name: string}} */ one) => one.name);
    this.#said = new Map(Object.entries(view.labels).map(([name, labels]) => [name, new Map(Object.entries(/** @type {any} */ (labels)))]));
    const inConflict = new Set(view.conflicts);
    this.#cases = this.#blocks.filter((block) => inConflict.has(block.ref)).map((block) => ({ block, labels: this.#labelsOf(block) }));
    this.#selection.open(this.#cases.length);
    this.cases.load(this.#cases, this.#annotators);
    this.bar.load(view, this.#annotators);
  }

  /** @param {Block} block */
  #labelsOf(block) {
    /** @type {Map<string, Label>} */
    const labels = new Map();
    for (const name of this.#annotators) {
      const label = this.#said.get(name)?.get(block.ref);
      if (label) labels.set(name, label);
    }
    return labels;
  }

  /** @returns {Object<string, () => void>} */
  #keys() {
    /** @type {Object<string, () => void>} */
    const keys = {
      ArrowDown: () => this.#goTo(this.#selection.last + 1),
      ArrowUp: () => this.#goTo(this.#selection.first - 1),
      j: () => this.#goTo(this.#selection.last + 1),
      n: () => this.#goTo(this.#selection.last + 1),
      b: () => this.#goTo(this.#selection.first - 1),
      "Shift+ArrowDown": () => this.#goTo(this.#selection.active + 1, true, true),
      "Shift+ArrowUp": () => this.#goTo(this.#selection.active - 1, true, true),
      "Ctrl+a": () => { this.#goTo(0, false); this.#goTo(this.#cases.length - 1, true, true); },
      Escape: () => this.#goTo(this.#selection.active),
      u: () => this.#nextOpen(),
      z: () => takeBack(this.ledger, "undo"),
      "Ctrl+z": () => takeBack(this.ledger, "undo"),
      "Shift+Z": () => takeBack(this.ledger, "redo"),
      "Ctrl+Shift+Z": () => takeBack(this.ledger, "redo"),
      Backspace: () => this.#decide(this.#selection.blocks, () => null),
      "?": () => openKeys("merging"),
    };
    for (const { name, key } of BRUSHES) keys[key] = () => this.#paint(name, this.#selection.blocks);
    this.#annotators.slice(0, 9).forEach((annotator, i) => {
      keys[String(i + 1)] = () => this.#follow(annotator, this.#selection.blocks);
    });
    return keys;
  }

  /** The selected conflicts, if this is one of them; else this one alone. @param {number} number */
  #selectedWith(number) {
    if (!this.#selection.has(number)) this.#goTo(number);
    return this.#selection.blocks;
  }

  /**
   * @param {Brush} brush
   * @param {number[]} numbers of conflicts
   */
  #paint(brush, numbers) {
    this.#decide(numbers, ({ block, labels }) => painted(brush, block, [...labels.values()].find((label) => label.kept)));
  }

  /**
   * Decide conflicts as an annotator labelled them; those without a label by that annotator stay as they are.
   *
   * @param {string} annotator
   * @param {number[]} numbers
   */
  #follow(annotator, numbers) {
    const known = numbers.filter((number) => this.#cases[number]?.labels.has(annotator));
    if (known.length < numbers.length) toast(`${annotator} has not labelled ${numbers.length === 1 ? "this block" : `${numbers.length - known.length} of these blocks`}.`);
    this.#decide(known, ({ labels }) => labels.get(annotator) ?? null);
  }

  /** Take an annotator's labels for all selected conflicts or, if only one is selected, for all open ones. @param {string} annotator */
  #takeAll(annotator) {
    this.#follow(annotator, this.#selection.blocks.length > 1 ? this.#selection.blocks : this.#open());
  }

  /** The numbers of the conflicts that are not decided. */
  #open() {
    const { labels } = this.ledger;
    return [...this.#cases.keys()].filter((number) => !labels.has(this.#cases[number].block.ref));
  }

  /**
   * Decide conflicts: one change, which is undone as one.
   *
   * @param {number[]} numbers
   * @param {(one: Case) => Label | null} labelOf
   */
  #decide(numbers, labelOf) {
    const decided = numbers.flatMap((number) => this.#cases[number] ?? []).map((one) => /** @type {const} */ ([one.block.ref, labelOf(one)]));
    if (!decided.length) return;
    this.ledger.change({ type: "labels", labels: Object.fromEntries(decided) });
    const [[, label]] = decided;
    announce(decided.length === 1 ? `Decided: ${inWords(label)}` : `Decided: ${count(decided.length, "conflict")}`);
    if (label) this.#nextOpen();
  }

  #markDone() {
    const done = !this.ledger.seemsDone;
    const missing = this.#blocks.length - this.ledger.labels.size;
    if (done && missing && !window.confirm(`${count(missing, "block")} not merged yet. Mark the page as done anyway?`)) return;
    this.ledger.change({ type: "done", done });
  }

  /** @param {boolean} [first] begin with the first one */
  #nextOpen(first = false) {
    const labels = this.ledger.labels;
    const total = this.#cases.length;
    for (let i = first ? 0 : 1; i <= total; i += 1) {
      const number = (this.#selection.last + i) % Math.max(1, total);
      if (!labels.has(this.#cases[number]?.block.ref ?? "")) return this.#goTo(number);
    }
    return this.#goTo(this.#selection.active);
  }

  /**
   * @param {number} number
   * @param {boolean} [focus]
   * @param {boolean} [extend] leave the other end of the selection where it is
   */
  #goTo(number, focus = true, extend = false) {
    if (!this.#cases.length) return;
    const before = this.#selection.blocks.length;
    this.#selection.goTo(number, extend);
    const { active, blocks: selected } = this.#selection;
    const { block } = this.#cases[active];
    this.cases.select(selected.length > 1 ? selected : []);
    this.cases.activate(active, focus);
    this.frame.scrollTo(block.index);
    this.frame.highlight(block.index);
    if (selected.length > 1 || before > 1) {
      announce(`${count(selected.length, "conflict")} selected`);
      this.#showBar();
    }
  }

  /**
   * @param {number} block
   * @param {boolean} extend
   */
  #pick(block, extend) {
    const number = this.#cases.findIndex((one) => one.block.index === block);
    if (number >= 0) this.#goTo(number, true, extend);
    else toast("There is no conflict on this block.");
  }

  #show() {
    const { labels, pending } = this.ledger;
    this.#cases.forEach((one, number) => {
      this.cases.show(number, labels.get(one.block.ref) ?? null, pending.has(one.block.ref));
    });
    this.frame.setStates(this.#states(labels));
    this.frame.highlight(this.#cases[this.#selection.active]?.block.index ?? null);
    this.#showBar();
  }

  #showBar() {
    const { labels } = this.ledger;
    const agreed = this.#blocks.filter((block) => !labels.has(block.ref) && agree(this.#labelsOf(block))).length;
    const selected = this.#selection.blocks.length;
    this.bar.show(this.ledger, { open: this.#open().length, selected, agreed, cases: this.#cases.length, merged: labels.size, blocks: this.#blocks.length });
  }

  /** @param {Map<string, Label>} labels */
  #states(labels) {
    /** @type {Map<number, string>} */
    const states = new Map();
    const open = new Set(this.#cases.map((one) => one.block.index));
    for (const block of this.#blocks) {
      const label = labels.get(block.ref);
      if (label) states.set(block.index, label.kept ? "kept" : "dropped");
      else if (open.has(block.index)) states.set(block.index, "conflict");
      else {
        const said = this.#labelsOf(block);
        if (agree(said)) states.set(block.index, [...said.values()][0].kept ? "agreed-kept" : "agreed-dropped");
      }
    }
    return states;
  }

  /**
   * @param {Change} change
   * @param {number} revision
   */
  #send(change, revision) {
    return api(`${this.path}/${change.type}`, { json: { annotator: MERGED, by: this.by, revision, ...change, type: undefined } });
  }
}

const FRAME_STYLE = `
mm-block[data-state="agreed-kept"] {
  background: rgb(46 160 80 / 9%) !important; outline: 1px dotted rgb(27 127 62);
  box-shadow: 0 0 0 1px rgb(255 255 255 / 35%);
}
mm-block[data-state="agreed-dropped"] {
  background: rgb(205 110 95 / 9%) !important; color: color-mix(in srgb, currentColor 68%, transparent) !important;
  text-decoration: line-through dotted 1.5px currentColor; outline: 1px dotted rgb(190 75 60);
  box-shadow: 0 0 0 1px rgb(255 255 255 / 35%);
}
mm-block[data-focus] { outline: 3px solid rgb(176 96 0) !important; }
`;

/**
 * Whether all labels agree. The kinds of dropped blocks do not matter, except comments.
 * @param {Map<string, Label>} labels
 */
function agree(labels) {
  const [first, ...others] = labels.values();
  const kindOf = (/** @type {Label} */ { kept, kind }) => (kept || kind === "comment" ? kind : "");
  return first !== undefined && others.every((label) => label.kept === first.kept && kindOf(label) === kindOf(first));
}
