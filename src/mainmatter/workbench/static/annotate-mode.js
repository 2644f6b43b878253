// @ts-check
/**
 * What you annotate for, chosen once and remembered by the browser: to teach a model, where one person corrects
 * suggestions, or for a gold standard, where everybody labels blind.
 *
 * @typedef {"teach" | "gold"} Mode
 */

const MODE = "mainmatter-mode";
const MEANWHILE = "mainmatter-teach-meanwhile";

/** @type {Record<Mode, string>} */
export const MODE_WORDS = { teach: "Teach a model", gold: "Gold standard" };

/** @returns {Mode} */
export function chosenMode() {
  return localStorage.getItem(MODE) === "gold" ? "gold" : "teach";
}

/** @param {string} mode */
export function chooseMode(mode) {
  localStorage.setItem(MODE, mode === "gold" ? "gold" : "teach");
}

/** Whether a model is taught in the background while somebody labels in Teach mode. */
export function teachesMeanwhile() {
  return localStorage.getItem(MEANWHILE) !== "off";
}

/** @param {boolean} on */
export function switchTeaching(on) {
  localStorage.setItem(MEANWHILE, on ? "on" : "off");
}
