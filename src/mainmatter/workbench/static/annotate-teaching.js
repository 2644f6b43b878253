// @ts-check
/**
 * Teaching in the background: a model learns from the pages that are done while the next ones are labelled. The server
 * decides when it is time; here it is asked after each page, and watched while a job runs.
 *
 * @typedef {{state: "waiting" | "running" | "failed", model: string, version: string, done: number, learned_from: number,
 *   next_at: number, share: number, error: string}} Stand
 */
import { api } from "./shell.js";
import { teachesMeanwhile } from "./annotate-mode.js";

const PAUSE = 2500; // milliseconds between two looks at a job that runs
const PATH = "/api/annotate/teaching";

export class BackgroundTeaching {
  #timer = 0;
  /** @type {(stand: Stand) => void} */
  #tell = () => undefined;
  /** @type {Stand | null} */
  stand = null;

  /**
   * Tell a view how teaching stands, now and whenever it changes; one view at a time.
   * @param {(stand: Stand) => void} tell
   */
  watch(tell) {
    this.#tell = tell;
    if (this.stand) tell(this.stand);
    void this.#look(PATH);
  }

  stop() {
    this.#tell = () => undefined;
  }

  /** A page is done: teach, if it is time. */
  pageIsDone() {
    if (teachesMeanwhile()) void this.#look(PATH, { method: "POST" });
  }

  /**
   * @param {string} path
   * @param {{method?: string}} [how]
   */
  async #look(path, how = {}) {
    clearTimeout(this.#timer);
    const stand = await api(path, how).catch(() => null); // quiet: labelling goes on without it
    if (!stand) return;
    const ended = this.stand?.state === "running" && stand.state !== "running";
    this.stand = stand;
    this.#tell(stand);
    clearTimeout(this.#timer);
    if (stand.state === "running") this.#timer = window.setTimeout(() => void this.#look(PATH), PAUSE);
    else if (ended && stand.state === "waiting" && stand.done >= stand.next_at) this.pageIsDone();
  }
}
