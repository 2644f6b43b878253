// The density picture (Density, figure 2): how long the text after each structural tag is, over the tag's position; the
// region that `density` chooses; and a method's scores as dots. All bars of a kind are one path, and of bars that stand
// in the same place only the longest is drawn, so that a page of 100,000 blocks is drawn at once.
// @ts-check

import { makeSvg } from "./shell.js";

const WIDTH = 640;
const HEIGHT = 400;
const LEFT = 50;
const RIGHT = 40;
const TOP = 26;
const BOTTOM = 40;
const INSET = 8; // between the axes and the bars next to them
const WIDEST_BAR = 6;
const FINENESS = 2; // bars to a pixel
const DOT = 3.5; // pixels; dots that lie nearer to each other than half of that are one

/**
 * @typedef {object} PlotData
 * @property {number[]} positions where each block stands in the list of structural tags, ascending
 * @property {number[]} lengths how many characters it has
 * @property {number[]} scores what the method says of it
 * @property {{first: number, last: number, long: number} | null} [region] the blocks between which `density` keeps all
 */

export class DensityPlot {
  /**
   * @param {HTMLElement} host an empty element
   * @param {{onHover?: (block: number | null) => void, onPick?: (block: number) => void, label?: string}} [options]
   */
  constructor(host, options = {}) {
    this.options = options;
    const viewBox = `0 0 ${WIDTH} ${HEIGHT}`;
    this.svg = makeSvg("svg", { class: "density-plot", viewBox, preserveAspectRatio: "none", role: "img" });
    host.replaceChildren(this.svg);
    host.tabIndex = 0;
    host.setAttribute("role", "group");
    host.setAttribute("aria-label", options.label ?? "Density plot");
    /** @type {PlotData} */
    this.data = { positions: [], lengths: [], scores: [] };
    this.kept = /** @type {ArrayLike<number>} */ ([]);
    this.highlighted = /** @type {number | null} */ (null);
    this.longest = 1;
    this.firstPosition = 0;
    this.lastPosition = 1;
    this.lowest = 0;
    this.highest = 1;
    this.#listen();
    new ResizeObserver(([entry]) => this.#resize(entry.contentRect)).observe(host);
    this.width = WIDTH;
    this.height = HEIGHT;
  }

  /** Draw a page. @param {PlotData} data @param {ArrayLike<number>} kept 1 for blocks that are kept */
  draw(data, kept) {
    this.data = data;
    this.kept = kept;
    this.longest = Math.max(1, max(data.lengths));
    this.firstPosition = data.positions[0] ?? 0;
    this.lastPosition = Math.max(this.firstPosition + 1, data.positions.at(-1) ?? 1);
    this.lowest = Math.min(0, min(data.scores));
    this.highest = Math.max(1, max(data.scores));
    this.svg.replaceChildren();
    if (!data.positions.length) return;
    this.#drawRegion();
    this.#drawAxes();
    const space = (this.width - LEFT - RIGHT) / (this.lastPosition - this.firstPosition + 1);
    const width = Math.min(WIDEST_BAR, Math.max(0.8, 0.7 * space));
    this.dropped = this.#add("path", { class: "bars dropped", "stroke-width": width });
    this.main = this.#add("path", { class: "bars kept", "stroke-width": width });
    this.#add("path", { class: "dots", "stroke-width": DOT, d: this.#dots() });
    this.pointer = this.#add("path", { class: "pointer", "stroke-width": Math.max(3, width) });
    this.setKept(kept);
    this.highlight(this.highlighted);
  }

  /** Change what is kept; quick enough for every move of a slider. @param {ArrayLike<number>} kept */
  setKept(kept) {
    this.kept = kept;
    if (!this.main) return;
    this.dropped?.setAttribute("d", this.#bars(0));
    this.main.setAttribute("d", this.#bars(1));
    let count = 0;
    for (let i = 0; i < kept.length; i++) count += kept[i] ? 1 : 0;
    const words = `Text length by position: ${count} of ${this.data.positions.length} blocks kept`;
    this.svg.setAttribute("aria-label", words);
  }

  /** Point at a block, or at none. @param {number | null} block */
  highlight(block) {
    this.highlighted = block;
    const isThere = block !== null && block < this.data.positions.length;
    this.pointer?.setAttribute("d", isThere ? `${this.#bar(block)}M${this.#x(block) - 6} ${TOP - 12}h12l-6 8Z` : "");
  }

  /** The block nearest to a point of our window. @param {number} clientX */
  blockAt(clientX) {
    const { positions, lengths } = this.data;
    if (!positions.length) return null;
    const box = this.svg.getBoundingClientRect();
    const share = (clientX - box.left - LEFT - INSET) / (box.width - LEFT - RIGHT - 2 * INSET);
    const wanted = this.firstPosition + share * (this.lastPosition - this.firstPosition);
    let low = 0;
    let high = positions.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (positions[middle] < wanted) low = middle + 1;
      else high = middle;
    }
    // Of the two neighbours the nearer one; of equally near ones the longer, which can be seen.
    const before = Math.max(0, low - 1);
    const distances = [wanted - positions[before], positions[low] - wanted].map(Math.abs);
    if (distances[0] === distances[1]) return lengths[before] > lengths[low] ? before : low;
    return distances[0] < distances[1] ? before : low;
  }

  #drawRegion() {
    const region = this.data.region;
    if (!region) return;
    const [from, to] = [this.#x(region.first) - 5, this.#x(region.last) + 5];
    const height = this.height - TOP - BOTTOM;
    this.#add("rect", { class: "region", x: from, y: TOP, width: to - from, height });
    for (const x of [from, to]) this.#add("path", { class: "region-edge", d: `M${x} ${TOP}v${height}` });
    const y = this.#y(region.long);
    this.#add("path", { class: "long", d: `M${LEFT} ${y}H${this.width - RIGHT}` });
  }

  #drawAxes() {
    const bottom = this.height - BOTTOM;
    this.#add("path", { class: "axis", d: `M${LEFT} ${TOP}V${bottom}H${this.width - RIGHT}V${TOP}` });
    for (const share of [0, 0.5, 1]) {
      const y = bottom - share * (bottom - TOP);
      this.#text(LEFT - 6, y + 4, Math.round(share * this.longest).toLocaleString("en"), "end");
      const score = this.lowest + share * (this.highest - this.lowest);
      this.#text(this.width - RIGHT + 5, y + 4, short(score), "start", "score");
    }
    this.#text(LEFT + INSET, bottom + 16, String(this.firstPosition), "middle");
    this.#text(this.width - RIGHT - INSET, bottom + 16, String(this.lastPosition), "middle");
    this.#text((LEFT + this.width - RIGHT) / 2, bottom + 30, "position in the list of structural tags", "middle");
    this.#text(8, 13, "characters", "start");
    this.#text(this.width - 6, 13, "score", "end", "score");
  }

  #dots() {
    const { scores } = this.data;
    const height = this.height - TOP - BOTTOM;
    const cell = DOT / 2;
    /** @type {Map<number, string>} */
    const dots = new Map();
    for (let i = 0; i < scores.length; i++) {
      const x = this.#x(i);
      const y = this.height - BOTTOM - (scores[i] - this.lowest) / (this.highest - this.lowest) * height;
      const place = Math.round(x / cell) * 100_000 + Math.round(y / cell);
      if (!dots.has(place)) dots.set(place, `M${x.toFixed(1)} ${y.toFixed(1)}h0`);
    }
    return [...dots.values()].join("");
  }

  /** The longest bar in each place, of the blocks that are kept or of the others. @param {0 | 1} isKept */
  #bars(isKept) {
    const { lengths } = this.data;
    /** @type {Map<number, number>} */
    const longest = new Map();
    for (let i = 0; i < lengths.length; i++) {
      if ((this.kept[i] ? 1 : 0) !== isKept) continue;
      const place = Math.round(this.#x(i) * FINENESS);
      const other = longest.get(place);
      if (other === undefined || lengths[other] < lengths[i]) longest.set(place, i);
    }
    return Array.from(longest.values(), (block) => this.#bar(block)).join("");
  }

  /** @param {number} block */
  #bar(block) {
    return `M${this.#x(block).toFixed(1)} ${this.height - BOTTOM}V${this.#y(this.data.lengths[block]).toFixed(1)}`;
  }

  /** @param {number} block */
  #x(block) {
    const share = (this.data.positions[block] - this.firstPosition) / (this.lastPosition - this.firstPosition);
    return LEFT + INSET + share * (this.width - LEFT - RIGHT - 2 * INSET);
  }

  /** @param {number} length */
  #y(length) {
    return this.height - BOTTOM - length / this.longest * (this.height - TOP - BOTTOM);
  }

  /** @param {DOMRectReadOnly} box */
  #resize(box) {
    if (!box.width || !box.height) return;
    this.width = Math.round(box.width);
    this.height = Math.round(box.height);
    this.svg.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
    this.draw(this.data, this.kept);
  }

  #listen() {
    this.svg.addEventListener("pointermove", (event) => this.options.onHover?.(this.blockAt(event.clientX)));
    this.svg.addEventListener("pointerleave", () => this.options.onHover?.(null));
    this.svg.addEventListener("click", (event) => {
      const block = this.blockAt(event.clientX);
      if (block !== null) this.options.onPick?.(block);
    });
  }

  /** @param {string} tag @param {Record<string, string | number>} attributes */
  #add(tag, attributes) {
    const made = makeSvg(tag, attributes);
    this.svg.append(made);
    return made;
  }

  /** @param {number} x @param {number} y @param {string} words @param {string} anchor @param {string} [name] */
  #text(x, y, words, anchor, name = "") {
    this.#add("text", { x, y, "text-anchor": anchor, class: name }).textContent = words;
  }
}

// Math.max(...list) fails on long lists.
const max = (/** @type {number[]} */ list) => list.reduce((most, one) => (one > most ? one : most), 0);
const min = (/** @type {number[]} */ list) => list.reduce((least, one) => (one < least ? one : least), 0);

/** @param {number} value */
function short(value) {
  return Math.abs(value) >= 100 ? value.toFixed(0) : String(Math.round(value * 100) / 100);
}
