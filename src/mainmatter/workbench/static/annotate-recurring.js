// @ts-check
/**
 * Blocks that a site repeats are labelled once: a line above the page offers it, and a dialog lists them.
 *
 * @typedef {{key: string, text: string, pages: number, open: number}} RecurringBlock
 * @typedef {{site: string, pages: number, blocks: RecurringBlock[]}} Recurring
 */
import { api, busy, count, element, showProblem } from "./shell.js";
import { button, openDialog } from "./annotate-bar.js";

export const FEWEST = 5; // blocks that are worth asking about
const MAIN_MATTER = 0.8; // a block this likely is not ticked: it may be what the page is about
const NOT_NOW = "mainmatter-recurring-not-now";

export class RecurringBlocks {
  /** @type {Recurring | null} */
  #found = null;

  /**
   * @param {string} path of the page's API
   * @param {string} annotator
   * @param {{chanceOf: (key: string) => number, mayAsk: () => boolean,
   *   dropped: (blocks: number, pages: number) => Promise<void>}} view how likely a block of the page is main matter;
   *   whether everything is saved; and what to do when the server has dropped them.
   */
  constructor(path, annotator, view) {
    this.path = `${path}/recurring`;
    this.annotator = annotator;
    this.view = view;
    this.element = element("div", { id: "recurring", class: "recurring", role: "status" });
  }

  /** Ask the server what recurs. */
  async look() {
    this.#found = await api(`${this.path}?annotator=${encodeURIComponent(this.annotator)}`).catch(() => null); // labelling works without it, only slower
    const found = this.#found;
    const isOffered = found && found.blocks.length >= FEWEST && sessionStorage.getItem(NOT_NOW) !== found.site;
    if (!found || !isOffered) return this.element.replaceChildren();
    return this.element.replaceChildren(
      element("span", {}, `${count(found.blocks.length, "block")} of this page recur on the ${count(found.pages, "page")} of ${found.site}. Drop them everywhere?`),
      button("Show them", () => this.open(), { id: "recurring-look" }, "t"),
      button("Not now", () => this.#notNow(found.site), { class: "quiet" }),
    );
  }

  /** @param {string} site */
  #notNow(site) {
    sessionStorage.setItem(NOT_NOW, site);
    this.element.replaceChildren();
  }

  /** Show the list; nothing is dropped before the user confirms it. */
  open() {
    const found = this.#found;
    if (!found?.blocks.length) return false;
    const boxes = found.blocks.map(({ key }) => element("input", { type: "checkbox", checked: this.view.chanceOf(key) < MAIN_MATTER, value: key }));
    const rows = found.blocks.map(({ text, pages }, i) => element("li", {}, element("label", { class: "check" }, boxes[i], element("span", {}, text, element("span", { class: "soft" }, ` · on ${count(pages, "page")}`)))));
    const problem = element("div", {});
    const words = () => `Drop ${count(boxes.filter(({ checked }) => checked).length, "block")} on all ${count(found.pages, "page")}`;
    const drop = button(words(), () => void this.#drop(boxes.filter(({ checked }) => checked).map(({ value }) => value), drop, problem), { id: "recurring-drop", class: "primary" });
    const list = element("ul", { class: "recurring-list" }, ...rows);
    list.addEventListener("change", () => { drop.textContent = words(); });
    const about = "Untick what is main matter. Blocks that you labelled yourself stay as they are. On each page, Z undoes this.";
    openDialog("Blocks that the site repeats", { class: "wide", id: "recurring-dialog" }, element("p", {}, about), list, problem, element("div", { class: "row" }, drop));
    drop.focus();
    return true;
  }

  /**
   * @param {string[]} keys
   * @param {HTMLButtonElement} drop
   * @param {HTMLElement} problem
   */
  async #drop(keys, drop, problem) {
    if (!this.view.mayAsk()) return showProblem(problem, new Error("Some changes to this page are not saved yet; try again in a moment."));
    drop.disabled = true;
    try {
      const { pages, blocks } = await busy(drop, api(this.path, { json: { annotator: this.annotator, keys } }));
      drop.closest("dialog")?.close();
      this.#found = null;
      this.element.replaceChildren();
      await this.view.dropped(blocks, pages);
    } catch (error) {
      drop.disabled = false;
      showProblem(problem, error);
    }
    return undefined;
  }
}
