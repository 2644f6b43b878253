// A learning curve (NCleaner, figure 4) as SVG: pages on a logarithmic x axis, a score on the y axis. The
// same numbers must be in a table below it, for those who cannot see the picture.
// @ts-check

import { makeSvg } from "./shell.js";

const SPACE = { width: 640, height: 300, left: 56, right: 20, top: 34, bottom: 44 };
const LEAST_SPAN = 0.02; // of the upright axis: tiny differences must not look large
const MOST_TICKS = 8;

/**
 * @typedef {{pages: number, value: number, low: number, high: number}} CurvePoint
 * @typedef {{label: string, line: number, lineLabel: string, valueLabel: string}} CurveWords
 */

/**
 * Draw points and the line that they are compared with.
 *
 * @param {CurvePoint[]} points in the order of their pages
 * @param {CurveWords} words what the picture, the line and the values are called
 * @returns {SVGElement}
 */
export function drawCurve(points, words) {
  const [low, high] = span(points, words.line);
  const first = Math.log2(Math.max(1, points[0].pages));
  const wide = Math.max(1, Math.log2(points[points.length - 1].pages) - first);
  const across = (/** @type {number} */ pages) =>
    SPACE.left + ((SPACE.width - SPACE.left - SPACE.right) * (Math.log2(Math.max(1, pages)) - first)) / wide;
  const up = (/** @type {number} */ value) =>
    SPACE.top + ((SPACE.height - SPACE.top - SPACE.bottom) * (high - value)) / (high - low);
  const picture = makeSvg("svg", {
    class: "learning-curve", viewBox: `0 0 ${SPACE.width} ${SPACE.height}`, role: "img", "aria-label": words.label,
  });
  for (const value of ticks(low, high)) {
    picture.append(
      line(SPACE.left, up(value), SPACE.width - SPACE.right, up(value), "grid"),
      text(SPACE.left - 7, up(value) + 4, shown(value), "end"),
    );
  }
  for (const pages of new Set(points.map((point) => point.pages))) {
    picture.append(text(across(pages), SPACE.height - SPACE.bottom + 18, String(pages), "middle"));
  }
  picture.append(line(SPACE.left, up(words.line), SPACE.width - SPACE.right, up(words.line), "shipped"));
  for (const point of points) picture.append(line(across(point.pages), up(clip(point.low)), across(point.pages), up(clip(point.high)), "interval"));
  picture.append(makeSvg("polyline", { class: "taught", points: points.map((point) => `${across(point.pages)},${up(point.value)}`).join(" ") }));
  for (const point of points) picture.append(makeSvg("circle", { class: "point", cx: across(point.pages), cy: up(point.value), r: 4 }));
  picture.append(
    text(SPACE.left, 18, words.valueLabel, "start", "taught-label"),
    text(SPACE.width - SPACE.right, 18, words.lineLabel, "end", "shipped-label"),
    text((SPACE.left + SPACE.width - SPACE.right) / 2, SPACE.height - 8, "pages learned from", "middle"),
  );
  return picture;
}

/** The lowest and the highest value that is drawn. @param {CurvePoint[]} points @param {number} base */
function span(points, base) {
  const values = [base, ...points.flatMap((point) => [point.value, clip(point.low), clip(point.high)])];
  const low = Math.min(...values);
  const high = Math.max(...values);
  const margin = Math.max(LEAST_SPAN - (high - low), 0.1 * (high - low)) / 2;
  return [low - margin, high + margin];
}

/** An end of an interval; of very few pages it may lie far outside of what scores can be. @param {number} value */
function clip(value) {
  return Math.min(1, Math.max(-1, value));
}

/** Some round numbers between two. @param {number} low @param {number} high */
function ticks(low, high) {
  const power = 10 ** Math.floor(Math.log10(high - low));
  const step = [0.1, 0.2, 0.5, 1, 2].map((part) => part * power).find((each) => (high - low) / each <= MOST_TICKS) ?? power;
  const found = [];
  for (let number = Math.ceil(low / step); number <= Math.floor(high / step); number += 1) found.push(number * step);
  return found;
}

/** @param {number} value */
function shown(value) {
  return String(Number(value.toFixed(4)));
}

/** @param {number} x1 @param {number} y1 @param {number} x2 @param {number} y2 @param {string} kind */
function line(x1, y1, x2, y2, kind) {
  return makeSvg("line", { x1, y1, x2, y2, class: kind });
}

/** @param {number} x @param {number} y @param {string} words @param {string} anchor @param {string} [kind] */
function text(x, y, words, anchor, kind = "") {
  const made = makeSvg("text", { x, y, "text-anchor": anchor, class: kind });
  made.textContent = words;
  return made;
}
