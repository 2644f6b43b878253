// A page of a corpus: as it is now, tinted by what the corpus's method keeps, and beside it what the corpus stores.
// @ts-check

import { announce, api, busy, byId, element, makeTabs, showProblem } from "./shell.js";
import { correct } from "./correct.js";
import { decimal, nameOf, number } from "./corpus-list.js";
import { keptAt } from "./inspect-words.js";
import { PageFrame } from "./page-frame.js";

const FACTS = ["title", "url", "author", "date", "site", "description", "language", "page_type", "reason", "detail", "time", "id", "source"];
const TABS = ["tab-stored-text", "tab-stored-blocks", "tab-stored-facts"];

export class CorpusPage {
  #asked = 0; // the number of the last page: answers about earlier ones are ignored
  /** @type {Promise<Set<string>> | null} */
  #methods = null;
  /** The shown page, and the method that labels it when the user corrects it. @type {{source: import("./inspect-input.js").Source, kept: {method: string, options: object}} | null} */
  #shown = null;

  constructor() {
    this.frame = new PageFrame(byId("page"));
    this.chooseTab = makeTabs(byId("corpus-tabs"));
    byId("corpus-correct").addEventListener("click", () => this.#correct());
  }

  /** Ignore answers that are still on their way. */
  leave() {
    this.#asked += 1;
    this.#shown = null;
  }

  /**
   * Show a page.
   *
   * @param {string} corpus
   * @param {string} key
   * @param {any} about what is known of the corpus
   * @returns {Promise<boolean>} whether the stored data arrived; the page itself may follow later, or fail
   */
  async show(corpus, key, about) {
    const asked = ++this.#asked;
    const isOld = () => asked !== this.#asked;
    const page = { name: corpus, page: key };
    try {
      const stored = await busy(byId("main"), api(`/api/corpora/${encodeURIComponent(corpus)}/pages/${encodeURIComponent(key)}`));
      if (isOld()) return false;
      showProblem(byId("problem"), null);
      const source = { name: nameOf(stored.facts), corpus: page };
      this.#showStored(stored, about);
      byId("corpus-inspect").href = `/?${new URLSearchParams({ corpus, page: key })}`;
      void this.#showOriginal(source, stored, about, isOld);
      return true;
    } catch (error) {
      if (!isOld()) showProblem(byId("problem"), error);
      return false;
    }
  }

  /**
   * @param {import("./inspect-input.js").Source} source
   * @param {any} stored
   * @param {any} about
   * @param {() => boolean} isOld
   */
  async #showOriginal(source, stored, about, isOld) {
    const kept = await this.#methodOf(about);
    this.#shown = { source, kept };
    byId("corpus-original").hidden = false;
    byId("corpus-asked").textContent = `by ${kept.method}`;
    try {
      const answer = await busy(byId("main"), api("/api/inspect", { json: { corpus: source.corpus, ...kept } }));
      if (isOld()) return;
      const isKept = keptAt({ ...answer, dial: null }, 0);
      const comments = new Set(answer.blocks.labels.comment);
      await this.frame.load(`/frame/${answer.frame}`);
      if (isOld()) return;
      this.frame.setStates((block) => (isKept[block] ? (comments.has(block) ? "comment" : "kept") : "dropped"));
      this.frame.scrollTo(Math.max(0, isKept.indexOf(1)));
      byId("page").dataset.shown = source.corpus?.page ?? "";
    } catch (error) {
      if (!isOld()) this.#showAlone(stored, error);
    }
  }

  /** The method that made the corpus, if clients may use it; otherwise main. @param {any} about */
  async #methodOf(about) {
    this.#methods ??= api("/api/methods").then(({ methods }) => new Set(methods.map((/** @type {any} */ one) => one.name)), () => new Set());
    const isKnown = about?.method && (await this.#methods).has(about.method);
    return isKnown ? { method: about.method, options: about.parameters ?? {} } : { method: "main", options: {} };
  }

  async #correct() {
    const shown = this.#shown;
    if (!shown) return;
    try {
      await correct(shown.source, /** @type {any} */ (shown.kept));
    } catch (error) {
      showProblem(byId("problem"), error);
    }
  }

  /** @param {any} stored @param {any} about */
  #showStored(stored, about) {
    const { facts } = stored;
    byId("corpus-page-note").hidden = true;
    byId("corpus-original").hidden = false;
    byId("corpus-correct").disabled = false;
    byId("corpus-page-title").textContent = nameOf(facts);
    byId("corpus-page-verdict").className = `badge ${stored.kept ? "kept" : "dropped"}`;
    byId("corpus-page-verdict").textContent = stored.kept ? "page kept" : `page rejected: ${facts.reason}`;
    byId("corpus-page-verdict").hidden = facts.size !== undefined; // it has no verdict yet
    byId("corpus-page-counts").textContent = countsOf(facts);
    byId("corpus-facts").replaceChildren(...factsOf(facts));
    byId("corpus-text").hidden = stored.text === null;
    byId("corpus-text").textContent = stored.text ?? "";
    byId("corpus-text").scrollTop = 0;
    byId("corpus-text-cut").hidden = stored.characters <= (stored.text ?? "").length;
    byId("corpus-text-cut").textContent = `This is the beginning of ${number(stored.characters)} characters.`;
    byId("corpus-apart").textContent = stored.text !== null ? wayOfRun(facts, about)
      : facts.size !== undefined ? "This page has not been cleaned yet." : "The corpus stores no text of rejected pages.";
    byId("tab-stored-blocks").hidden = !stored.blocks;
    showBlocks(stored);
    const chosen = TABS.find((id) => byId(id).getAttribute("aria-selected") === "true");
    if (!chosen || byId(chosen).hidden) this.chooseTab(TABS[0]);
    delete byId("page").dataset.shown;
    document.title = `${nameOf(facts)} · Corpus · mainmatter`;
    announce(`${nameOf(facts)}. ${byId("corpus-page-counts").textContent}`);
  }

  /** Show only what the corpus stores: the page itself cannot be shown. @param {any} stored @param {unknown} error */
  #showAlone(stored, error) {
    const words = [/** @type {any} */ (error).message ?? String(error), /** @type {any} */ (error).hint].filter(Boolean).join("; ");
    byId("corpus-original").hidden = true;
    byId("corpus-correct").disabled = true;
    byId("corpus-page-note").hidden = false;
    byId("corpus-page-note").textContent = `${words.charAt(0).toUpperCase()}${words.slice(1)}.`
      + ` This is what the corpus stores of it${stored.text === null ? ": no text" : ""}.`;
    if (stored.text === null) this.chooseTab("tab-stored-facts");
    announce(byId("corpus-page-note").textContent);
  }
}

/** How the stored text was made: it may differ from what is tinted. @param {any} facts @param {any} about */
function wayOfRun(facts, about) {
  const { method = facts.method, parameters = {}, text_format: format, site_templates: templates } = about ?? {};
  const chosen = Object.entries(parameters).map(([name, value]) => `${name}=${value}`);
  const how = `${method}${chosen.length ? ` with ${chosen.join(", ")}` : ""}${templates ? ", which knew what each site repeats" : ""}`;
  const as = format === "markdown" ? " and stored as Markdown" : format === "html" ? " and stored as HTML" : "";
  return `Kept by ${how}${as}.`;
}

/** @param {any} facts */
function countsOf(facts) {
  const parts = [];
  if (facts.words !== undefined) parts.push(`${number(facts.words)} words`);
  if (facts.size !== undefined) parts.push(`${number(facts.size)} bytes, not cleaned yet`);
  if (facts.language) parts.push(facts.language);
  if (facts.page_type) parts.push(facts.page_type);
  const confidence = decimal(facts.confidence);
  if (confidence) parts.push(`confidence: ${confidence}`);
  if (facts.method) parts.push(`by ${facts.method} ${facts.version ?? ""}`.trim());
  if (facts.detail) parts.push(facts.detail);
  return parts.join(" · ");
}

/** @param {any} facts */
function factsOf(facts) {
  return FACTS.filter((name) => facts[name]).flatMap((name) => {
    const value = name === "source" ? `${facts.source}, position ${number(Number(facts.position))}` : facts[name];
    return [element("dt", {}, name.replace("_", " ")), element("dd", {}, value)];
  });
}

/** @param {any} stored */
function showBlocks({ blocks, all_blocks: all }) {
  const heads = ["Label", "Kind", "Score", "Text"].map((head) => element("th", { scope: "col" }, head));
  const given = /** @type {any[]} */ (blocks ?? []);
  const rows = given.filter((one) => one && typeof one === "object").map((one) => element("tr", {},
    element("td", {}, element("span", { class: `badge ${{ main: "kept", comment: "comment" }[/** @type {string} */ (one.label)] ?? "dropped"}` }, one.label)),
    element("td", {}, one.kind), element("td", { class: "number" }, decimal(one.score)),
    element("td", { class: "text" }, one.text)));
  const more = all > given.length ? `, the first ${number(given.length)} of ${number(all)}` : "";
  byId("corpus-blocks").replaceChildren(element("table", { class: "data" },
    element("caption", {}, `Stored blocks${more}`), element("thead", {}, element("tr", {}, ...heads)),
    element("tbody", {}, ...rows)));
}
