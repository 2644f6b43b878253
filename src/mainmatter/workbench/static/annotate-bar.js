// @ts-check
/**
 * The bar above a page that is being labelled: its name, what is saved, the brushes, and the actions for the whole page.
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
 * Whether the user may leave a page: everything is saved, or they confirm that they lose changes.
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
  else toast(type === "undo" ? "There is nothing to undo." : "There is nothing to redo.");
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
    this.done = button(this.#doneWord, actions.done, { id: "done", class: "primary", title: this.#teaches ? "Accept the rest and go to the next page: G or Ctrl+Enter" : "Ctrl+Enter" }, this.#teaches ? "g" : "");
    this.reopen = button("Reopen", actions.reopen, { class: "quiet", hidden: true });
    this.next = element("span", {});
    this.undo = button("Undo", actions.undo, { title: "Z" }, "z");
    this.redo = button("Redo", actions.redo, { title: "Shift+Z" });
    this.accept = button("Accept for all unlabelled", actions.acceptRest, { id: "accept-rest", hidden: true });
    this.alike = button("Same for all like it", actions.alike, { id: "alike", disabled: true, title: "E: keep or drop all blocks built like the active one, as that one is; Alt+click or Ctrl+click flips them all" }, "e");
    this.several = element("input", { type: "checkbox" });
    this.suggesting = this.#suggestingBox();
    this.model = element("span", { id: "suggesting-model", class: "small soft" });
    this.teaching = element("span", { id: "teaching-state" });
    /** @type {Map<Brush, HTMLButtonElement>} */
    this.brushes = new Map(BRUSHES.map((brush) => [brush.name, this.#brushButton(brush)]));
    this.element = element("div", { class: "label-bar" }, this.#head(), this.#tools(), this.state.alert);
  }

  /** Whether a click labels all blocks since the last click, as with Shift: for devices without that key. */
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
   *   `own` counts the labels that were not just accepted; `unsure` the blocks that the model is not sure of and the annotator
   *   has not confirmed; `alike` those that are built like the active one but kept or dropped unlike it
   */
  show(ledger, { labelled, own, unsure, alike, blocks, suggestions }) {
    this.alike.disabled = !alike;
    this.alike.firstChild?.replaceWith(alike ? `Same for ${alike} like it` : "Same for all like it");
    this.progress.textContent = this.#teaches ? `${count(blocks, "block")}, ${own} by you, ${unsure} unsure` : `${labelled} of ${blocks} labelled`;
    this.state.show(ledger);
    this.undo.disabled = !ledger.canUndo && !ledger.unsaved;
    this.redo.disabled = !ledger.canRedo;
    const { seemsDone } = ledger;
    this.done.firstChild?.replaceWith(this.#teaches ? (seemsDone ? "Next page" : this.#doneWord) : seemsDone ? "Reopen" : this.#doneWord);
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
      waiting: nextAt > done ? `learns again after ${count(nextAt - done, "more page")}` : "learns after the next page",
      failed: "learning failed; see Teach",
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
      ? element("a", { href: "#/" }, "That was the last page: see all pages")
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
        ? "Click a wrong block to flip it, or drag over several. Alt+click flips all blocks like it."
        : "Click a block to keep it and again to drop it, or drag over several. Or choose a label first, then click."),
      element(
        "div",
        { class: "row tight", role: "group", "aria-label": "Changes" },
        this.undo,
        this.redo,
        ...(this.#teaches ? this.#teachTools() : this.#goldTools()),
        element("label", { class: "check", title: "The next click labels all blocks from the active one to the one you click" }, this.several, "Label up to the next click"),
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
      button("Next unlabelled", this.actions.next, { title: "U" }, "u"),
      button("Drop the rest", this.actions.dropRest, { title: "Shift+D: drop all unlabelled blocks" }, "⇧d"),
    ];
  }

  #teachTools() {
    return [
      this.alike,
      button("Least sure", this.actions.next, { id: "next-unsure", title: "U: go to the unconfirmed block that the model is least sure of" }, "u"),
      button("Confirm", this.actions.accept, { id: "accept", title: "A: confirm the suggestions for the selected blocks" }, "a"),
      button("Accept the rest", this.actions.acceptRest, { id: "accept-rest", title: "Shift+A: accept the suggestions for all unlabelled blocks" }, "⇧a"),
    ];
  }

  #meanwhileBox() {
    const box = element("input", { id: "teach-meanwhile", type: "checkbox", checked: teachesMeanwhile() });
    box.addEventListener("change", () => switchTeaching(box.checked));
    return element("label", { class: "check", title: "A model learns in the background once four pages are done, and again after every two more" }, box, "Teach in the background");
  }

  #suggestingBox() {
    const box = element("input", { type: "checkbox", "aria-describedby": "suggestion-warning" });
    box.addEventListener("change", () => {
      this.actions.suggest(box.checked).catch((error) => {
        box.checked = false;
        toast(error.message);
      });
    });
    const warning = "Suggestions bias annotators towards what the method already does. Leave them off for a gold standard.";
    return element(
      "span",
      { class: "suggesting" },
      element("label", { class: "check", title: warning }, box, "Suggestions"),
      element("span", { id: "suggestion-warning", class: "small soft suggestion-warning" }, warning),
    );
  }
}

/**
 * A figure with its name, and what it means as a tooltip; part of a list.
 * @param {string} name
 * @param {string} value
 * @param {string} about
 */
export function figure(name, value, about) {
  return element("div", { class: "figure", title: about }, element("dt", {}, name), element("dd", {}, value));
}

/**
 * Open a dialog that is removed when it closes.
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

/** Shows what is saved and what is not, and what to do about it. */
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
        button("Load the stored labels", () => this.actions.catchUp(false)),
        button("Load them, then save this window's changes", () => this.actions.catchUp(true)),
      ),
    );
  }

  /** @param {Ledger} ledger */
  #refused(ledger) {
    return element(
      "div",
      { class: "problem" },
      element("p", {}, element("strong", {}, "The server did not save this: "), ledger.message),
      element("div", { class: "row" }, button("Try again", this.actions.retry), button("Discard it and load the stored labels", () => this.actions.catchUp(false))),
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
