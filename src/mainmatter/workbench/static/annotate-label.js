// @ts-check
/**
 * Labelling one page: the page in its frame, its blocks as a list, brushes, keys, and saving.
 *
 * @typedef {import("./annotate-words.js").Block} Block
 * @typedef {import("./annotate-words.js").Brush} Brush
 * @typedef {import("./annotate-ledger.js").Label} Label
 * @typedef {import("./annotate-ledger.js").Change} Change
 */
import { announce, api, busy, count, element, toast } from "./shell.js";
import { PageFrame } from "./page-frame.js";
import { BlockList } from "./annotate-blocks.js";
import { RecurringBlocks } from "./annotate-recurring.js";
import { isOpen, sureness, Suggestions } from "./annotate-suggestions.js";
import { FRAME_STYLE, frameState } from "./annotate-frame.js";
import { LabelBar, mayLeave, takeBack } from "./annotate-bar.js";
import { openHistory } from "./annotate-history.js";
import { openKeys } from "./annotate-keys-help.js";
import { listenToKeys } from "./annotate-keys.js";
import { Ledger } from "./annotate-ledger.js";
import { range, Selection } from "./annotate-selection.js";
import { BRUSHES, inWords, modelInWords, nextInCycle, OF_SITES, painted } from "./annotate-words.js";

export class LabelView {
  #leaving = new AbortController();
  #selection = new Selection();
  /** @type {Brush} */
  #brush = "cycle";
  /** @type {Block[]} */
  #blocks = [];
  /** @type {Suggestions | null} while suggestions are shown */
  #suggestions = null;
  #name = "";
  /** @type {Set<string>} what was changed in this window */
  #touched = new Set();
  #changed = ""; // when the labels were changed, before the page was opened
  #offersNext = false; // when the page is stored as done, the next one is offered, or opened

  /**
   * @param {number} page
   * @param {string} annotator
   * @param {{mode: import("./annotate-mode.js").Mode, next: (after: number) => Promise<number | null>,
   *   teaching: import("./annotate-teaching.js").BackgroundTeaching}} places `next` finds a page that the annotator has
   *   yet to label.
   */
  constructor(page, annotator, places) {
    this.page = page;
    this.annotator = annotator;
    this.places = places;
    this.teaches = places.mode === "teach";
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
      next: () => this.#goToNext(),
      suggest: (on) => this.#suggest(on),
      accept: () => this.#accept(),
      acceptRest: () => this.#acceptRest(),
      alike: () => this.#labelAlike(this.#selection.active),
      done: () => this.#markDone(),
      reopen: () => this.ledger.change({ type: "done", done: false }),
      history: () => openHistory(this.page, this.#name, this.annotator),
      keys: () => openKeys(this.teaches ? "teaching" : "labelling"),
      retry: () => this.ledger.retry(),
      catchUp: (keepMine) => this.#catchUp(keepMine),
    }, annotator, places.mode);
    this.recurring = new RecurringBlocks(this.path, annotator, {
      chanceOf: (key) => this.#chanceOf(key),
      mayAsk: () => !this.ledger.unsaved,
      dropped: (blocks, pages) => this.#droppedEverywhere(blocks, pages),
    });
    this.list = new BlockList({
      onHover: (block) => this.#hover(block),
      onPick: (block, event) => this.#pick(block, event),
      onPaint: (from, to) => this.#paint(from, to),
    });
    this.place = element("div", { class: "frame-place" });
    this.frame = new PageFrame(this.place, {
      label: "The page; its blocks are also in the list beside it",
      onHover: (/** @type {number | null} */ block) => this.#hover(block),
      onPick: (/** @type {number} */ block, /** @type {PointerEvent} */ event) => this.#pick(block, event),
      onDrag: (/** @type {number} */ from, /** @type {number} */ to, /** @type {boolean} */ isDone) => this.#drag(from, to, isDone),
    });
    this.frame.addStyle(FRAME_STYLE);
    this.lost = element("div", { class: "lost" });
    this.element = element(
      "section",
      { class: "labelling", "aria-label": "Labelling a page" },
      this.bar.element,
      this.recurring.element,
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
            "Arrow keys move, Shift with arrow keys selects several, and the letters on the buttons label them.",
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
    this.#changed = view.changed;
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
    if (this.teaches) this.#suggest(true).catch((error) => toast(error.message));
    await this.frame.load(view.frame);
    this.frame.scrollTo(this.#selection.active);
    this.frame.highlight(this.#selection.active);
    this.place.dataset.loaded = "true";
    if (!this.teaches || this.#leaving.signal.aborted) return;
    void this.recurring.look();
    this.places.teaching.watch((stand) => {
      this.bar.showTeaching(stand);
      if (this.#suggestions && stand.version !== this.#suggestions.version) void this.#refresh();
    });
  }

  mayLeave() {
    return mayLeave(this.ledger);
  }

  close() {
    this.ledger.close();
    this.places.teaching.stop();
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
      u: () => this.#goToNext(),
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
      "?": () => openKeys(this.teaches ? "teaching" : "labelling"),
    };
    for (const { name, key } of BRUSHES) keys[key] = () => this.#press(name);
    if (this.teaches) {
      Object.assign(keys, {
        a: () => this.#accept(),
        "Shift+A": () => this.#acceptRest(),
        f: () => this.#flip(),
        e: () => this.#labelAlike(this.#selection.active),
        g: () => this.#markDone(),
        t: () => this.recurring.open() || toast("This site has no recurring blocks that you have not labelled."),
      });
    }
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
   * A block's label or, without one, its suggestion.
   * @param {number} block
   * @param {Map<string, Label>} [labels]
   */
  #saidOf(block, labels = this.#labels) {
    return labels.get(this.#blocks[block].ref) ?? this.#suggestions?.labels[block];
  }

  /**
   * The labels, without those that were only accepted from an older model: the current one knows better. Changes made in
   * this window stay.
   */
  get #labels() {
    const labels = this.ledger.labels;
    const suggestions = this.#suggestions;
    if (!this.teaches || !suggestions?.isNewerThan(this.#changed) || this.ledger.seemsDone) return labels;
    for (const [ref, label] of labels) if (label.suggested_by && label.suggested_by !== OF_SITES && !this.#touched.has(ref)) labels.delete(ref);
    return labels;
  }

  /**
   * What a click makes of a block: in Teach mode, the opposite of its label or suggestion.
   * @param {number} block
   * @returns {Brush}
   */
  #clicked(block) {
    if (this.teaches) return this.#saidOf(block)?.kept ? "drop" : "keep";
    return nextInCycle(this.ledger.labels.get(this.#blocks[block].ref));
  }

  /** Flip the selected blocks, all as the first one; they stay selected, so that E can label all blocks like them. */
  #flip() {
    if (this.#blocks.length) this.#label(this.#clicked(this.#selection.first), this.#selection.blocks);
  }

  /**
   * The blocks that are built like one, without it and those that the annotator has labelled.
   * @param {number} block
   */
  #alike(block) {
    const alike = this.#suggestions?.alike;
    if (!alike) return [];
    const labels = this.ledger.labels;
    return this.#blocks.filter(({ index, ref }) => index !== block && alike[index] === alike[block] && isOpen(labels.get(ref))).map(({ index }) => index);
  }

  /**
   * The blocks built like one that are kept where it is dropped, or the other way round.
   * @param {number} block
   */
  #alikeButOther(block) {
    const labels = this.#labels;
    const kept = this.#saidOf(block, labels)?.kept;
    return this.#alike(block).filter((other) => this.#saidOf(other, labels)?.kept !== kept);
  }

  /**
   * Keep or drop all blocks that are built like one, as that one is.
   * @param {number} block
   */
  #labelAlike(block) {
    const others = this.#alikeButOther(block);
    if (!others.length) return toast("No block like this one differs from it.");
    return this.#label(this.#saidOf(block)?.kept ? "keep" : "drop", [...others, block]);
  }

  /**
   * @param {number} block
   * @param {PointerEvent | MouseEvent} [event]
   */
  #pick(block, event) {
    if (event?.shiftKey || this.bar.extends) return this.#extend(block);
    this.#goTo(block, false, false);
    if (this.teaches && (event?.altKey || event?.ctrlKey || event?.metaKey)) {
      return this.#label(this.#clicked(block), [block, ...this.#alike(block)]);
    }
    return this.#label(this.#brush === "cycle" ? this.#clicked(block) : this.#brush, [block]);
  }

  /**
   * Show what would be labelled while the pointer is dragged over the page; label it when the button is released.
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
   * Give all blocks from the one clicked last the label of that one.
   * @param {number} block
   */
  #extend(block) {
    const from = this.#selection.anchor;
    const label = this.teaches ? this.#saidOf(from) : this.ledger.labels.get(this.#blocks[from].ref);
    this.#paint(from, block, label ? (label.kept ? "keep" : "drop") : "clear");
  }

  /**
   * Label all blocks between two. Without a chosen label, all get what a click would give the first.
   * @param {number} from
   * @param {number} to
   * @param {Brush} [inCycle] what they get without a chosen label
   */
  #paint(from, to, inCycle = this.#clicked(from)) {
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
    for (const ref of Object.keys(labels)) this.#touched.add(ref);
    if (Object.keys(labels).length) this.ledger.change({ type: "labels", labels });
  }

  #unlabelled() {
    const labels = this.#labels;
    return this.#blocks.filter((block) => !labels.has(block.ref));
  }

  #dropRest() {
    const rest = this.#unlabelled();
    if (!rest.length) return toast("All blocks have a label.");
    this.#change(Object.fromEntries(rest.map((block) => [block.ref, painted("drop", block, undefined)])));
    return toast(`Dropped ${count(rest.length, "unlabelled block")}. Press Z to undo.`);
  }

  /** @param {boolean} on */
  async #suggest(on) {
    this.#suggestions = on ? new Suggestions(await busy(this.element, api(`${this.path}/suggestion`))) : null;
    if (this.#leaving.signal.aborted) return;
    this.#show();
  }

  /** A new model was taught in the background: show its suggestions for all unlabelled blocks. */
  async #refresh() {
    const before = this.#suggestions?.version;
    await this.#suggest(true).catch(() => undefined); // quiet: the suggestions of before stay
    const now = this.#suggestions;
    if (!now || now.version === before || this.#leaving.signal.aborted) return;
    toast(`New suggestions by ${modelInWords(now.model)}${now.pages ? `, taught with ${count(now.pages, "page")}` : ""}. Your labels stay.`);
  }

  /** Confirm the suggestions for the selected blocks: they become the annotator's own labels. */
  #accept() {
    const labels = this.#labels;
    const blocks = this.#selection.blocks.filter((block) => this.#saidOf(block, labels));
    if (!blocks.length) return toast("There is no suggestion here.");
    this.#change(Object.fromEntries(blocks.map((block) => {
      const { kept, kind } = /** @type {Label} */ (this.#saidOf(block, labels));
      return [this.#blocks[block].ref, { kept, kind }];
    })));
    announce(`${count(blocks.length, "block")}: ${inWords(this.#saidOf(blocks[0]))}`);
    return this.#step(1);
  }

  /** Accept the suggestions for all unlabelled blocks; the labels record that they were only accepted. */
  #acceptRest(isQuiet = false) {
    const given = this.#suggestions?.labels;
    if (!given) return;
    const rest = this.#unlabelled();
    this.#change(Object.fromEntries(rest.map((block) => [block.ref, given[block.index]])));
    if (!isQuiet) toast(`Accepted ${count(rest.length, "suggestion")}. Press Z to undo.`);
  }

  #markDone() {
    if (this.teaches) {
      if (this.ledger.seemsDone) return void this.#offerNext();
      if (!this.#suggestions && this.#unlabelled().length) return toast("The suggestions have not arrived yet. Wait a moment, or label the rest yourself.");
      this.#acceptRest(true);
      this.#offersNext = true;
      return this.ledger.change({ type: "done", done: true });
    }
    const done = !this.ledger.seemsDone;
    const missing = this.#unlabelled().length;
    if (done && missing && !window.confirm(`${count(missing, "unlabelled block")}. Mark the page as done anyway?`)) return undefined;
    this.ledger.change({ type: "done", done });
    this.#offersNext = done;
    return undefined;
  }

  /** Offer or open the next page, once everything is stored. */
  async #offerNext() {
    this.#offersNext = false;
    if (this.teaches) this.places.teaching.pageIsDone();
    const next = await this.places.next(this.page).catch(() => null);
    if (this.#leaving.signal.aborted || !this.ledger.done) return;
    if (this.teaches && next !== null) {
      location.hash = `#/page/${next}`;
      return;
    }
    this.bar.offerNext(next);
    announce(next === null ? "Done. That was the last page." : "Done. You can open the next page.");
  }

  /**
   * @param {1 | -1} step
   * @param {boolean} [extend]
   */
  #step(step, extend = false) {
    this.#selection.step(step, extend);
    this.#goTo(this.#selection.active, extend);
  }

  /** Go to the block that the model is least sure of, or the next unlabelled one. */
  #goToNext() {
    const labels = this.#labels;
    if (this.teaches && this.#suggestions) {
      const block = this.#suggestions.nextUnsure(this.#blocks, labels);
      if (block === null) return toast("You have confirmed all blocks.");
      this.#goTo(block);
      const said = /** @type {Label} */ (this.#saidOf(block));
      return announce(`Block ${block + 1}: ${inWords(said)}, ${Math.round(100 * this.#suggestions.chance(block, said))} % sure`);
    }
    const after = range(1, Math.max(1, this.#blocks.length)).map((i) => (this.#selection.active + i) % this.#blocks.length);
    const next = after.find((block) => !labels.has(this.#blocks[block].ref));
    if (next === undefined) return toast("All blocks have a label.");
    return this.#goTo(next);
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
    const { pending } = this.ledger;
    const labels = this.#labels;
    const lookOf = (/** @type {number} */ block) => {
      const { ref } = this.#blocks[block];
      const label = labels.get(ref);
      const chance = isOpen(label) ? this.#suggestions?.chance(block, label) : undefined;
      return {
        label, suggestion: this.#suggestions?.labels[block], chance, sureness: chance === undefined ? "" : sureness(chance),
        pending: pending.has(ref), selected: this.#selection.has(block),
      };
    };
    this.list.show(lookOf);
    this.frame.setStates((block) => (block < this.#blocks.length && frameState(lookOf(block))) || undefined);
    this.frame.highlight(this.#selection.active);
    const own = [...labels.values()].filter((label) => !label.suggested_by).length;
    const unsure = this.#suggestions ? this.#blocks.filter((_, block) => lookOf(block).sureness === "unsure").length : 0;
    this.bar.show(this.ledger, { labelled: labels.size, own, unsure, alike: this.teaches && this.#blocks.length ? this.#alikeButOther(this.#selection.active).length : 0, blocks: this.#blocks.length, suggestions: this.#suggestions });
    if (this.#offersNext && this.ledger.state === "saved") void this.#offerNext();
  }

  /** How likely a block of this page is main matter; `key` is the beginning of its reference. @param {string} key */
  #chanceOf(key) {
    const block = this.#blocks.find(({ ref }) => ref.startsWith(`${key}-`));
    return block ? this.#suggestions?.scores[block.index] ?? 0 : 0;
  }

  /**
   * The server has dropped the site's recurring blocks, including those of this page.
   * @param {number} blocks
   * @param {number} pages
   */
  async #droppedEverywhere(blocks, pages) {
    await this.#catchUp(true);
    toast(`Dropped ${count(blocks, "block")} on ${count(pages, "page")}. Press Z to undo it on this page.`);
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
          `${count(lost.length, "label")} could not be carried over, because the page is now cut into different blocks. Nothing was deleted; label these texts again.`,
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
      toast("This window now shows the stored labels.");
    } catch (error) {
      toast(/** @type {Error} */ (error).message);
    }
  }
}
