// @ts-check
/** Export of the gold standard: as a folder in a zip archive, or as a Parquet file. `train` and `evaluate` read both. */
import { api, busy, count, element, showProblem } from "./shell.js";
import { button } from "./annotate-bar.js";

export class ExportPages {
  constructor() {
    this.button = button("Export", () => this.toggle(), { "aria-expanded": "false", "aria-controls": "export" });
    this.whose = element("select", { id: "whose" });
    this.unfinished = element("input", { type: "checkbox" });
    this.summary = element("div", { role: "status" });
    this.zip = element("a", { class: "button", download: true }, "Folder (.zip)");
    this.parquet = element("a", { class: "button", download: true }, "Parquet");
    this.element = element(
      "section",
      { id: "export", class: "sheet stack", "aria-label": "Export", hidden: true },
      element("h2", {}, "Export the gold standard"),
      element(
        "div",
        { class: "row end" },
        element("div", { class: "field" }, element("label", { for: "whose" }, "Whose labels"), this.whose),
        element("label", { class: "check" }, this.unfinished, "Include pages that nobody has finished"),
        this.zip,
        this.parquet,
      ),
      this.summary,
    );
    this.whose.addEventListener("change", () => void this.#look());
    this.unfinished.addEventListener("change", () => void this.#look());
  }

  /** @param {string[]} annotators */
  load(annotators) {
    const chosen = this.whose.value;
    this.whose.replaceChildren(
      element("option", { value: "best" }, "The best of each page: merged, else agreed, else the only labels"),
      element("option", { value: "merged" }, "Merged only"),
      ...annotators.map((name) => element("option", { value: name }, `${name}’s`)),
    );
    if (chosen) this.whose.value = chosen;
    if (!this.element.hidden) void this.#look();
  }

  toggle() {
    this.element.hidden = !this.element.hidden;
    this.button.setAttribute("aria-expanded", String(!this.element.hidden));
    if (!this.element.hidden) void this.#look();
  }

  get #query() {
    return new URLSearchParams({ whose: this.whose.value || "best", unfinished: String(this.unfinished.checked) }).toString();
  }

  async #look() {
    this.zip.href = `/api/annotate/export/folder.zip?${this.#query}`;
    this.parquet.href = `/api/annotate/export/pages.parquet?${this.#query}`;
    const query = this.#query;
    try {
      const { pages, labels, accepted, left_out: leftOut } = await busy(this.summary, api(`/api/annotate/export?${query}`));
      if (query !== this.#query) return; // another choice was made meanwhile: its answer may have come before this one
      for (const link of [this.zip, this.parquet]) {
        link.classList.toggle("off", !pages);
        link.setAttribute("aria-disabled", String(!pages));
      }
      this.summary.replaceChildren(
        element("p", {}, `The export will contain ${count(pages, "page")} with ${count(labels, "label")}.${accepted ? ` ${accepted} of the labels were suggested and only accepted; suggested_by says what suggested them.` : ""}`),
        leftOut.length ? leftOutList(leftOut) : "",
      );
    } catch (error) {
      if (query === this.#query) showProblem(this.summary, error);
    }
  }
}

/** @param {{name: string, why: string}[]} leftOut */
function leftOutList(leftOut) {
  return element(
    "details",
    { open: leftOut.length <= 5 },
    element("summary", {}, `${count(leftOut.length, "page")} left out or cut short, and why`),
    element("ul", {}, ...leftOut.map(({ name, why }) => element("li", {}, element("strong", {}, name), `: ${why}`))),
  );
}
