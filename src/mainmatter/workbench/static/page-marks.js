// The marks of a page's blocks (html/safe.py), and their tints. Browsers take seconds to tint tens of thousands of
// them: on such a page, only those near the view are tinted, and the others when they come near.
// @ts-check

const MANY = 2_000; // marks: up to here a browser tints all of them in a blink
const GROUP = 32; // marks in a row, whose place is known together

/** @typedef {(block: number) => string | undefined} StateOf */

export class PageMarks {
  constructor() {
    /** @type {Map<number, HTMLElement[]>} */
    this.byBlock = new Map();
    /** @type {{mark: HTMLElement, block: number, state: string | undefined}[]} in the order of the page */
    this.all = [];
    /** @type {StateOf} */
    this.stateOf = () => undefined;
    /** @type {Float32Array | null} where each group of marks begins and ends in the page, in pixels */
    this.places = null;
  }

  /** Whether there are so many that only those near the view are tinted. */
  get areMany() {
    return this.all.length > MANY;
  }

  /** Find the marks of a page. @param {Document} page */
  find(page) {
    this.clear();
    for (const mark of /** @type {NodeListOf<HTMLElement>} */ (page.querySelectorAll("mm-block[data-block]"))) {
      const block = blockOf(mark);
      if (block === null) continue;
      this.all.push({ mark, block, state: undefined });
      const known = this.byBlock.get(block);
      if (known) known.push(mark);
      else this.byBlock.set(block, [mark]);
    }
  }

  /** The page is gone; the states apply to the next one. */
  clear() {
    this.byBlock.clear();
    this.all = [];
    this.places = null;
  }

  /** The page was laid out again: its blocks may have moved. */
  forgetPlaces() {
    this.places = null;
  }

  /**
   * Tint the marks between two heights of the page, or all if they are not many. Only what changes is touched.
   *
   * @param {number} top
   * @param {number} bottom
   * @param {number} scrolled how far the page is scrolled in its frame
   */
  tint(top, bottom, scrolled) {
    if (!this.areMany) return this.#tint(0, this.all.length);
    const places = this.places ?? this.#measure(scrolled);
    for (let group = 0; 2 * group < places.length; group++) {
      if (places[2 * group] > bottom || places[2 * group + 1] < top) continue;
      this.#tint(group * GROUP, Math.min(this.all.length, (group + 1) * GROUP));
    }
  }

  /** @param {number} first @param {number} end */
  #tint(first, end) {
    for (let i = first; i < end; i++) {
      const one = this.all[i];
      const state = this.stateOf(one.block);
      if (state === one.state) continue;
      setData(one.mark, "state", state);
      one.state = state;
    }
  }

  /** @param {number} scrolled */
  #measure(scrolled) {
    const places = new Float32Array(2 * Math.ceil(this.all.length / GROUP));
    for (let group = 0; 2 * group < places.length; group++) {
      let [top, bottom] = [Infinity, -Infinity];
      for (const { mark } of this.all.slice(group * GROUP, (group + 1) * GROUP)) {
        const box = mark.getBoundingClientRect();
        if (!box.width || !box.height) continue; // the page hides it
        top = Math.min(top, box.top + scrolled);
        bottom = Math.max(bottom, box.bottom + scrolled);
      }
      places.set([top, bottom], 2 * group);
    }
    this.places = places;
    return places;
  }
}

/** @param {Element} mark */
export function blockOf(mark) {
  const block = Number(mark.getAttribute("data-block"));
  return Number.isInteger(block) && block >= 0 ? block : null;
}

/** @param {HTMLElement} mark @param {string} name @param {string | undefined} value */
export function setData(mark, name, value) {
  if (value === undefined) mark.removeAttribute(`data-${name}`);
  else mark.setAttribute(`data-${name}`, value);
}
