// @ts-check
/**
 * An annotator's labels on one page: those the server has stored, and those it has not acknowledged yet.
 *
 * Changes are sent one after the other, in the order in which they were made, and each is one step of the history. A
 * change stays in `waiting` until the server has said that it is stored: "saved" is never shown before that.
 *
 * @typedef {"heading" | "paragraph" | "list" | "comment"} Kind
 * @typedef {{kept: boolean, kind: Kind, suggested_by?: string}} Label `suggested_by` names what suggested it, if the annotator
 *   only accepted it
 * @typedef {{type: "labels", labels: Object<string, Label | null>} | {type: "undo"} | {type: "redo"}
 *   | {type: "accept-agreed"}
 *   | {type: "done", done: boolean}} Change
 * @typedef {{revision: number, labels: Object<string, Label> | null, done: boolean, can_undo: boolean,
 *   can_redo: boolean}} Standing
 * @typedef {"saved" | "saving" | "unsaved" | "stale" | "refused"} Saved
 */

import { same } from "./annotate-words.js";

const FIRST_PAUSE = 500; // milliseconds before a change is sent again
const LONGEST_PAUSE = 8000;
const MOST_LABELS = 10_000; // that the server takes in one change
const PASSING = new Set([408, 425, 429, 500, 502, 503, 504]); // answers that may be better the next time

export class Ledger {
  /** @type {Map<string, Label>} */
  #confirmed = new Map();
  /** @type {Change[]} */
  #waiting = [];
  #sending = false;
  #tries = 0;
  #timer = 0;
  #closed = false;

  /**
   * @param {{send: (change: Change, revision: number) => Promise<Standing>, look: () => Promise<Standing>,
   *   tell: (ledger: Ledger) => void}} options `send` stores one change, `look` reads what is stored now, `tell` is
   *   called whenever something is different.
   */
  constructor({ send, look, tell }) {
    this.send = send;
    this.look = look;
    this.tell = tell;
    this.revision = 0;
    this.done = false;
    this.canUndo = false;
    this.canRedo = false;
    /** @type {Saved} */
    this.state = "saved";
    this.message = "";
  }

  /** @param {Standing} standing */
  open(standing) {
    this.#take(standing);
    this.#waiting = [];
    this.#say("saved");
  }

  /** Send nothing more: the user leaves the page. */
  close() {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  /** The labels as the annotator sees them: the stored ones, with those on their way on top. */
  get labels() {
    const labels = new Map(this.#confirmed);
    for (const change of this.#waiting) if (change.type === "labels") apply(change.labels, labels);
    return labels;
  }

  /** The references of all blocks whose label is not stored yet. */
  get pending() {
    return new Set(this.#waiting.flatMap((change) => (change.type === "labels" ? Object.keys(change.labels) : [])));
  }

  get unsaved() {
    return this.#waiting.length;
  }

  /** Whether the annotator has marked the page as done, be that stored or on its way. */
  get seemsDone() {
    const last = this.#waiting.findLast((change) => change.type === "done");
    return last?.type === "done" ? last.done : this.done;
  }

  /** @param {Change} change more labels than the server takes at once become several changes */
  change(change) {
    const entries = change.type === "labels" ? Object.entries(change.labels) : [];
    if (entries.length <= MOST_LABELS) this.#waiting.push(change);
    else
      for (let start = 0; start < entries.length; start += MOST_LABELS)
        this.#waiting.push({ type: "labels", labels: Object.fromEntries(entries.slice(start, start + MOST_LABELS)) });
    if (this.state === "saved") this.#say("saving");
    else this.tell(this);
    if (this.state === "saving") void this.#pump();
  }

  /** Resend now what could not be sent. */
  retry() {
    if (this.state !== "unsaved" && this.state !== "refused") return;
    clearTimeout(this.#timer);
    this.#say("saving");
    void this.#pump();
  }

  /**
   * Take over what another window has stored.
   * @param {boolean} keepMine store the changes of this window on top of it; otherwise they are discarded.
   */
  async catchUp(keepMine) {
    this.#take(await this.look());
    this.#waiting = keepMine ? this.#waiting.filter((change) => change.type === "labels" || change.type === "done") : [];
    this.#tries = 0;
    this.#say(this.#waiting.length ? "saving" : "saved");
    void this.#pump();
  }

  async #pump() {
    if (this.#sending) return;
    this.#sending = true;
    try {
      while (this.#waiting.length && this.state === "saving" && !this.#closed) await this.#sendFirst();
    } finally {
      this.#sending = false;
    }
    if (!this.#waiting.length && this.state === "saving") this.#say("saved");
  }

  async #sendFirst() {
    const change = this.#waiting[0];
    try {
      const standing = await this.send(change, this.revision);
      this.#waiting.shift();
      if (change.type === "labels") apply(change.labels, this.#confirmed);
      this.#take(standing);
      this.#tries = 0;
      this.tell(this);
    } catch (error) {
      await this.#failed(change, /** @type {Error & {status?: number}} */ (error));
    }
  }

  /**
   * @param {Change} change
   * @param {Error & {status?: number}} error
   */
  async #failed(change, error) {
    this.message = error.message;
    if (error.status === 409) return this.#compare(change);
    if (error.status !== undefined && error.status !== 0 && !PASSING.has(error.status)) return this.#say("refused");
    this.#tries += 1;
    const pause = Math.min(FIRST_PAUSE * 2 ** (this.#tries - 1), LONGEST_PAUSE);
    this.#timer = setTimeout(() => this.retry(), pause);
    return this.#say("unsaved");
  }

  /**
   * The server holds a later revision. Perhaps that is this very change, whose acknowledgement was lost on the way;
   * else another window of the same annotator has been at work.
   * @param {Change} change
   */
  async #compare(change) {
    if (!this.#tries) return this.#say("stale");
    try {
      const standing = await this.look();
      if (!this.#isMine(standing, change)) return this.#say("stale");
      this.#waiting.shift();
      this.#take(standing);
      this.#tries = 0;
      return this.tell(this);
    } catch {
      return this.#say("stale");
    }
  }

  /**
   * Whether the stored state is the previous one with just this change.
   * @param {Standing} standing
   * @param {Change} change
   */
  #isMine(standing, change) {
    const expected = new Map(this.#confirmed);
    if (change.type === "labels") apply(change.labels, expected);
    else if (change.type !== "done" || standing.done !== change.done) return false;
    const stored = Object.entries(standing.labels ?? {});
    return stored.length === expected.size && stored.every(([ref, label]) => same(label, expected.get(ref)));
  }

  /** @param {Standing} standing */
  #take(standing) {
    this.revision = standing.revision;
    this.done = standing.done;
    this.canUndo = standing.can_undo;
    this.canRedo = standing.can_redo;
    if (standing.labels) this.#confirmed = new Map(Object.entries(standing.labels));
  }

  /** @param {Saved} state */
  #say(state) {
    this.state = state;
    this.tell(this);
  }
}

/**
 * @param {Object<string, Label | null>} changes
 * @param {Map<string, Label>} labels
 */
function apply(changes, labels) {
  for (const [ref, label] of Object.entries(changes)) {
    if (label) labels.set(ref, label);
    else labels.delete(ref);
  }
}
