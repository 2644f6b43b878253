// A corpus in Inspect: its list of pages in the input panel, and what it holds of the page that is open.
// @ts-check

import { announce, api, busy, byId, element, isForControl, makeTabs, showProblem } from "./shell.js";
import { CorpusList, decimal, nameOf } from "./inspect-corpus-list.js";

const STORED = "mainmatter-corpus";
const SHOWN = ["title", "url", "author", "date", "site", "description", "language", "page_type", "reason", "detail", "time", "id", "source"];

/**
 * What this tab showed last.
 *
 * @typedef {{choice: import("./inspect-corpus-list.js").Choice, open: string | null, tab: string}} Memory
 */

export class Corpora {
  /** @type {string | null} */
  #open = null;
  #asked = 0;
  #tab = "tab-input-page";
  /** @type {string[]} */
  #names = [];
  /** @type {string} */
  #methodOf = "";
  /** @type {Promise<void> | null} */
  #listing = null;

  /**
   * @param {(source: import("./inspect-input.js").Source, onProblem: (error: unknown) => void) => Promise<void>} inspect
   *   shows a page in full
   * @param {() => void} takeBack a page that is on its way to `inspect` is not wanted any more
   */
  constructor(inspect, takeBack) {
    this.inspect = inspect;
    this.takeBack = takeBack;
    this.list = new CorpusList({
      onCorpus: () => this.leave(), onOpen: (row) => this.open(row.key), onChange: () => this.#remember(),
    });
    this.chooseTab = makeTabs(byId("inputs"), (id) => this.#chose(id));
    byId("corpus-previous").addEventListener("click", () => this.step(-1));
    byId("corpus-next").addEventListener("click", () => this.step(1));
    document.addEventListener("keydown", (event) => this.#onKey(event));
  }

  /** Find out which corpora there are; shows the page of one that this tab showed last, and says whether it does. */
  async start() {
    const memory = recall();
    try {
      this.#names = (await api("/api/corpora")).corpora.map((/** @type {any} */ one) => one.name);
    } catch (error) {
      showProblem(byId("corpus-problem"), error);
    }
    byId("corpus-none").hidden = this.#names.length > 0;
    byId("corpus-some").hidden = !this.#names.length;
    byId("corpus-name-field").hidden = this.#names.length < 2;
    byId("corpus-name").replaceChildren(...this.#names.map((name) => element("option", { value: name }, name)));
    const known = memory && this.#names.includes(memory.choice.corpus) ? memory : null;
    if (known) this.list.choice = known.choice;
    this.chooseTab(known?.tab ?? (this.#names.length ? "tab-input-corpus" : "tab-input-page"));
    if (!known?.open) return false;
    await this.#load();
    await this.open(known.open, false);
    return true;
  }

  /** The user looks at something else now. */
  leave() {
    this.#asked += 1;
    if (this.#open) this.takeBack();
    this.#open = null;
    this.list.mark(null);
    byId("corpus-page").hidden = true;
    this.#remember();
  }

  /**
   * Show a page: what the corpus holds of it and, where that can be found, the page itself.
   *
   * @param {string} key
   * @param {boolean} [takesFocus]
   */
  async open(key, takesFocus = true) {
    const asked = ++this.#asked;
    const { corpus } = this.list.choice;
    this.#open = key;
    this.#remember();
    try {
      const stored = await busy(byId("main"), api(`/api/corpora/${encodeURIComponent(corpus)}/pages/${encodeURIComponent(key)}`));
      if (asked !== this.#asked) return;
      this.list.mark(key);
      this.#useMethodOf(corpus);
      this.#show(stored, corpus);
      if (takesFocus) byId("corpus-page-title").focus();
      const source = { name: nameOf(stored.facts), corpus: { name: corpus, page: key } };
      await this.inspect(source, (error) => { if (asked === this.#asked) this.#showAlone(stored, error); });
    } catch (error) {
      if (asked === this.#asked) showProblem(byId("problem"), error);
    }
  }

  /** Go to the next page of the list, or the one before. @param {number} step 1 or -1 */
  async step(step) {
    const asked = this.#asked;
    const pages = () => this.list.rows.filter((row) => !row.problem);
    const at = pages().findIndex((row) => row.key === this.#open);
    let next = at < 0 ? pages()[0] : pages()[at + step];
    if (!next) {
      const isTurned = await this.list.turn(step);
      if (isTurned === null || asked !== this.#asked) return; // the user may have gone elsewhere meanwhile
      if (isTurned) next = pages()[step > 0 ? 0 : pages().length - 1];
    }
    if (next) await this.open(next.key, false);
    else announce(step > 0 ? "This is the last page of the list." : "This is the first page of the list.");
  }

  /** @param {string} id */
  #chose(id) {
    this.#tab = id;
    if (id === "tab-input-corpus" && this.#names.length) void this.#load();
    this.#remember();
  }

  /** Show the list, if it is not there yet. */
  async #load() {
    const { choice } = this.list;
    const isKnown = this.#names.includes(choice.corpus);
    if (!this.list.isListed) {
      this.#listing ??= this.list.show(isKnown ? choice.corpus : this.#names[0], isKnown ? choice : null)
        .finally(() => { this.#listing = null; });
    }
    await this.#listing;
  }

  /** The method that made the corpus is the one to ask why; once, then the user's choice holds. @param {string} corpus */
  #useMethodOf(corpus) {
    if (this.#methodOf === corpus) return;
    this.#methodOf = corpus;
    const method = this.list.about?.method;
    const isKnown = [...byId("method").options].some((option) => option.value === method);
    if (isKnown && !new URLSearchParams(location.search).has("method")) byId("method").value = method;
  }

  /** @param {any} stored @param {string} corpus */
  #show(stored, corpus) {
    const { facts } = stored;
    byId("corpus-page").hidden = false;
    byId("corpus-page-note").hidden = true;
    byId("corpus-page-title").textContent = `Corpus “${corpus}”`;
    byId("corpus-page-verdict").className = `badge ${stored.kept ? "kept" : "dropped"}`;
    byId("corpus-page-verdict").textContent = stored.kept ? "page kept" : `page rejected: ${facts.reason}`;
    byId("corpus-page-verdict").hidden = facts.size !== undefined; // nobody has judged it yet
    byId("corpus-page-counts").textContent = countsOf(facts);
    byId("corpus-facts").replaceChildren(...factsOf(facts));
    byId("corpus-text").hidden = stored.text === null;
    byId("corpus-text").textContent = stored.text ?? "";
    byId("corpus-text-cut").hidden = stored.characters <= (stored.text ?? "").length;
    byId("corpus-text-cut").textContent = `The text goes on: it has ${stored.characters.toLocaleString("en")} characters.`;
    showBlocks(stored);
    byId("corpus-apart").hidden = stored.text === null;
    byId("corpus-apart").textContent = this.#wayOfRun(facts);
    byId("corpus-stored").open = false;
  }

  /** Why the stored text may be another than the one that Inspect shows. @param {any} facts */
  #wayOfRun(facts) {
    const { method = facts.method, parameters = {}, text_format: format, site_templates: templates } = this.list.about ?? {};
    const chosen = Object.entries(parameters).map(([name, value]) => `${name}=${value}`);
    const how = `${method}${chosen.length ? ` with ${chosen.join(", ")}` : ""}${templates ? ", which knew what each site repeats" : ""}`;
    const as = format === "markdown" ? " and stored as Markdown" : format === "html" ? " and stored as HTML" : "";
    return `The text below was kept by ${how}${as}. Inspect asks the method that is chosen there, about this page alone.`;
  }

  /** Nothing but what the corpus holds can be shown. @param {any} stored @param {unknown} error */
  #showAlone(stored, error) {
    byId("result").hidden = true;
    byId("main").classList.add("has-result");
    byId("input-panel").open = false;
    byId("input-summary").textContent = "Open another page";
    showProblem(byId("problem"), null);
    const words = [/** @type {any} */ (error).message ?? String(error), /** @type {any} */ (error).hint].filter(Boolean).join("; ");
    byId("corpus-page-note").hidden = false;
    byId("corpus-page-note").textContent = `${words.charAt(0).toUpperCase()}${words.slice(1)}.`
      + ` This is what the corpus holds of it${stored.text === null ? ": no text" : ""}.`;
    byId("corpus-stored").open = true;
    byId("corpus-apart").hidden = true;
    document.title = `${nameOf(stored.facts)} · Inspect · mainmatter`;
    announce(`${nameOf(stored.facts)}. ${byId("corpus-page-note").textContent}`);
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    const step = /** @type {Record<string, number>} */ ({ n: 1, p: -1 })[event.key];
    if (!step || !this.#open || event.ctrlKey || event.metaKey || event.altKey || isForControl(event)) return;
    event.preventDefault();
    void this.step(step);
  }

  #remember() {
    try {
      sessionStorage.setItem(STORED, JSON.stringify({ choice: this.list.choice, open: this.#open, tab: this.#tab }));
    } catch { /* a reload begins anew */ }
  }
}

/** @returns {Memory | null} */
function recall() {
  try {
    return JSON.parse(sessionStorage.getItem(STORED) ?? "null");
  } catch {
    return null;
  }
}

/** @param {any} facts */
function countsOf(facts) {
  const parts = [];
  if (facts.words !== undefined) parts.push(`${facts.words.toLocaleString("en")} words`);
  if (facts.size !== undefined) parts.push(`${facts.size.toLocaleString("en")} bytes, not cleaned yet`);
  if (facts.language) parts.push(facts.language);
  const confidence = decimal(facts.confidence);
  if (confidence) parts.push(`confidence: ${confidence}`);
  if (facts.method) parts.push(`by ${facts.method} ${facts.version ?? ""}`.trim());
  if (facts.detail) parts.push(facts.detail);
  return parts.join(" · ");
}

/** @param {any} facts */
function factsOf(facts) {
  return SHOWN.filter((name) => facts[name]).flatMap((name) => {
    const value = name === "source" ? `${facts.source}, position ${Number(facts.position).toLocaleString("en")}` : facts[name];
    return [element("dt", {}, name.replace("_", " ")), element("dd", {}, value)];
  });
}

/** @param {any} stored */
function showBlocks({ blocks, all_blocks: all }) {
  byId("corpus-blocks").hidden = !blocks;
  const heads = ["Label", "Kind", "Score", "Text"].map((head) => element("th", { scope: "col" }, head));
  const given = /** @type {any[]} */ (blocks ?? []);
  const rows = given.filter((one) => one && typeof one === "object").map((one) => element("tr", {},
    element("td", {}, element("span", { class: `badge ${{ main: "kept", comment: "comment" }[/** @type {string} */ (one.label)] ?? "dropped"}` }, one.label)),
    element("td", {}, one.kind), element("td", { class: "number" }, decimal(one.score)),
    element("td", { class: "text" }, one.text)));
  const more = all > given.length ? `, the first ${given.length.toLocaleString("en")} of ${all.toLocaleString("en")}` : "";
  byId("corpus-blocks").replaceChildren(element("table", { class: "data" },
    element("caption", {}, `Blocks as they were stored${more}`), element("thead", {}, element("tr", {}, ...heads)),
    element("tbody", {}, ...rows)));
}
