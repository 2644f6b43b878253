// @ts-check
/**
 * What stands above a page that is labelled: its name, what is saved, the brushes, and what can be done with the whole.
 *
 * @typedef {import("./annotate-words.js").Brush} Brush
 * @typedef {import("./annotate-ledger.js").Ledger} Ledger
 * @typedef {{choose: (brush: Brush) => void, undo: () => void, redo: () => void, dropRest: () => void,
 *   nextUnlabelled: () => void, suggest: (on: boolean) => Promise<void>, accept: () => void, done: () => void,
 *   history: () => void, keys: () => void, retry: () => void, catchUp: (keepMine: boolean) => void}} Actions
 */
import { count, element, toast } from "./shell.js";
import { BRUSHES } from "./annotate-words.js";

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
   */
  constructor(actions, annotator) {
    this.actions = actions;
    this.annotator = annotator;
    this.name = element("h2", { class: "page-name" });
    this.url = element("p", { class: "soft small page-url" });
    this.state = new SavedState(actions);
    this.progress = element("span", { class: "soft number" });
    this.done = button("Mark as done", actions.done, { class: "primary", title: "Ctrl+Enter" });
    this.next = element("span", {});
    this.undo = button("Undo", actions.undo, { title: "Z" }, "z");
    this.redo = button("Redo", actions.redo, { title: "Shift+Z" });
    this.accept = button("Take over for all without a label", actions.accept, { hidden: true });
    this.several = element("input", { type: "checkbox" });
    this.suggesting = this.#suggestingBox();
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

  /** @param {{name: string, url: string | null, note: string}} page */
  load(page) {
    this.name.textContent = page.name;
    this.url.textContent = [page.url === page.name ? "" : page.url, page.note].filter(Boolean).join(" · ");
    this.url.hidden = !this.url.textContent;
  }

  /**
   * @param {Ledger} ledger
   * @param {{labelled: number, blocks: number, suggesting: boolean}} facts
   */
  show(ledger, { labelled, blocks, suggesting }) {
    this.progress.textContent = `${labelled} of ${blocks} labelled`;
    this.state.show(ledger);
    this.undo.disabled = !ledger.canUndo && !ledger.unsaved;
    this.redo.disabled = !ledger.canRedo;
    this.done.textContent = ledger.seemsDone ? "Open it again" : "Mark as done";
    this.done.classList.toggle("primary", !ledger.seemsDone);
    if (!ledger.seemsDone) this.next.replaceChildren();
    this.accept.hidden = !suggesting;
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
      element("div", { class: "row" }, this.progress, this.state.element, this.next, this.done),
    );
  }

  #tools() {
    const { actions } = this;
    return element(
      "div",
      { class: "tools" },
      element("div", { class: "brushes", role: "group", "aria-label": "Label blocks" }, ...this.brushes.values()),
      element("p", { class: "soft small how" }, "A click keeps a block, a second one drops it; drag over several. Or choose a label first, then click."),
      element(
        "div",
        { class: "row tight", role: "group", "aria-label": "Changes" },
        this.undo,
        this.redo,
        button("Next without label", actions.nextUnlabelled, { title: "U" }, "u"),
        button("Drop the rest", actions.dropRest, { title: "Shift+D: drop all blocks that have no label yet" }, "⇧d"),
        element("label", { class: "check", title: "The next click labels all blocks from the active one to it" }, this.several, "Label up to the next click"),
        this.suggesting,
        this.accept,
        button("History", actions.history, { class: "quiet" }),
        button("Keys", actions.keys, { class: "quiet" }, "?"),
      ),
    );
  }

  /** @param {{name: Brush, key: string, word: string, about: string}} brush */
  #brushButton({ name, key, word, about }) {
    return button(word, () => this.actions.choose(name), { class: `brush ${name}`, "aria-pressed": "false", title: `${about} (${key})` }, key);
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
