// @ts-check
/**
 * Teaching in the background: a model learns from the finished pages while the user labels the next ones. The server
 * decides when; this asks it after each page, and polls it while a job runs.
 *
 * @typedef {{state: "waiting" | "running" | "failed", model: string, version: string, done: number, learned_from: number,
 *   next_at: number, share: number, error: string}} Stand
 */
import { api } from "./shell.js";
import { teachesMeanwhile } from "./annotate-mode.js";

const PAUSE = 2500; // milliseconds between two polls of a running job
const PATH = "/api/annotate/teaching";

export class BackgroundTeaching {
  #timer = 0;
  /** @type {(stand: Stand) => void} */
  #tell = () => undefined;
  /** @type {Stand | null} */
  stand = null;

  /**
   * Report the state of teaching to a view, now and on every change; one view at a time.
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

  /** A page is done: teach if a lesson is due. */
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
