// @ts-check
/**
 * What stands above a page that is labelled: its name, what is saved, the brushes, and what can be done with the whole.
 *
 * @typedef {import("./annotate-words.js").Brush} Brush
 * @typedef {import("./annotate-ledger.js").Ledger} Ledger
 * @typedef {import("./annotate-suggestions.js").Suggestions} Suggestions
 * @typedef {{choose: (brush: Brush) => void, undo: () => void, redo: () => void, dropRest: () => void, next: () => void,
 *   suggest: (on: boolean) => Promise<void>, accept: () => void, acceptRest: () => void, alike: () => void, done: () => void,
 *   reopen: () => void, history: () => void, keys: () => void, retry: () => void,
 *   catchUp: (keepMine: boolean) => void}} Actions
 */
import { count, element, toast } from "./shell.js";
import { switchTeaching, teachesMeanwhile } from "./annotate-mode.js";
import { BRUSHES, modelInWords } from "./annotate-words.js";

/**
 * Whether a page may be left: all is saved, or the user does not mind.
 * @param {Ledger} ledger
 */
export function mayLeave(ledger) {
  const left = ledger.unsaved;
  return !left || window.confirm(`${count(left, "change")} not saved yet. Leave this page and lose ${left === 1 ? "it" : "them"}?`);
}

/**
 * @param {Ledger} ledger
 * @param {"undo" | "redo"} type
 */
export function takeBack(ledger, type) {
  if (type === "undo" ? ledger.canUndo || ledger.unsaved : ledger.canRedo) ledger.change({ type });
  else toast(type === "undo" ? "There is nothing to undo." : "There is nothing to do again.");
}

export class LabelBar {
  /**
   * @param {Actions} actions
   * @param {string} annotator
   * @param {import("./annotate-mode.js").Mode} mode
   */
  constructor(actions, annotator, mode) {
    this.actions = actions;
    this.annotator = annotator;
    this.mode = mode;
    this.name = element("h2", { class: "page-name" });
    this.url = element("p", { class: "soft small page-url" });
    this.state = new SavedState(actions);
    this.progress = element("span", { class: "soft number" });
    this.done = button(this.#doneWord, actions.done, { id: "done", class: "primary", title: this.#teaches ? "Accept the rest, and go on to the next page: G, or Ctrl+Enter" : "Ctrl+Enter" }, this.#teaches ? "g" : "");
    this.reopen = button("Open it again", actions.reopen, { class: "quiet", hidden: true });
    this.next = element("span", {});
    this.undo = button("Undo", actions.undo, { title: "Z" }, "z");
    this.redo = button("Redo", actions.redo, { title: "Shift+Z" });
    this.accept = button("Take over for all without a label", actions.acceptRest, { id: "accept-rest", hidden: true });
    this.alike = button("Same for all like it", actions.alike, { id: "alike", disabled: true, title: "E: keep or drop all blocks that are built like the active one, as that one is; Alt or Ctrl and a click flips them all" }, "e");
    this.several = element("input", { type: "checkbox" });
    this.suggesting = this.#suggestingBox();
    this.model = element("span", { id: "suggesting-model", class: "small soft" });
    this.teaching = element("span", { id: "teaching-state" });
    /** @type {Map<Brush, HTMLButtonElement>} */
    this.brushes = new Map(BRUSHES.map((brush) => [brush.name, this.#brushButton(brush)]));
    this.element = element("div", { class: "label-bar" }, this.#head(), this.#tools(), this.state.alert);
  }

  /** Whether a click labels all blocks from the one before it on: what Shift does where there is no such key. */
  get extends() {
    const on = this.several.checked;
    this.several.checked = false;
    return on;
  }

  get #teaches() {
    return this.mode === "teach";
  }

  get #doneWord() {
    return this.#teaches ? "Done, next" : "Mark as done";
  }

  /** @param {{name: string, url: string | null, note: string}} page */
  load(page) {
    this.name.textContent = page.name;
    this.url.textContent = [page.url === page.name ? "" : page.url, page.note].filter(Boolean).join(" · ");
    this.url.hidden = !this.url.textContent;
  }

  /**
   * @param {Ledger} ledger
   * @param {{labelled: number, own: number, unsure: number, alike: number, blocks: number, suggestions: Suggestions | null}} facts
   *   `own` of the labels are more than accepted; of `unsure` blocks the model is not sure, and the annotator has not said;
   *   `alike` blocks are built like the active one, and said to be something else
   */
  show(ledger, { labelled, own, unsure, alike, blocks, suggestions }) {
    this.alike.disabled = !alike;
    this.alike.firstChild?.replaceWith(alike ? `Same for ${alike} like it` : "Same for all like it");
    this.progress.textContent = this.#teaches ? `${count(blocks, "block")}, ${own} by you, ${unsure} unsure` : `${labelled} of ${blocks} labelled`;
    this.state.show(ledger);
    this.undo.disabled = !ledger.canUndo && !ledger.unsaved;
    this.redo.disabled = !ledger.canRedo;
    const { seemsDone } = ledger;
    this.done.firstChild?.replaceWith(this.#teaches ? (seemsDone ? "Next page" : this.#doneWord) : seemsDone ? "Open it again" : this.#doneWord);
    this.done.classList.toggle("primary", this.#teaches || !seemsDone);
    this.reopen.hidden = !this.#teaches || !seemsDone;
    if (!seemsDone) this.next.replaceChildren();
    this.accept.hidden = !suggestions;
    this.model.textContent = suggestions ? `Suggestions by ${modelInWords(suggestions.model)}${suggestions.pages ? `, taught with ${count(suggestions.pages, "page")}` : ""}` : "";
  }

  /** @param {import("./annotate-teaching.js").Stand} stand */
  showTeaching({ state, done, next_at: nextAt, share, error }) {
    const words = {
      running: `learning, ${Math.round(100 * share)} %`,
      waiting: nextAt > done ? `learns again in ${count(nextAt - done, "page")}` : "learns after the next page",
      failed: "could not learn; see Teach",
    };
    this.teaching.textContent = teachesMeanwhile() || state === "running" ? words[state] : "";
    this.teaching.title = error;
  }

  /** @param {Brush} brush */
  showBrush(brush) {
    for (const [name, one] of this.brushes) one.setAttribute("aria-pressed", String(name === brush));
  }

  /** @param {number | null} next */
  offerNext(next) {
    const link = next === null
      ? element("a", { href: "#/" }, "That was the last one: all pages")
      : element("a", { href: `#/page/${next}`, class: "button primary" }, "Next page");
    this.next.replaceChildren(link);
    link.focus();
  }

  #head() {
    return element(
      "div",
      { class: "label-head" },
      element("div", { class: "grow" }, wayBack(this.annotator), this.name, this.url),
      element(
        "div",
        {},
        element("div", { class: "row" }, this.progress, this.state.element, this.next, this.reopen, this.done),
        this.#teaches ? element("p", { class: "small soft by-whom" }, this.model, this.teaching, this.#meanwhileBox()) : null,
      ),
    );
  }

  #tools() {
    const { actions } = this;
    return element(
      "div",
      { class: "tools" },
      element("div", { class: "brushes", role: "group", "aria-label": "Label blocks" }, ...this.brushes.values()),
      element("p", { class: "soft small how" }, this.#teaches
        ? "Click what is wrong: it flips. Drag over several; Alt and a click flips all that are like it."
        : "A click keeps a block, a second one drops it; drag over several. Or choose a label first, then click."),
      element(
        "div",
        { class: "row tight", role: "group", "aria-label": "Changes" },
        this.undo,
        this.redo,
        ...(this.#teaches ? this.#teachTools() : this.#goldTools()),
        element("label", { class: "check", title: "The next click labels all blocks from the active one to it" }, this.several, "Label up to the next click"),
        ...(this.#teaches ? [] : [this.suggesting, this.accept, this.model]),
        button("History", actions.history, { class: "quiet" }),
        button("Keys", actions.keys, { class: "quiet" }, "?"),
      ),
    );
  }

  /** @param {{name: Brush, key: string, word: string, about: string}} brush */
  #brushButton({ name, key, word, about }) {
    return button(word, () => this.actions.choose(name), { class: `brush ${name}`, "aria-pressed": "false", title: `${about} (${key})` }, key);
  }

  #goldTools() {
    return [
      button("Next without label", this.actions.next, { title: "U" }, "u"),
      button("Drop the rest", this.actions.dropRest, { title: "Shift+D: drop all blocks that have no label yet" }, "⇧d"),
    ];
  }

  #teachTools() {
    return [
      this.alike,
      button("Least sure", this.actions.next, { id: "next-unsure", title: "U: the block that the model is least sure of, of those that you have not confirmed" }, "u"),
      button("Right", this.actions.accept, { id: "accept", title: "A: what is suggested for the selected blocks is right" }, "a"),
      button("All the rest is right", this.actions.acceptRest, { id: "accept-rest", title: "Shift+A: accept what is suggested for all blocks without a label" }, "⇧a"),
    ];
  }

  #meanwhileBox() {
    const box = element("input", { id: "teach-meanwhile", type: "checkbox", checked: teachesMeanwhile() });
    box.addEventListener("change", () => switchTeaching(box.checked));
    return element("label", { class: "check", title: "From the fourth page that is done, a model learns in the background, and again after two more" }, box, "Teach meanwhile");
  }

  #suggestingBox() {
    const box = element("input", { type: "checkbox", "aria-describedby": "suggestion-warning" });
    box.addEventListener("change", () => {
      this.actions.suggest(box.checked).catch((error) => {
        box.checked = false;
        toast(error.message);
      });
    });
    const warning = "Suggestions pull annotators towards what the method does already. Leave them off for a gold standard.";
    return element(
      "span",
      { class: "suggesting" },
      element("label", { class: "check", title: warning }, box, "Suggestions"),
      element("span", { id: "suggestion-warning", class: "small soft suggestion-warning" }, warning),
    );
  }
}

/**
 * A figure with its name, and what it means for who points at it; part of a list.
 * @param {string} name
 * @param {string} value
 * @param {string} about
 */
export function figure(name, value, about) {
  return element("div", { class: "figure", title: about }, element("dt", {}, name), element("dd", {}, value));
}

/**
 * Open a dialog that is gone when it is closed.
 * @param {string} title
 * @param {Record<string, any>} properties
 * @param {...HTMLElement} content
 */
export function openDialog(title, properties, ...content) {
  const head = element("div", { class: "row dialog-head" }, element("h2", { class: "grow" }, title), button("Close", () => dialog.close()));
  const dialog = element("dialog", { "aria-label": title, ...properties }, head, ...content);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

/**
 * The way back to all pages, and whose work this is.
 * @param {string} annotator
 */
export function wayBack(annotator) {
  return element("p", { class: "small way-back" }, element("a", { href: "#/" }, "← All pages"), element("span", { class: "soft" }, " · you are ", element("strong", {}, annotator)));
}

/** Says what is saved and what is not, and what to do about it. */
export class SavedState {
  /** @param {{retry: () => void, catchUp: (keepMine: boolean) => void}} actions */
  constructor(actions) {
    this.actions = actions;
    this.element = element("span", { class: "saved", role: "status", "data-saved": "saved" }, "Saved");
    this.alert = element("div", { class: "label-alert", role: "alert" });
    this.shown = "";
  }

  /** @param {Ledger} ledger */
  show(ledger) {
    this.element.dataset.saved = ledger.state;
    this.element.textContent = savedInWords(ledger);
    const key = `${ledger.state}|${ledger.message}|${ledger.unsaved}`;
    if (this.shown === key) return;
    this.shown = key;
    if (ledger.state === "stale") this.alert.replaceChildren(this.#stale(ledger));
    else if (ledger.state === "refused") this.alert.replaceChildren(this.#refused(ledger));
    else this.alert.replaceChildren();
  }

  /** @param {Ledger} ledger */
  #stale(ledger) {
    return element(
      "div",
      { class: "problem" },
      element("p", {}, element("strong", {}, "These labels were changed in another window. "), `Not saved in this window: ${count(ledger.unsaved, "change")}.`),
      element(
        "div",
        { class: "row" },
        button("Load what is stored", () => this.actions.catchUp(false)),
        button("Load it, then save the changes of this window", () => this.actions.catchUp(true)),
      ),
    );
  }

  /** @param {Ledger} ledger */
  #refused(ledger) {
    return element(
      "div",
      { class: "problem" },
      element("p", {}, element("strong", {}, "The server did not store it: "), ledger.message),
      element("div", { class: "row" }, button("Try again", this.actions.retry), button("Give it up, load what is stored", () => this.actions.catchUp(false))),
    );
  }
}

/** @param {Ledger} ledger */
function savedInWords(ledger) {
  const left = count(ledger.unsaved, "change");
  switch (ledger.state) {
    case "saved": return "Saved";
    case "saving": return "Saving …";
    case "unsaved": return `Not saved: ${left}. Trying again …`;
    default: return `Not saved: ${left}`;
  }
}

/**
 * @param {string} text
 * @param {() => void} action
 * @param {Record<string, any>} [properties]
 * @param {string} [key] the key that does the same
 * @returns {HTMLButtonElement}
 */
export function button(text, action, properties = {}, key = "") {
  const made = element("button", { type: "button", ...properties }, text, key ? element("kbd", { "aria-hidden": "true" }, key) : null);
  made.addEventListener("click", action);
  return made;
}
