// @ts-check
/**
 * Labelling one page: the page in its frame, its blocks as a list, brushes, keys, and what is saved of it.
 *
 * @typedef {import("./annotate-words.js").Block} Block
 * @typedef {import("./annotate-words.js").Brush} Brush
 * @typedef {import("./annotate-ledger.js").Label} Label
 * @typedef {import("./annotate-ledger.js").Change} Change
 */
import { announce, api, busy, count, element, toast } from "./shell.js";
import { PageFrame } from "./page-frame.js";
import { BlockList } from "./annotate-blocks.js";
import { FRAME_STYLE, frameState } from "./annotate-frame.js";
import { LabelBar, mayLeave, takeBack } from "./annotate-bar.js";
import { openHistory } from "./annotate-history.js";
import { openKeys } from "./annotate-keys-help.js";
import { listenToKeys } from "./annotate-keys.js";
import { Ledger } from "./annotate-ledger.js";
import { range, Selection } from "./annotate-selection.js";
import { BRUSHES, inWords, nextInCycle, painted } from "./annotate-words.js";

export class LabelView {
  #leaving = new AbortController();
  #selection = new Selection();
  /** @type {Brush} */
  #brush = "cycle";
  /** @type {Block[]} */
  #blocks = [];
  /** @type {Label[] | null} what a method suggests, one a block, while suggestions are shown */
  #suggestions = null;
  #name = "";
  #offersNext = false; // when the page is stored as done, the next one is offered

  /**
   * @param {number} page
   * @param {string} annotator
   * @param {{next: (after: number) => Promise<number | null>}} places `next` finds a
   *   page that the annotator has yet to label.
   */
  constructor(page, annotator, places) {
    this.page = page;
    this.annotator = annotator;
    this.places = places;
    this.path = `/api/annotate/pages/${page}`;
    this.ledger = new Ledger({
      send: (change, revision) => this.#send(change, revision),
      look: () => api(`${this.path}/labels?annotator=${encodeURIComponent(annotator)}`),
      tell: () => this.#show(),
    });
    this.bar = new LabelBar({
      choose: (brush) => this.#chooseBrush(brush),
      undo: () => takeBack(this.ledger, "undo"),
      redo: () => takeBack(this.ledger, "redo"),
      dropRest: () => this.#dropRest(),
      nextUnlabelled: () => this.#goToUnlabelled(),
      suggest: (on) => this.#suggest(on),
      accept: () => this.#accept(),
      done: () => this.#markDone(),
      history: () => openHistory(this.page, this.#name, this.annotator),
      keys: () => openKeys(),
      retry: () => this.ledger.retry(),
      catchUp: (keepMine) => this.#catchUp(keepMine),
    }, annotator);
    this.list = new BlockList({
      onHover: (block) => this.#hover(block),
      onPick: (block, event) => this.#pick(block, event.shiftKey),
      onPaint: (from, to) => this.#paint(from, to),
    });
    this.place = element("div", { class: "frame-place" });
    this.frame = new PageFrame(this.place, {
      label: "The page; its blocks are also in the list beside it",
      onHover: (/** @type {number | null} */ block) => this.#hover(block),
      onPick: (/** @type {number} */ block, /** @type {PointerEvent} */ event) => this.#pick(block, event?.shiftKey ?? false),
      onDrag: (/** @type {number} */ from, /** @type {number} */ to, /** @type {boolean} */ isDone) => this.#drag(from, to, isDone),
    });
    this.frame.addStyle(FRAME_STYLE);
    this.lost = element("div", { class: "lost" });
    this.element = element(
      "section",
      { class: "labelling", "aria-label": "Labelling a page" },
      this.bar.element,
      this.lost,
      element(
        "div",
        { class: "panes label-panes" },
        this.place,
        element(
          "div",
          { class: "pane" },
          element(
            "p",
            { id: "block-list-help", class: "visually-hidden" },
            "Arrows move, Shift and arrows select several, the letters of the buttons label them.",
          ),
          this.list.element,
        ),
      ),
    );
  }

  async open() {
    const view = await busy(this.element, api(`${this.path}?annotator=${encodeURIComponent(this.annotator)}`));
    this.#name = view.name;
    document.title = `${view.name} · Annotate · mainmatter`;
    this.#blocks = view.blocks;
    this.#selection.open(view.blocks.length);
    this.list.load(view.blocks);
    this.bar.load(view);
    this.#showLost(view.lost);
    listenToKeys(this.#keys(), this.#leaving.signal);
    window.addEventListener("beforeunload", (event) => this.#warn(event), { signal: this.#leaving.signal });
    window.addEventListener("online", () => this.ledger.retry(), { signal: this.#leaving.signal });
    this.ledger.open(view);
    const first = this.#blocks.findIndex((block) => !this.ledger.labels.has(block.ref));
    this.#goTo(first > 0 ? first : 0);
    this.list.element.focus({ preventScroll: true });
    await this.frame.load(view.frame);
    this.frame.scrollTo(this.#selection.active);
    this.frame.highlight(this.#selection.active);
    this.place.dataset.loaded = "true";
  }

  mayLeave() {
    return mayLeave(this.ledger);
  }

  close() {
    this.ledger.close();
    this.#leaving.abort();
  }

  /** @param {BeforeUnloadEvent} event */
  #warn(event) {
    if (this.ledger.unsaved) event.preventDefault();
  }

  /** @returns {Object<string, () => void>} */
  #keys() {
    /** @type {Object<string, () => void>} */
    const keys = {
      ArrowDown: () => this.#step(1),
      ArrowUp: () => this.#step(-1),
      "Shift+ArrowDown": () => this.#step(1, true),
      "Shift+ArrowUp": () => this.#step(-1, true),
      j: () => this.#step(1),
      n: () => this.#step(1),
      b: () => this.#step(-1),
      Home: () => this.#goTo(0),
      End: () => this.#goTo(this.#blocks.length - 1),
      "Shift+Home": () => this.#goTo(0, true),
      "Shift+End": () => this.#goTo(this.#blocks.length - 1, true),
      u: () => this.#goToUnlabelled(),
      z: () => takeBack(this.ledger, "undo"),
      "Ctrl+z": () => takeBack(this.ledger, "undo"),
      "Shift+Z": () => takeBack(this.ledger, "redo"),
      "Ctrl+Shift+Z": () => takeBack(this.ledger, "redo"),
      "Ctrl+y": () => takeBack(this.ledger, "redo"),
      "Shift+D": () => this.#dropRest(),
      Backspace: () => this.#press("clear"),
      Delete: () => this.#press("clear"),
      Escape: () => this.#goTo(this.#selection.active),
      "Ctrl+Enter": () => this.#markDone(),
      "?": () => openKeys(),
    };
    for (const { name, key } of BRUSHES) keys[key] = () => this.#press(name);
    return keys;
  }

  /**
   * Label what is selected, and go on to the block after it.
   * @param {Brush} brush
   */
  #press(brush) {
    this.#label(brush, this.#selection.blocks);
    if (brush !== "clear") this.#step(1);
  }

  /**
   * @param {number} block
   * @param {boolean} extend
   */
  #pick(block, extend) {
    if (extend || this.bar.extends) return this.#extend(block);
    this.#goTo(block, false, false);
    return this.#label(this.#brush, [block]);
  }

  /**
   * Show what would be labelled while the pointer is drawn over the page, and label it when it is let go.
   * @param {number} from
   * @param {number} to
   * @param {boolean} isDone
   */
  #drag(from, to, isDone) {
    if (isDone) return this.#paint(from, to);
    this.#selection.goTo(from);
    return this.#goTo(to, true, false);
  }

  /**
   * Label all blocks from the one that was clicked before as that one is.
   * @param {number} block
   */
  #extend(block) {
    const from = this.#selection.anchor;
    const label = this.ledger.labels.get(this.#blocks[from].ref);
    this.#paint(from, block, label ? (label.kept ? "keep" : "drop") : "clear");
  }

  /**
   * Label all blocks between two. The cycle takes them all where a click would take the first.
   * @param {number} from
   * @param {number} to
   * @param {Brush} [inCycle] where the cycle takes them
   */
  #paint(from, to, inCycle = nextInCycle(this.ledger.labels.get(this.#blocks[from].ref))) {
    const brush = this.#brush === "cycle" ? inCycle : this.#brush;
    this.#selection.goTo(from);
    this.#goTo(to, true, false);
    this.#label(brush, range(from, to));
  }

  /**
   * @param {Brush} brush
   * @param {number[]} numbers
   */
  #label(brush, numbers) {
    const labels = this.ledger.labels;
    const changed = numbers.map((number) => this.#blocks[number]);
    const wanted = changed.map((block) => painted(brush, block, labels.get(block.ref)));
    this.#change(Object.fromEntries(changed.map((block, i) => [block.ref, wanted[i]])));
    const said = inWords(wanted[0]);
    announce(numbers.length === 1 ? `Block ${numbers[0] + 1}: ${said}` : `${count(numbers.length, "block")}: ${said}`);
  }

  /** @param {Object<string, Label | null>} labels */
  #change(labels) {
    if (Object.keys(labels).length) this.ledger.change({ type: "labels", labels });
  }

  #unlabelled() {
    const labels = this.ledger.labels;
    return this.#blocks.filter((block) => !labels.has(block.ref));
  }

  #dropRest() {
    const rest = this.#unlabelled();
    if (!rest.length) return toast("All blocks have a label.");
    this.#change(Object.fromEntries(rest.map((block) => [block.ref, painted("drop", block, undefined)])));
    return toast(`Dropped ${count(rest.length, "block")} that had no label. Z takes that back.`);
  }

  /** @param {boolean} on */
  async #suggest(on) {
    this.#suggestions = on ? (await busy(this.element, api(`${this.path}/suggestion`))).labels : null;
    this.#show();
  }

  #accept() {
    const given = this.#suggestions;
    if (!given) return;
    const rest = this.#unlabelled();
    this.#change(Object.fromEntries(rest.map((block) => [block.ref, given[block.index]])));
    toast(`Took over ${count(rest.length, "suggestion")}. Z takes that back.`);
  }

  #markDone() {
    const done = !this.ledger.seemsDone;
    const missing = this.#unlabelled().length;
    if (done && missing && !window.confirm(`${count(missing, "block")} without a label. Mark the page as done all the same?`)) return;
    this.ledger.change({ type: "done", done });
    this.#offersNext = done;
  }

  /** Once all is stored, so that the page can be left. */
  async #offerNext() {
    this.#offersNext = false;
    const next = await this.places.next(this.page).catch(() => null);
    if (this.#leaving.signal.aborted || !this.ledger.done) return;
    this.bar.offerNext(next);
    announce(next === null ? "Done. That was the last page." : "Done. The next page can be opened.");
  }

  /**
   * @param {1 | -1} step
   * @param {boolean} [extend]
   */
  #step(step, extend = false) {
    this.#selection.step(step, extend);
    this.#goTo(this.#selection.active, extend);
  }

  #goToUnlabelled() {
    const labels = this.ledger.labels;
    const after = range(1, Math.max(1, this.#blocks.length)).map((i) => (this.#selection.active + i) % this.#blocks.length);
    const next = after.find((block) => !labels.has(this.#blocks[block].ref));
    if (next === undefined) toast("All blocks have a label.");
    else this.#goTo(next);
  }

  /**
   * @param {number} block
   * @param {boolean} [extend]
   * @param {boolean} [scroll] bring the block into view in the frame; not where the pointer is on it
   */
  #goTo(block, extend = false, scroll = true) {
    if (!this.#blocks.length) return;
    this.#selection.goTo(block, extend);
    this.list.activate(this.#selection.active);
    if (scroll) this.frame.scrollTo(this.#selection.active);
    this.#show();
  }

  /** @param {number | null} block */
  #hover(block) {
    this.list.hover(block);
    this.frame.highlight(block ?? this.#selection.active);
  }

  /** @param {Brush} brush */
  #chooseBrush(brush) {
    this.#brush = this.#brush === brush ? "cycle" : brush;
    this.bar.showBrush(this.#brush);
  }

  #show() {
    const { labels, pending } = this.ledger;
    const lookOf = (/** @type {number} */ block) => {
      const { ref } = this.#blocks[block];
      return { label: labels.get(ref), suggestion: this.#suggestions?.[block], pending: pending.has(ref), selected: this.#selection.has(block) };
    };
    this.list.show(lookOf);
    this.frame.setStates((block) => (block < this.#blocks.length && frameState(lookOf(block))) || undefined);
    this.frame.highlight(this.#selection.active);
    this.bar.show(this.ledger, { labelled: labels.size, blocks: this.#blocks.length, suggesting: this.#suggestions !== null });
    if (this.#offersNext && this.ledger.state === "saved") void this.#offerNext();
  }

  /** @param {{text: string, label: Label}[]} lost */
  #showLost(lost) {
    this.lost.replaceChildren();
    if (!lost.length) return;
    this.lost.append(
      element(
        "details",
        { class: "note", open: true },
        element(
          "summary",
          {},
          `${count(lost.length, "label")} could not be carried over: the page is cut into other blocks now. Nothing was deleted; label these texts again.`,
        ),
        element("ul", {}, ...lost.map(({ text, label }) => element("li", {}, element("em", {}, `${inWords(label)}: `), text))),
      ),
    );
  }

  /**
   * @param {Change} change
   * @param {number} revision
   */
  #send(change, revision) {
    const body = { annotator: this.annotator, revision, ...change, type: undefined };
    return api(`${this.path}/${change.type}`, { json: body });
  }

  /** @param {boolean} keepMine */
  async #catchUp(keepMine) {
    try {
      await this.ledger.catchUp(keepMine);
      toast("This window shows what is stored now.");
    } catch (error) {
      toast(/** @type {Error} */ (error).message);
    }
  }
}
