// @ts-check
/**
 * Adding pages: files, an address, or the contents of the server's import folder; all of them, or those that methods
 * disagree on most.
 *
 * @typedef {{id: string, state: "running" | "done" | "failed", what: string, share: number, read: number, added: number,
 *   known: number, rejected: number, rejects: {name: string, why: string}[], message: string}} Job
 */
import { announce, api, count, element, showProblem } from "./shell.js";
import { button } from "./annotate-bar.js";

const PAUSE = 400; // milliseconds between two looks at an import

export class AddPages {
  #closed = false;

  /** @param {() => Promise<void>} refresh called when pages were added */
  constructor(refresh) {
    this.refresh = refresh;
    this.button = button("Add pages", () => this.toggle(), { "aria-expanded": "false", "aria-controls": "add-pages" });
    this.files = element("input", { type: "file", id: "files", multiple: true, accept: ".html,.htm,.xhtml,.txt,.warc,.wet,.gz,.zst,.jsonl,.ndjson,.parquet" });
    this.url = element("input", { type: "url", id: "url", placeholder: "https://…", required: true });
    this.entries = element("select", { id: "entry" });
    this.folderNote = element("p", { class: "soft small" });
    this.most = element("input", { type: "checkbox", id: "most" });
    this.number = element("input", { type: "number", id: "most-number", min: "1", max: "1000", value: "20", "aria-label": "How many pages" });
    this.problem = element("div", {});
    this.jobs = element("div", { class: "stack jobs" });
    this.element = element("section", { id: "add-pages", class: "sheet stack", "aria-label": "Add pages", hidden: true }, ...this.#parts());
    this.#listenToDrops();
  }

  open() {
    if (this.element.hidden) this.toggle();
  }

  close() {
    this.#closed = true;
  }

  toggle() {
    this.element.hidden = !this.element.hidden;
    this.button.setAttribute("aria-expanded", String(!this.element.hidden));
    if (!this.element.hidden) void this.#loadFolder();
  }

  #parts() {
    this.folderForm = element(
      "form",
      { class: "field" },
      element("label", { for: "entry" }, "The server's import folder"),
      element("div", { class: "row" }, this.entries, element("button", {}, "Add")),
      this.folderNote,
    );
    const files = element(
      "form",
      { class: "field drop" },
      element("label", { for: "files" }, "Files (HTML, text, WARC, JSONL, Parquet): choose them or drop them here"),
      element("div", { class: "row" }, this.files, element("button", { class: "primary" }, "Upload")),
    );
    const url = element("form", { class: "field" }, element("label", { for: "url" }, "A web address"), element("div", { class: "row" }, this.url, element("button", {}, "Fetch")));
    files.addEventListener("submit", (/** @type {Event} */ event) => this.#submit(event, () => this.#upload(this.files.files)));
    url.addEventListener("submit", (/** @type {Event} */ event) => this.#submit(event, () => this.#fetch()));
    this.folderForm.addEventListener("submit", (/** @type {Event} */ event) => this.#submit(event, () => this.#addEntry()));
    const most = element(
      "div",
      { class: "field" },
      element("div", { class: "row tight" }, element("label", { class: "check" }, this.most, "Only the pages that methods disagree on most:"), this.number),
      element("p", { class: "soft small" }, "Labels teach most where methods disagree. Several methods clean all pages of the import first, which takes longer."),
    );
    return [element("h2", {}, "Add pages"), element("div", { class: "import-ways" }, files, url, this.folderForm), most, this.problem, this.jobs];
  }

  #listenToDrops() {
    this.element.addEventListener("dragover", (/** @type {DragEvent} */ event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      this.element.classList.add("dropping");
    });
    this.element.addEventListener("dragleave", () => this.element.classList.remove("dropping"));
    this.element.addEventListener("drop", (/** @type {DragEvent} */ event) => {
      this.element.classList.remove("dropping");
      if (event.dataTransfer?.files.length) void this.#submit(event, () => this.#upload(event.dataTransfer?.files));
    });
  }

  /**
   * @param {Event} event
   * @param {() => Promise<Job | null>} begin
   */
  async #submit(event, begin) {
    event.preventDefault();
    showProblem(this.problem, null);
    try {
      const job = await begin();
      if (job) await this.#follow(job);
    } catch (error) {
      showProblem(this.problem, error);
    }
  }

  get #mostWanted() {
    return this.most.checked ? Number(this.number.value) || 20 : null;
  }

  /** @param {FileList | null | undefined} files */
  async #upload(files) {
    if (!files?.length) throw new Error("Choose at least one file first.");
    const form = new FormData();
    for (const file of files) form.append("files", file);
    if (this.#mostWanted) form.append("most", String(this.#mostWanted));
    const job = await api("/api/annotate/imports/files", { body: form });
    this.files.value = "";
    return job;
  }

  async #fetch() {
    const job = await api("/api/annotate/imports/url", { json: { url: this.url.value } });
    this.url.value = "";
    return job;
  }

  async #addEntry() {
    if (!this.entries.value) throw new Error("The import folder is empty.");
    return api("/api/annotate/imports/folder", { json: { name: this.entries.value, most: this.#mostWanted } });
  }

  async #loadFolder() {
    try {
      const { entries } = await api("/api/annotate/imports/folder");
      this.entries.replaceChildren(...entries.map((/** @type {any} */ entry) => element("option", { value: entry.name }, `${entry.name} (${entry.about})`)));
      this.entries.parentElement.hidden = !entries.length;
      this.folderNote.textContent = entries.length
        ? "If you add a corpus made by mainmatter corpus, its rejects are imported: the pages that it left out."
        : "Empty. To fill it, put files, folders or a corpus into import/ in the workbench's folder on the server.";
    } catch (error) {
      showProblem(this.problem, error);
    }
  }

  /** @param {Job} job */
  async #follow(job) {
    const row = element("div", { class: "job", role: "status" });
    this.jobs.prepend(row);
    let now = job;
    showJob(row, now);
    while (now.state === "running" && !this.#closed) {
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
      now = await api(`/api/annotate/imports/${job.id}`);
      showJob(row, now);
    }
    announce(inWords(now));
    if (!this.#closed) await this.refresh();
  }
}

/**
 * @param {HTMLElement} row
 * @param {Job} job
 */
function showJob(row, job) {
  const rest = job.rejected - job.rejects.length;
  row.dataset.state = job.state;
  row.replaceChildren(
    element("p", {}, element("strong", {}, job.what), ` · ${inWords(job)}`),
    job.state === "running" ? element("progress", { max: "1", value: job.share, "aria-label": `Progress of ${job.what}` }) : "",
    job.rejects.length
      ? element("details", {}, element("summary", {}, `${count(job.rejected, "page")} not added`), element("ul", {}, ...job.rejects.map(({ name, why }) => element("li", {}, name ? element("strong", {}, `${name}: `) : "", why)), rest > 0 ? element("li", {}, `and ${rest} more`) : null))
      : "",
  );
}

/** @param {Job} job */
function inWords(job) {
  if (job.state === "failed") return `failed: ${job.message}${job.added ? ` (${job.added} added before that)` : ""}`;
  const parts = [`${job.added} added`];
  if (job.known) parts.push(`${job.known} already here`);
  if (job.rejected) parts.push(`${job.rejected} not added`);
  if (job.message) parts.push(job.message);
  return (job.state === "running" ? `${count(job.read, "page")} read, ` : "") + parts.join(", ");
}
