// @ts-check
/**
 * Keys of the workbench's annotation pages: one table from keys to what they do.
 *
 * Letters can be switched off, because people who dictate or whose hands tremble press them by accident
 * (WCAG 2.1.4); arrows and the list's own keys stay.
 */
import { isForControl } from "./shell.js";

const SWITCH = "mainmatter-letter-keys";

export function lettersAreOn() {
  return localStorage.getItem(SWITCH) !== "off";
}

/** @param {boolean} on */
export function switchLetters(on) {
  localStorage.setItem(SWITCH, on ? "on" : "off");
}

/**
 * The name of a key press: "k", "Shift+D", "Ctrl+z", "Shift+ArrowDown".
 * @param {KeyboardEvent} event
 */
function keyName(event) {
  const key = event.key.length === 1 && event.shiftKey ? event.key.toUpperCase() : event.key;
  const parts = [];
  if (event.ctrlKey || event.metaKey) parts.push("Ctrl");
  if (event.altKey) parts.push("Alt");
  if (event.shiftKey && key !== "?") parts.push("Shift");
  return [...parts, key.length === 1 && !event.shiftKey ? key.toLowerCase() : key].join("+");
}

/**
 * Call what a key stands for, until the signal aborts.
 * @param {Object<string, () => void>} actions by key names
 * @param {AbortSignal} signal
 */
export function listenToKeys(actions, signal) {
  document.addEventListener(
    "keydown",
    (event) => {
      if (event.defaultPrevented || event.isComposing || isForControl(event)) return;
      if (document.querySelector("dialog[open]")) return;
      const name = keyName(event);
      const isLetter = event.key.length === 1 && !event.ctrlKey && !event.metaKey;
      const action = actions[name];
      if (!action || (isLetter && !lettersAreOn())) return;
      event.preventDefault();
      action();
    },
    { signal },
  );
}
