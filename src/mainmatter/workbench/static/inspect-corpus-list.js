// The pages of a corpus, some at a time: which ones, where they go on, and which one the keyboard is at.
// @ts-check

import { api, busy, byId, count, debounced, element, showProblem } from "./shell.js";

const AT_ONCE = 50; // pages that the server gives
const number = (/** @type {number} */ value) => value.toLocaleString("en");

/** A number with two places; null for what is none, as any row may hold. @param {unknown} value */
export const decimal = (value) => (typeof value === "number" ? value.toFixed(2) : null);

/**
 * A page in the list; of what cannot be read, only `problem`.
 *
 * @typedef {{key: string, id?: string, url?: string, title?: string, language?: string, confidence?: number,
 *   words?: number, size?: number, reason?: string, detail?: string, problem?: string}} Row
 *
 * @typedef {{corpus: string, which: string, find: string, starts: Start[]}} Choice
 *
 * @typedef {{at: string, before: number | null}} Start where a list begins, and how many pages are before it, if known
 */

export class CorpusList {
  /** @type {Row[]} */
  rows = [];
  /** @type {Choice} */
  choice = { corpus: "", which: "kept", find: "", starts: [{ at: "0-0", before: 0 }] };
  /** @type {any} */
  about = null;
  /** @type {string | null} */
  #next = null;
  #asked = 0; // the number of the last question: answers to earlier ones come too late
  #isLoading = false;
  isListed = false; // whether pages of this corpus came
  /** @type {string | null} */
  #current = null;

  /**
   * @param {{onCorpus: () => void, onOpen: (row: Row) => void, onChange: () => void}} events the user chose another
   *   corpus; a page; what to list
   */
  constructor({ onCorpus, onOpen, onChange }) {
    this.onCorpus = onCorpus;
    this.onOpen = onOpen;
    this.onChange = onChange;
    this.body = element("tbody", {});
    this.head = element("tr", {});
    const caption = element("caption", { class: "visually-hidden" }, "Pages of the corpus");
    byId("corpus-table").append(element("table", { class: "data" }, caption, element("thead", {}, this.head), this.body));
    this.#listen();
  }

  /** Show another corpus, or the one of an earlier choice. @param {string} corpus @param {Choice | null} [choice] */
  async show(corpus, choice = null) {
    this.choice = choice ?? { ...this.choice, corpus, which: "kept", find: "", starts: [{ at: "0-0", before: 0 }] };
    byId("corpus-name").value = corpus;
    byId("corpus-find").value = this.choice.find;
    byId("corpus-which").value = this.choice.which;
    this.about = null;
    this.isListed = false;
    this.rows = [];
    this.#next = null;
    this.body.replaceChildren();
    byId("corpus-table").hidden = true;
    byId("corpus-note").textContent = "";
    byId("corpus-about").replaceChildren();
    const isKnown = await this.#ask(`/api/corpora/${encodeURIComponent(corpus)}`, (about) => {
      byId("corpus-about").replaceChildren(...aboutCorpus(about));
      byId("corpus-which").replaceChildren(...whichOnes(about));
      byId("corpus-which").value = this.choice.which;
      byId("corpus-part-field").hidden = about.parts < 2 || !about.is_built;
      byId("corpus-part").max = about.parts;
      this.about = about;
    });
    if (isKnown) await this.load();
  }

  /**
   * Ask for the pages from where the list is, or is to be: it goes there when they come. An earlier question is not
   * taken back: it ends by itself in some seconds, while the server would have to replace the worker that is at it.
   *
   * @param {Start[]} [starts]
   * @returns {Promise<boolean>} whether they came
   */
  async load(starts = this.choice.starts) {
    const { corpus, which, find } = this.choice;
    const [kind, reason = ""] = which.split(/:(.*)/s);
    const query = new URLSearchParams({ rejected: String(kind === "rejected"), reason, find, start: starts[starts.length - 1].at });
    this.onChange();
    return this.#ask(`/api/corpora/${encodeURIComponent(corpus)}/pages?${query}`, (answer) => {
      this.choice.starts = starts;
      this.onChange();
      this.rows = answer.pages;
      this.#next = answer.next;
      this.isListed = true;
      this.#draw(kind === "kept");
      this.#tell(answer);
    });
  }

  /**
   * Go to the next pages, or back.
   *
   * @param {number} step 1 or -1
   * @returns {Promise<boolean | null>} whether there are any; null if nobody knows: others are on their way, or none came
   */
  async turn(step) {
    if (this.#isLoading || !this.about) return null;
    const { starts } = this.choice;
    const here = starts[starts.length - 1];
    if (step > 0 && this.#next) {
      const isFull = !this.choice.find && !this.choice.which.includes(":");
      const before = isFull && here.before !== null ? here.before + AT_ONCE : null;
      return (await this.load([...starts, { at: this.#next, before }])) || null;
    }
    if (step < 0 && starts.length > 1) return (await this.load(starts.slice(0, -1))) || null;
    return false;
  }

  /**
   * Ask the server; a problem is shown. Whether the answer was used: not where another question came after this one.
   *
   * @param {string} path
   * @param {(answer: any) => void} use
   */
  async #ask(path, use) {
    const asked = ++this.#asked;
    let problem = null;
    this.#setLoading(true);
    try {
      const answer = await busy(byId("input-corpus"), api(path));
      if (asked === this.#asked) use(answer);
    } catch (error) {
      problem = error;
    }
    if (asked !== this.#asked) return false;
    showProblem(byId("corpus-problem"), problem);
    if (problem) byId("input-panel").open = true; // the problem is in there
    this.#setLoading(false);
    return !problem;
  }

  /** While pages are on their way, the buttons wait but keep the focus; one that is of no use any more gives it away. */
  #setLoading(/** @type {boolean} */ isLoading) {
    const [back, more] = [byId("corpus-back"), byId("corpus-more")];
    this.#isLoading = isLoading;
    for (const button of [back, more]) button.setAttribute("aria-disabled", String(isLoading));
    if (isLoading) return;
    const focused = /** @type {any} */ (document.activeElement);
    back.disabled = !this.about || this.choice.starts.length < 2;
    more.disabled = !this.#next;
    if ([back, more].includes(focused) && focused.disabled) (this.#buttons()[0] ?? back).focus();
  }

  /** Mark the page that is open. @param {string | null} key */
  mark(key) {
    this.#current = key;
    for (const button of this.#buttons()) {
      if (button.dataset.key === key) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    }
    const at = this.#buttons().findIndex((button) => button.dataset.key === key);
    if (at >= 0) this.#stopAt(at);
  }

  #listen() {
    byId("corpus-name").addEventListener("change", () => {
      this.onCorpus();
      void this.show(byId("corpus-name").value);
    });
    byId("corpus-which").addEventListener("change", () => this.#begin());
    byId("corpus-find").addEventListener("input", debounced(() => this.#begin(), 350));
    byId("corpus-form").addEventListener("submit", (/** @type {Event} */ event) => event.preventDefault());
    byId("corpus-part").addEventListener("change", () => this.#goToPart());
    byId("corpus-back").addEventListener("click", () => this.turn(-1));
    byId("corpus-more").addEventListener("click", () => this.turn(1));
    this.body.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.#onKey(event));
  }

  /** List from the beginning, with what the form says now. */
  #begin() {
    const [which, find] = [byId("corpus-which").value || this.choice.which, byId("corpus-find").value.trim()];
    if (which === this.choice.which && find === this.choice.find) return;
    this.choice = { ...this.choice, which, find, starts: [{ at: "0-0", before: 0 }] };
    byId("corpus-part").value = "";
    this.#next = null; // it was a place in the other list
    void (this.about ? this.load() : this.show(this.choice.corpus, this.choice));
  }

  #goToPart() {
    if (!this.about) return;
    const part = Math.min(this.about.parts, Math.max(1, Math.round(Number(byId("corpus-part").value) || 1)));
    byId("corpus-part").value = part;
    void this.load([...this.choice.starts, { at: `${part - 1}-0`, before: part === 1 ? 0 : null }]);
  }

  /** @param {boolean} areKept */
  #draw(areKept) {
    const heads = !areKept ? [["Page"], ["Reason"], ["What happened"]]
      : this.about.is_built ? [["Page"], ["Words", "number"], ["Language"], ["Confidence", "number"]] : [["Page"], ["Bytes", "number"]];
    this.body.parentElement.className = `data ${areKept ? "kept" : "rejected"}`;
    this.head.replaceChildren(...heads.map(([head, look]) => element("th", { scope: "col", class: look }, head)));
    this.body.replaceChildren(...this.rows.map((row) => this.#row(row, areKept)));
    byId("corpus-table").hidden = !this.rows.length;
    byId("corpus-table").scrollTop = 0;
    this.#stopAt(0);
    this.mark(this.#current);
  }

  /** @param {Row} row @param {boolean} areKept */
  #row(row, areKept) {
    if (row.problem) return element("tr", {}, element("td", { colspan: 4 }, element("span", { class: "problem" }, row.problem)));
    const name = nameOf(row);
    const address = row.url && row.url !== name ? element("span", { class: "soft small address" }, row.url) : null;
    const button = element("button", { type: "button", class: "quiet", dataset: { key: row.key }, on: { click: () => this.onOpen(row) } }, name);
    const cells = !areKept ? [["Reason", row.reason ?? ""], ["What happened", row.detail ?? ""]]
      : row.size !== undefined ? [["Bytes", number(row.size), "number"]]
      : [["Words", number(row.words ?? 0), "number"], ["Language", row.language ?? "–"], ["Confidence", decimal(row.confidence) ?? "–", "number"]];
    return element("tr", {}, element("th", { scope: "row", class: "text" }, button, address),
      ...cells.map(([head, content, look]) => element("td", { "data-head": head, class: look }, content)));
  }

  /** @param {any} answer */
  #tell(answer) {
    const { starts, find, which } = this.choice;
    const here = starts[starts.length - 1];
    const shown = this.rows.length;
    const summary = this.about.summary;
    const all = summary && (which === "kept" ? summary.kept : which === "rejected" ? summary.pages - summary.kept : summary.rejects[which.split(/:(.*)/s)[1]]);
    let words = count(shown, "page");
    if (answer.ran_out) words = `${count(shown, "page")} found among ${number(answer.looked_at)} in ${SECONDS} seconds; look on from there?`;
    else if (find) words = `${count(shown, "page")} found among ${number(answer.looked_at)}${answer.next ? "; there may be more" : starts.length > 1 ? "; that was the last part" : ""}`;
    else if (!shown) words = starts.length > 1 ? "No more pages." : "No pages.";
    else if (here.before !== null) words = `Pages ${number(here.before + 1)} to ${number(here.before + shown)}${all ? ` of ${number(all)}` : ""}`;
    byId("corpus-note").textContent = words;
    byId("corpus-more").textContent = answer.ran_out ? "Look on ›" : "Next ›";
  }

  // ---- the keyboard: Tab reaches the list once, the arrows walk in it

  /** @returns {HTMLButtonElement[]} */
  #buttons() {
    return [...this.body.querySelectorAll("button")];
  }

  /** @param {number} at */
  #stopAt(at) {
    this.#buttons().forEach((button, i) => { button.tabIndex = i === at ? 0 : -1; });
  }

  /** @param {KeyboardEvent} event */
  async #onKey(event) {
    const buttons = this.#buttons();
    const at = buttons.indexOf(/** @type {any} */ (event.target));
    const turn = /** @type {Record<string, number>} */ ({ PageDown: 1, PageUp: -1 })[event.key];
    const to = /** @type {Record<string, number>} */ ({ ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 })[event.key];
    if (turn === undefined && to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    if (turn !== undefined) {
      if (await this.turn(turn)) this.#buttons()[0]?.focus();
    } else if (buttons[to]) {
      this.#stopAt(to);
      buttons[to].focus();
    }
  }
}

const SECONDS = 3; // that the server looks for words

/** What people call a page. @param {Row | Record<string, any>} row */
export function nameOf(row) {
  return row.title || row.url || row.id || "A page without a name";
}

/** What came of the run, in a few lines. @param {any} about */
function aboutCorpus(about) {
  const { summary } = about;
  const lines = [];
  if (!about.is_built) lines.push("Pages that were not cleaned yet: choose one, and see what would be kept of it.");
  else if (summary) {
    const rejects = Object.entries(summary.rejects).sort(([, a], [, b]) => Number(b) - Number(a));
    const reasons = rejects.map(([reason, many]) => `${reason} ${number(Number(many))}`).join(", ");
    const dropped = summary.pages - summary.kept;
    lines.push(`${count(summary.pages, "page")} read: ${number(summary.kept)} kept with ${count(summary.words, "word")}, `
      + `${number(dropped)} rejected${reasons ? ` (${reasons})` : ""}.`);
  } else lines.push("The run is not finished: what it has written so far is listed.");
  const how = about.method === null ? [] : [`cleaned by ${about.method}${parametersOf(about.parameters)}`];
  if (about.site_templates) how.push("with what each site repeats left out");
  if (about.duplicates) how.push(`${about.duplicates} duplicates dropped`);
  if (about.inputs.length) how.push(`from ${about.inputs.join(", ")}${about.more_inputs ? ` and ${number(about.more_inputs)} more` : ""}`);
  if (how.length) lines.push(`${how[0].charAt(0).toUpperCase()}${how.join(", ").slice(1)}.`);
  return lines.map((line) => element("p", {}, line));
}

/** @param {Record<string, any>} parameters */
function parametersOf(parameters) {
  const told = Object.entries(parameters ?? {}).map(([name, value]) => `${name}=${value}`);
  return told.length ? ` (${told.join(", ")})` : "";
}

/** @param {any} about */
function whichOnes({ summary, is_built: isBuilt }) {
  if (!isBuilt) return [element("option", { value: "kept" }, "Pages"), element("option", { value: "rejected" }, "What is no page")];
  const many = (/** @type {number} */ of) => (summary ? ` (${number(of)})` : "");
  const reasons = Object.entries(summary?.rejects ?? {});
  return [
    element("option", { value: "kept" }, `Kept${many(summary?.kept)}`),
    element("option", { value: "rejected" }, `Rejected${many(summary?.pages - summary?.kept)}`),
    ...reasons.map(([reason, of]) => element("option", { value: `rejected:${reason}` }, `Rejected: ${reason}${many(Number(of))}`)),
  ];
}
