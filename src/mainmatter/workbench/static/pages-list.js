// @ts-check
/**
 * All pages of the workbench, with the progress of this annotator and the others.
 *
 * @typedef {{id: number, name: string, url: string | null, source: string, note: string, blocks: number,
 *   status: string, labelled: number, done: boolean, others: {annotator: string, labelled: number, done: boolean}[],
 *   merged: number, conflicts: number | null, lost: number | null}} PageRow
 */
import { api, busy, count, debounced, element, showProblem } from "./shell.js";
import { figure } from "./annotate-bar.js";
import { AddPages } from "./annotate-import.js";
import { ExportPages } from "./annotate-export.js";
import { kappaInWords, modelInWords, percent } from "./annotate-words.js";

const AT_ONCE = 200; // rows; more are shown when asked for
const PAUSE = 1500; // milliseconds between two polls of the queue while the model scores pages
const TELLING = 0.05; // a share of words that is worth mentioning
const FILTERS = [
  ["all", "All pages"],
  ["open", "Not done by me"],
  ["mine", "Done by me"],
  ["one", "Done by one annotator"],
  ["conflict", "With conflicts"],
  ["merged", "Merged"],
];

export class PagesView {
  /** @type {PageRow[]} */
  #pages = [];
  /** @type {Map<number, {text: number | null, kept_kappa: number | null, kind_kappa: number | null}>} */
  #agreement = new Map();
  /** @type {Map<number, HTMLElement>} where the agreement on a page is shown */
  #cells = new Map();
  /** @type {Map<number, {sure: number | null, differs: number | null}>} in Teach mode, the pages that wait, in their order */
  #queue = new Map();
  /** @type {Map<number, HTMLElement>} where the reason to label a page is shown */
  #reasons = new Map();
  #model = "";
  #timer = 0;
  #most = AT_ONCE;
  #closed = false;

  /**
   * @param {string} annotator
   * @param {import("./annotate-mode.js").Mode} mode
   */
  constructor(annotator, mode) {
    this.annotator = annotator;
    this.teaches = mode === "teach";
    this.filter = element("select", { id: "filter" }, ...FILTERS.map(([value, word]) => element("option", { value }, word)));
    this.search = element("input", { id: "search", type: "search", placeholder: "Name, address or note" });
    this.rows = element("tbody", {});
    this.count = element("p", { class: "soft", role: "status" });
    this.more = element("button", { type: "button", hidden: true }, "Show more");
    this.begin = element("a", { id: "begin", class: "button primary", href: "#/", hidden: true }, this.teaches ? "Correct the next page" : "Label the next page");
    this.figures = element("dl", { class: "figures", "aria-label": "Agreement over all pages" });
    this.problem = element("div", {});
    this.adding = new AddPages(() => this.refresh());
    this.exporting = new ExportPages();
    this.table = element("div", { class: "table-scroll sheet flush" }, this.#makeTable());
    this.empty = element("div", { class: "sheet empty", hidden: true }, element("h2", {}, "No pages yet"), element("p", {}, "Add files, a web address, or entries of the server's import folder."));
    this.filters = this.#filters();
    this.element = element("div", { class: "stack" }, this.#head(), this.problem, this.figures, this.adding.element, this.exporting.element, this.filters, this.empty, this.table, this.more);
    this.#listen();
  }

  async open() {
    await this.refresh();
    if (!this.#pages.length) this.adding.open();
  }

  mayLeave() {
    return true;
  }

  close() {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.adding.close();
  }

  async refresh() {
    const { pages, annotators } = await busy(this.element, api(`/api/annotate/pages?annotator=${encodeURIComponent(this.annotator)}`));
    this.#pages = pages;
    this.exporting.load(annotators);
    if (this.teaches) await this.#lookAtQueue();
    this.#show();
    if (!this.teaches) void this.#loadAgreement();
  }

  /** Load the queue and its reasons; repeat until the model has scored all pages. */
  async #lookAtQueue() {
    clearTimeout(this.#timer);
    const queue = await api(`/api/annotate/queue?annotator=${encodeURIComponent(this.annotator)}`);
    if (this.#closed) return;
    this.#model = queue.model;
    this.#queue = new Map(queue.pages.map((/** @type {any} */ page) => [page.id, page]));
    const places = [...this.#queue.keys()];
    const placeOf = (/** @type {PageRow} */ page) => (this.#queue.has(page.id) ? places.indexOf(page.id) : places.length);
    this.#pages = this.#pages.toSorted((one, other) => placeOf(one) - placeOf(other)); // those that are done come last
    if (queue.waiting) this.#timer = window.setTimeout(() => void this.#lookAgain(), PAUSE);
  }

  async #lookAgain() {
    await this.#lookAtQueue().catch(() => undefined); // quiet: the old order stays
    // Update only these while the user may be about to click: a row that moves is clicked by mistake.
    if (this.table.matches(":hover, :focus-within")) for (const page of this.#pages) this.#reasons.get(page.id)?.replaceChildren(this.#reasonOf(page));
    else if (!this.#closed) this.#show();
  }

  async #loadAgreement() {
    if (!this.#pages.some((page) => page.conflicts !== null && page.others.length + (page.labelled ? 1 : 0) > 1)) return;
    try {
      const report = await api(`/api/annotate/agreement?annotator=${encodeURIComponent(this.annotator)}`);
      if (this.#closed) return;
      this.#agreement = new Map(report.pages.map((/** @type {any} */ page) => [page.id, page]));
      this.#showFigures(report);
      // Update only these: if a row is replaced during a click, the click is lost.
      for (const page of this.#pages) this.#cells.get(page.id)?.replaceChildren(this.#agreementOf(page));
    } catch (error) {
      showProblem(this.problem, error);
    }
  }

  #head() {
    return element("div", { class: "row list-head" }, this.count, element("div", { class: "grow" }), this.begin, this.adding.button, this.exporting.button);
  }

  #filters() {
    return element(
      "div",
      { class: "row end filters", role: "search", "aria-label": "Filter pages" },
      element("div", { class: "field" }, element("label", { for: "filter" }, "Show"), this.filter),
      element("div", { class: "field grow" }, element("label", { for: "search" }, "Find"), this.search),
    );
  }

  #makeTable() {
    const heads = this.teaches ? ["Page", "Why", "You"] : ["Page", "You", "Others", "Conflicts", "Agreement", "Status", ""];
    return element(
      "table",
      { class: "data pages" },
      element("caption", { class: "visually-hidden" }, "Pages"),
      element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", { scope: "col" }, head || element("span", { class: "visually-hidden" }, "Actions"))))),
      this.rows,
    );
  }

  #listen() {
    this.filter.addEventListener("change", () => this.#show());
    this.search.addEventListener("input", debounced(() => this.#show(), 120));
    this.more.addEventListener("click", () => {
      this.#most += AT_ONCE;
      this.#show();
    });
  }

  #show() {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const chosen = this.#pages.filter((page) => passes(page, this.filter.value) && words.every((/** @type {string} */ word) => textOf(page).includes(word)));
    this.#cells.clear();
    this.rows.replaceChildren(...chosen.slice(0, this.#most).map((page) => this.#row(page)));
    this.more.hidden = chosen.length <= this.#most;
    this.empty.hidden = this.#pages.length > 0;
    this.table.hidden = !this.#pages.length;
    this.filters.hidden = !this.#pages.length;
    const done = this.#pages.filter((page) => page.done).length;
    this.count.textContent = this.#pages.length
      ? `${count(chosen.length, "page")}${chosen.length < this.#pages.length ? ` of ${this.#pages.length}` : ""} · ${done} done by you`
      : "";
    const next = this.#pages.find((page) => page.blocks && !page.done && page.status !== "merged"); // in Teach mode the first of the queue
    this.begin.hidden = !next;
    if (next) this.begin.href = `#/page/${next.id}`;
  }

  /** @param {PageRow} page */
  #row(page) {
    const labellers = page.others.length + (page.labelled ? 1 : 0);
    const agreement = cell("Agreement", this.#agreementOf(page));
    this.#cells.set(page.id, agreement);
    const reason = cell("Why", this.#reasonOf(page));
    this.#reasons.set(page.id, reason);
    const you = cell("You", progressOf(page.labelled, page.blocks, page.done));
    return element(
      "tr",
      {},
      element(
        "th",
        { scope: "row", class: "page-cell" },
        element("a", { href: `#/page/${page.id}` }, page.name),
        element("span", { class: "soft small address" }, [page.url === page.name ? "" : page.url, count(page.blocks, "block"), page.note].filter(Boolean).join(" · ")),
      ),
      ...(this.teaches ? [reason, you] : [you, ...this.#cellsOfMany(page, labellers, agreement)]),
    );
  }

  /**
   * Why a page is worth labelling: how sure the newest model is of it.
   * @param {PageRow} page
   */
  #reasonOf(page) {
    const known = this.#queue.get(page.id);
    if (!known || known.sure === null) return element("span", { class: "soft" }, known && page.blocks ? "…" : "–");
    const differs = (known.differs ?? 0) >= TELLING ? `, differs from main on ${Math.round(100 * (known.differs ?? 0))} %` : "";
    const title = "How sure the newest model is of the page: 1 minus the mean entropy of its blocks, weighted by words. Then the share of words that only one of it and main keeps";
    return element("span", { title }, `${modelInWords(this.#model)} is ${Math.round(100 * known.sure)} % sure${differs}`);
  }

  /**
   * What several annotators make of a page.
   * @param {PageRow} page
   * @param {number} labellers
   * @param {HTMLElement} agreement
   */
  #cellsOfMany(page, labellers, agreement) {
    return [
      cell("Others", othersOf(page)),
      cell("Conflicts", page.conflicts === null ? element("span", { class: "soft", title: "Shown when you are done with the page" }, "hidden") : labellers > 1 ? String(page.conflicts) : "–"),
      agreement,
      cell("Status", statusBadge(page)),
      cell("", labellers > 1 || page.merged ? element("a", { href: `#/merge/${page.id}`, "aria-label": `Merge ${page.name}` }, "Merge") : "", "action"),
    ];
  }

  /** @param {PageRow} page */
  #agreementOf(page) {
    const known = this.#agreement.get(page.id);
    if (!known || page.conflicts === null) return element("span", { class: "soft" }, "–");
    return element("span", { class: "figure-cell", title: "FIASCO's text agreement; Cohen's kappa over keep and drop" }, known.text === null ? "–" : `${known.text.toFixed(1)} %`, element("span", { class: "soft" }, ` κ ${kappaInWords(known.kept_kappa)}`));
  }

  /** @param {any} report */
  #showFigures(report) {
    if (report.text === null && report.kept === null) return this.figures.replaceChildren();
    return this.figures.replaceChildren(
      figure("Text agreement", report.text === null ? "–" : `${report.text.toFixed(1)} %`, "Mean minimal edit distance between annotators' clean texts, as a similarity; FIASCO's annotators had 91.75 %"),
      figure("Keep or drop", `${percent(report.kept)}, κ ${kappaInWords(report.kept_kappa)}`, "Share of blocks on which they agree, and Cohen's kappa"),
      figure("Kinds", `${percent(report.kind)}, κ ${kappaInWords(report.kind_kappa)}`, "The same for heading, paragraph, list item, comment"),
      figure("Pages", pagesInWords(report), pagesExplained(report)),
    );
  }
}

/** @param {any} report */
function pagesInWords({ pages, unfinished }) {
  return unfinished ? `${pages.length}, ${unfinished} unfinished` : String(pages.length);
}

/** @param {any} report */
function pagesExplained({ unfinished, hidden, accepted }) {
  const parts = ["Labelled by at least two annotators"];
  if (unfinished) parts.push("on unfinished pages, only blocks that two have labelled count");
  if (accepted) parts.push(`without the blocks of ${count(accepted, "label")} that were suggested and only accepted`);
  if (hidden) parts.push(`without ${count(hidden, "page")} that you are still labelling`);
  return parts.join("; ");
}

/**
 * @param {string} head what stands above it, for narrow screens
 * @param {Node | string} content
 * @param {string} [name] of the class
 */
function cell(head, content, name = "") {
  return element("td", { "data-head": head, class: name || null }, content);
}

/**
 * @param {number} labelled
 * @param {number} blocks
 * @param {boolean} done
 */
function progressOf(labelled, blocks, done) {
  if (!blocks) return element("span", { class: "soft", title: "The page has no blocks: it is empty, or a script would fill it" }, "nothing to label");
  if (done) return element("span", { class: "badge kept" }, "done");
  if (!labelled) return element("span", { class: "soft" }, "not started");
  return element("span", { class: "row tight nowrap" }, element("progress", { max: blocks, value: labelled, "aria-label": "Labelled blocks" }), element("span", { class: "soft small" }, `${labelled}/${blocks}`));
}

/** @param {PageRow} page */
function othersOf(page) {
  if (!page.others.length) return element("span", { class: "soft" }, "–");
  return element("span", {}, page.others.map(({ annotator, done }) => `${annotator}${done ? " ✓" : " …"}`).join(", "));
}

/** @param {PageRow} page */
function statusBadge(page) {
  const looks = /** @type {Record<string, string>} */ ({ conflict: "conflict", merged: "kept" });
  const badge = element("span", { class: `badge ${looks[page.status] ?? ""}` }, page.status);
  if (!page.lost) return badge;
  return element("span", {}, badge, element("span", { class: "badge dropped", title: "The page is now cut into different blocks" }, `${page.lost} lost`));
}

/**
 * @param {PageRow} page
 * @param {string} filter
 */
function passes(page, filter) {
  const finished = page.others.filter(({ done }) => done).length + (page.done ? 1 : 0);
  switch (filter) {
    case "open": return page.blocks > 0 && !page.done;
    case "mine": return page.done;
    case "one": return finished === 1;
    case "conflict": return Boolean(page.conflicts);
    case "merged": return page.status === "merged";
    default: return true;
  }
}

/** @param {PageRow} page */
function textOf(page) {
  return `${page.name} ${page.url ?? ""} ${page.note} ${page.source}`.toLowerCase();
}
