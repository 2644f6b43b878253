// The keys of a view: one table from keys to actions, and the dialog that lists them (`?`). Annotate has a table of its own
// (annotate-keys.js), and shows it in the same dialog. Letters can be switched off (WCAG 2.1.4).
// @ts-check

import { lettersAreOn, switchLetters } from "./annotate-keys.js";
import { element, isForControl } from "./shell.js";

const SHOWN = /** @type {Record<string, string>} */ ({
  ArrowDown: "↓", ArrowUp: "↑", ArrowLeft: "←", ArrowRight: "→", Escape: "Esc", PageDown: "PgDn", PageUp: "PgUp",
});

/**
 * @typedef {object} Key
 * @property {string[]} keys each as KeyboardEvent.key names it
 * @property {string} about what it does, for the list; "" for one that is not listed
 * @property {(event: KeyboardEvent) => boolean | void} [run] what it does; returns false if the key means nothing
 *   at the moment. Without it, the key is only listed: other code handles it
 */

/**
 * Listen to keys, unless they go to a control or a dialog is open.
 *
 * @param {Key[]} keys
 * @returns {() => void} shows the list
 */
export function listenForKeys(keys) {
  const show = () => showKeys([...keys.filter((key) => key.about), { keys: ["?"], about: "this list" }]);
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (isForControl(event) || document.querySelector("dialog[open]")) return;
    if (event.key.length === 1 && !lettersAreOn()) return;
    const run = event.key === "?" ? show : keys.find((one) => one.run && one.keys.includes(event.key))?.run;
    if (run && run(event) !== false) event.preventDefault();
  });
  return show;
}

/** Show a list of keys, with the switch for letters. @param {Key[]} keys */
export function showKeys(keys) {
  const letters = element("input", { type: "checkbox", id: "letter-keys", checked: lettersAreOn() });
  letters.addEventListener("change", () => switchLetters(letters.checked));
  const rows = keys.flatMap(({ keys: names, about }) => [
    element("dt", {}, ...names.flatMap((name) => [element("kbd", {}, SHOWN[name] ?? name), " "])), element("dd", {}, about)]);
  const dialog = /** @type {HTMLDialogElement} */ (element("dialog", { id: "help", "aria-labelledby": "help-title" },
    element("h2", { id: "help-title" }, "Keys"),
    element("dl", { class: "facts" }, ...rows),
    element("p", {}, element("label", { class: "check" }, letters, "Use single letters, digits and signs as keys (switch this off if you press them by accident)")),
    element("form", { method: "dialog", class: "row" }, element("button", { class: "primary", autofocus: true }, "Close"))));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
