// The pages of a corpus, a part at a time: which ones, in which order, where the next part starts, and which row has focus.
// @ts-check

import { api, busy, byId, count, debounced, element, showProblem } from "./shell.js";

const AT_ONCE = 50; // pages that the server gives
const SECONDS = 3; // that the server searches or sorts
const START = "0-0";
export const number = (/** @type {number} */ value) => value.toLocaleString("en");

/** A number with two decimals; null for anything else, which a row may hold. @param {unknown} value */
export const decimal = (value) => (typeof value === "number" ? value.toFixed(2) : null);

/**
 * A page in the list; of what cannot be read, only `problem`.
 *
 * @typedef {{key: string | null, id?: string, url?: string, title?: string, language?: string, page_type?: string,
 *   confidence?: number, words?: number, size?: number, reason?: string, detail?: string, problem?: string,
 *   snippet?: string, marks?: [number, number][]}} Row
 *
 * @typedef {{at: string, before: number | null}} Start where a list begins, and how many pages are before it, if known
 *
 * Which pages are listed: `name` is the corpus, `which` is kept, rejected or rejected:REASON, `where` is "text" to look
 * for the words of `find` in the texts; all others as the server takes them.
 * @typedef {Record<"name" | "which" | "where" | "find" | "sort" | "language" | "page_type" | "least_confidence"
 *   | "most_confidence" | "least_words" | "most_words", string>} Choice
 */

/** @type {Choice} */
export const EVERYTHING = {
  name: "", which: "kept", where: "", find: "", sort: "", language: "", page_type: "",
  least_confidence: "", most_confidence: "", least_words: "", most_words: "",
};
export const FILTERS = /** @type {const} */ (["language", "page_type", "least_confidence", "most_confidence", "least_words", "most_words"]);
const CONTROLS = /** @type {const} */ (["which", "where", "find", "sort", ...FILTERS]);

/** The control of a field of the choice. @param {string} field */
const control = (field) => byId(`corpus-${field.replace("_", "-")}`);

export class CorpusList {
  /** @type {Row[]} */
  rows = [];
  /** @type {Choice} */
  choice = { ...EVERYTHING };
  /** Where this part of the list and each part before it begin. @type {Start[]} */
  starts = [{ at: START, before: 0 }];
  /** @type {any} */
  about = null;
  isListed = false; // whether pages of this choice came
  /** @type {string | null} */
  #next = null;
  #asked = 0; // the number of the last request: answers to earlier ones are ignored
  #isLoading = false;
  /** The field that was typed into last, if nothing was done since. @type {string | null} */
  #typed = null;
  /** @type {string | null} */
  #current = null;

  /**
   * @param {{onOpen: (row: Row) => void, onChange: (how: "push" | "replace") => void}} events the user chose a page; the
   *   list changed, with a step in the browser's history or without
   */
  constructor({ onOpen, onChange }) {
    this.onOpen = onOpen;
    this.onChange = onChange;
    this.body = element("tbody", {});
    this.head = element("tr", {});
    const caption = element("caption", { class: "visually-hidden" }, "Pages of the corpus");
    byId("corpus-table").append(element("table", { class: "data" }, caption, element("thead", {}, this.head), this.body));
    this.#listen();
  }

  /** Whether the list is a search in the texts. */
  get isSearch() {
    return this.choice.where === "text" && this.choice.find !== "" && this.isSortable;
  }

  /** Whether the list can be sorted: it shows pages that a method kept. */
  get isSortable() {
    return this.choice.which === "kept" && this.about?.is_built !== false;
  }

  /** Show what is chosen, of this corpus or another. @param {Choice} choice @param {Start[]} starts */
  async show(choice, starts = [{ at: START, before: 0 }]) {
    const isOther = choice.name !== this.choice.name || !this.about;
    this.choice = { ...choice };
    this.starts = starts;
    byId("corpus-name").value = choice.name;
    if (isOther) {
      this.#forget();
      const isKnown = await this.#ask(`/api/corpora/${encodeURIComponent(choice.name)}`, (about) => this.#describe(about));
      if (!isKnown) return;
    }
    this.#fill();
    await this.load(starts, null);
  }

  /** Empty the list. @param {any} about what is known of the corpus */
  #forget(about = null) {
    this.about = about;
    this.isListed = false;
    this.rows = [];
    this.#next = null;
    this.body.replaceChildren();
    byId("corpus-table").hidden = true;
    byId("corpus-note").textContent = "";
    byId("corpus-go-on").hidden = true;
    if (!about) byId("corpus-about").replaceChildren();
  }

  /** @param {any} about */
  #describe(about) {
    this.about = about;
    byId("corpus-about").replaceChildren(...aboutCorpus(about));
    byId("corpus-which").replaceChildren(...whichOnes(about));
    const languages = Object.entries(about.summary?.languages ?? {}).sort(([, a], [, b]) => Number(b) - Number(a));
    const named = languages.map(([name, many]) => [name, `${name === "und" ? "unknown" : name} (${number(Number(many))})`]);
    byId("corpus-language").replaceChildren(...[["", "any"], ...named].map(([value, words]) => element("option", { value }, words)));
    byId("corpus-page-type").replaceChildren(...["", ...(about.page_types ?? [])].map((value) => element("option", { value }, value || "any")));
    byId("corpus-part-field").hidden = about.parts < 2 || !about.is_built;
    byId("corpus-part").max = about.parts;
  }

  /** Show the choice in the form, and disable the controls that do not apply to it. */
  #fill() {
    for (const field of CONTROLS) {
      const [one, value] = [control(field), this.choice[field]];
      const isUnknown = one.options && ![...one.options].some((option) => option.value === value);
      if (isUnknown) one.append(element("option", { value }, value)); // the address may name any value
      if (one.value !== value) one.value = value;
    }
    this.#allow();
  }

  #allow() {
    const isSearch = this.isSearch;
    byId("corpus-choice").hidden = !this.isSortable;
    byId("corpus-choice").disabled = isSearch;
    byId("corpus-where").disabled = !this.isSortable;
    byId("corpus-part").disabled = isSearch || (this.isSortable && this.choice.sort !== "");
    byId("corpus-send").hidden = !this.isSortable || isSearch || !this.about;
    const lacksIndex = this.choice.where === "text" && this.isSortable && this.about && !this.about.has_index;
    byId("corpus-hint").hidden = !lacksIndex;
    byId("corpus-hint").replaceChildren(...(lacksIndex ? ["To search the texts, index the corpus: ",
      element("code", {}, "mainmatter index OUT"), ", where OUT is its folder. Then reload this page."] : []));
  }

  /** The request for the pages from a place on. @param {string} at @param {boolean} goesOn */
  #address(at, goesOn) {
    const { name, which, find, sort } = this.choice;
    const [kind, reason = ""] = which.split(/:(.*)/s);
    const path = `/api/corpora/${encodeURIComponent(name)}`;
    if (this.isSearch) return `${path}/search?${new URLSearchParams({ find, start: at === START ? "0" : at })}`;
    const query = new URLSearchParams({ find, start: at });
    if (kind === "rejected") {
      query.set("rejected", "true");
      if (reason) query.set("reason", reason);
    } else if (this.isSortable) {
      if (sort) query.set("sort", sort);
      for (const field of FILTERS) if (this.choice[field]) query.set(field, this.choice[field]);
      if (goesOn) query.set("go_on", "true");
    }
    return `${path}/pages?${query}`;
  }

  /**
   * Ask for the pages of a part of the list, and show them when they arrive. An earlier request is not aborted: it ends by
   * itself within seconds, whereas an abort makes the server replace the worker.
   *
   * @param {Start[]} [starts]
   * @param {"push" | "replace" | null} [how] whether to add a step to the browser's history; null if it was added already
   * @param {boolean} [goesOn] read on where an order was not read to its end
   * @returns {Promise<boolean>} whether they came
   */
  async load(starts = this.starts, how = "push", goesOn = false) {
    this.#allow();
    if (this.isSearch && !this.about.has_index) {
      this.#forget(this.about);
      if (how) this.onChange(how);
      return false;
    }
    return this.#ask(this.#address(starts[starts.length - 1].at, goesOn), (answer) => {
      this.starts = starts;
      this.rows = answer.pages;
      this.#next = answer.next === null ? null : String(answer.next);
      this.isListed = true;
      if (how) this.onChange(how);
      this.#draw();
      this.#tell(answer);
    });
  }

  /**
   * Go to the next pages, or back.
   *
   * @param {number} step 1 or -1
   * @param {"push" | null} [how] whether to add a step to the browser's history
   * @returns {Promise<boolean | null>} whether there are any; null if unknown: a request is running, or failed
   */
  async turn(step, how = "push") {
    if (this.#isLoading || !this.about) return null;
    this.#typed = null;
    const here = this.starts[this.starts.length - 1];
    if (step > 0 && this.#next) {
      const isFull = this.isSearch || (this.isSortable && this.choice.sort) || !(this.choice.find || this.choice.which.includes(":") || this.#isFiltered);
      const before = isFull && here.before !== null ? here.before + AT_ONCE : null;
      return (await this.load([...this.starts, { at: this.#next, before }], how)) || null;
    }
    if (step < 0 && this.starts.length > 1) return (await this.load(this.starts.slice(0, -1), how)) || null;
    return false;
  }

  get #isFiltered() {
    return this.isSortable && FILTERS.some((field) => this.choice[field] !== "");
  }

  /**
   * Ask the server, and show a problem. Returns whether the answer was used: it is not if a later request came.
   *
   * @param {string} path
   * @param {(answer: any) => void} use
   */
  async #ask(path, use) {
    const asked = ++this.#asked;
    let problem = null;
    this.#setLoading(true);
    try {
      const answer = await busy(byId("list-view"), api(path));
      if (asked === this.#asked) use(answer);
    } catch (error) {
      problem = error;
    }
    if (asked !== this.#asked) return false;
    showProblem(byId("corpus-problem"), problem);
    this.#setLoading(false);
    return !problem;
  }

  /** While pages load, the buttons wait but keep the focus; one that gets disabled passes it on. */
  #setLoading(/** @type {boolean} */ isLoading) {
    const [back, more] = [byId("corpus-back"), byId("corpus-more")];
    this.#isLoading = isLoading;
    for (const button of [back, more]) button.setAttribute("aria-disabled", String(isLoading));
    if (isLoading) return;
    const focused = /** @type {any} */ (document.activeElement);
    back.disabled = !this.about || this.starts.length < 2;
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

  /** Give the focus to the page that was open last, or to the first. */
  focus() {
    const buttons = this.#buttons();
    (buttons.find((button) => button.dataset.key === this.#current) ?? buttons[0])?.focus();
  }

  #listen() {
    byId("corpus-name").addEventListener("change", () => {
      void this.show({ ...EVERYTHING, name: byId("corpus-name").value }).then(() => this.onChange("push"));
    });
    for (const field of CONTROLS) {
      const isChosen = control(field).tagName === "SELECT";
      control(field).addEventListener(isChosen ? "change" : "input", isChosen ? () => this.#begin() : debounced(() => this.#begin(field), 350));
    }
    byId("corpus-form").addEventListener("submit", (/** @type {Event} */ event) => event.preventDefault());
    byId("corpus-part").addEventListener("change", () => this.#goToPart());
    byId("corpus-back").addEventListener("click", () => this.turn(-1));
    byId("corpus-more").addEventListener("click", () => this.turn(1));
    byId("corpus-go-on").addEventListener("click", () => this.load([{ at: START, before: 0 }], "replace", true));
    this.body.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.#onKey(event));
  }

  /** List from the beginning, with what the form says now. @param {string | null} typed the field that is typed into */
  #begin(typed = null) {
    const choice = { ...this.choice };
    for (const field of CONTROLS) {
      const one = control(field);
      if (!one.checkValidity()) return; // half a number; the browser says so
      choice[field] = one.value.trim() || (field === "which" ? this.choice.which : "");
    }
    if (CONTROLS.every((field) => choice[field] === this.choice[field])) return;
    const how = typed !== null && typed === this.#typed ? "replace" : "push"; // one step for all letters
    this.#typed = typed;
    this.choice = choice;
    byId("corpus-part").value = "";
    this.#next = null; // it belonged to the other list
    if (this.about) void this.load([{ at: START, before: 0 }], how);
    else void this.show(choice);
  }

  #goToPart() {
    if (!this.about) return;
    const part = Math.min(this.about.parts, Math.max(1, Math.round(Number(byId("corpus-part").value) || 1)));
    byId("corpus-part").value = part;
    void this.load([...this.starts, { at: `${part - 1}-0`, before: part === 1 ? 0 : null }]);
  }

  #draw() {
    const areKept = !this.choice.which.startsWith("rejected");
    const heads = !areKept ? [["Page"], ["Reason"], ["What happened"]]
      : this.about.is_built ? [["Page"], ["Words", "number"], ["Language"], ["Type"], ["Confidence", "number"]] : [["Page"], ["Bytes", "number"]];
    this.body.parentElement.className = `data ${areKept ? "kept" : "rejected"}`;
    this.head.replaceChildren(...heads.map(([head, look]) => element("th", { scope: "col", class: look, "aria-sort": this.#sortOf(head) }, head)));
    this.body.replaceChildren(...this.rows.map((row) => this.#row(row, areKept)));
    byId("corpus-table").hidden = !this.rows.length;
    byId("corpus-table").scrollTop = 0;
    this.#stopAt(0);
    this.mark(this.#current);
  }

  /** How a column is sorted, for screen readers. @param {string} head */
  #sortOf(head) {
    const sorted = /** @type {Record<string, [string, string]>} */ ({
      "least-sure": ["Confidence", "ascending"], surest: ["Confidence", "descending"], shortest: ["Words", "ascending"],
      longest: ["Words", "descending"], language: ["Language", "ascending"], "page-type": ["Type", "ascending"],
    })[this.isSortable && !this.isSearch ? this.choice.sort : ""];
    return sorted?.[0] === head ? sorted[1] : null;
  }

  /** @param {Row} row @param {boolean} areKept */
  #row(row, areKept) {
    if (row.problem) return element("tr", {}, element("td", { colspan: 5 }, element("span", { class: "problem" }, row.problem)));
    const name = nameOf(row);
    const address = row.url && row.url !== name ? element("span", { class: "soft small address" }, row.url) : null;
    const snippet = row.snippet ? element("span", { class: "snippet" }, ...marked(row.snippet, row.marks ?? [])) : null;
    const button = row.key === null ? element("span", {}, name)
      : element("button", { type: "button", class: "quiet", dataset: { key: row.key }, on: { click: () => this.onOpen(row) } }, name);
    const cells = !areKept ? [["Reason", row.reason ?? ""], ["What happened", row.detail ?? ""]]
      : row.size !== undefined ? [["Bytes", number(row.size), "number"]]
      : [["Words", number(row.words ?? 0), "number"], ["Language", row.language ?? "–"], ["Type", row.page_type ?? "–"],
        ["Confidence", decimal(row.confidence) ?? "–", "number"]];
    return element("tr", {}, element("th", { scope: "row", class: "text" }, button, address, snippet),
      ...cells.map(([head, content, look]) => element("td", { "data-head": head, class: look }, content)));
  }

  /** @param {any} answer */
  #tell(answer) {
    const { find, which, sort } = this.choice;
    const here = this.starts[this.starts.length - 1];
    const shown = this.rows.filter((row) => !row.problem).length;
    const summary = this.about.summary;
    const all = summary && (which === "kept" ? summary.kept : which === "rejected" ? summary.pages - summary.kept : summary.rejects[which.split(/:(.*)/s)[1]]);
    const isSorted = this.isSortable && sort !== "" && !this.isSearch;
    const isChosen = find || this.#isFiltered;
    const span = here.before === null ? "" : `Pages ${number(here.before + 1)} to ${number(here.before + shown)}`;
    let words = count(shown, "page");
    if (this.isSearch) words = `${answer.total ? span : "0 pages"}${answer.total ? ` of ${number(answer.total)}, best first` : " contain these words"}`;
    else if (isSorted && !shown) words = isChosen ? "No matching pages." : "No pages.";
    else if (isSorted) words = `${span}${all && !isChosen ? ` of ${number(all)}` : ""}`;
    else if (answer.ran_out) words = `${count(shown, "page")} found among ${number(answer.looked_at)} in ${SECONDS} seconds. Keep looking?`;
    else if (isChosen) words = `${count(shown, "page")} found among ${number(answer.looked_at)}${answer.next ? "; there may be more" : this.starts.length > 1 ? "; end of the list" : ""}`;
    else if (!shown) words = this.starts.length > 1 ? "No more pages." : "No pages.";
    else if (here.before !== null) words = `${span}${all ? ` of ${number(all)}` : ""}`;
    if (isSorted && answer.ran_out) words += `; sorted among the ${number(answer.looked_at)}${all ? ` of ${number(all)}` : ""} pages that were read in ${SECONDS} seconds`;
    if (this.rows.some((row) => row.key === null)) words += "; pages without a link are no longer in the corpus: rebuild its index";
    byId("corpus-note").textContent = `${words}${isSorted && answer.ran_out ? "." : ""}`;
    byId("corpus-more").textContent = answer.ran_out && !isSorted ? "Keep looking ›" : "Next ›";
    byId("corpus-go-on").hidden = !(isSorted && answer.ran_out);
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

/** What people call a page. @param {Row | Record<string, any>} row */
export function nameOf(row) {
  return row.title || row.url || row.id || "Untitled page";
}

/** A text whose words stand out, as pieces. Marks count characters, and a character may be two of JavaScript's. @param {string} text @param {[number, number][]} marks */
function marked(text, marks) {
  const letters = [...text];
  const pieces = [];
  let done = 0;
  for (const [start, end] of marks) {
    pieces.push(letters.slice(done, start).join(""), element("mark", {}, letters.slice(start, end).join("")));
    done = end;
  }
  return [...pieces, letters.slice(done).join("")];
}

/** The result of the run, in a few lines. @param {any} about */
function aboutCorpus(about) {
  const { summary } = about;
  const lines = [];
  if (!about.is_built) lines.push("These pages have not been cleaned yet. Choose one to see what would be kept.");
  else if (summary) {
    const rejects = Object.entries(summary.rejects).sort(([, a], [, b]) => Number(b) - Number(a));
    const reasons = rejects.map(([reason, many]) => `${reason} ${number(Number(many))}`).join(", ");
    const dropped = summary.pages - summary.kept;
    lines.push(`${count(summary.pages, "page")} read: ${number(summary.kept)} kept with ${count(summary.words, "word")}, `
      + `${number(dropped)} rejected${reasons ? ` (${reasons})` : ""}.`);
  } else lines.push("The run is not finished. The list shows what it has written so far.");
  const how = about.method === null ? [] : [`cleaned by ${about.method}${parametersOf(about.parameters)}`];
  if (about.site_templates) how.push("without what each site repeats");
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
  if (!isBuilt) return [element("option", { value: "kept" }, "Pages"), element("option", { value: "rejected" }, "Not a page")];
  const many = (/** @type {number} */ of) => (summary ? ` (${number(of)})` : "");
  const reasons = Object.entries(summary?.rejects ?? {});
  return [
    element("option", { value: "kept" }, `Kept${many(summary?.kept)}`),
    element("option", { value: "rejected" }, `Rejected${many(summary?.pages - summary?.kept)}`),
    ...reasons.map(([reason, of]) => element("option", { value: `rejected:${reason}` }, `Rejected: ${reason}${many(Number(of))}`)),
  ];
}
