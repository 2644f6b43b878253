// @ts-check
/** The list of keys, and the switch for letters. */
import { element } from "./shell.js";
import { openDialog } from "./annotate-bar.js";
import { lettersAreOn, switchLetters } from "./annotate-keys.js";
import { BRUSHES } from "./annotate-words.js";

const TEACHING = [
  ["F, a click", "flip: keep what is dropped, drop what is kept"],
  ["E", "the same for all blocks that are built like it, such as all authors of posts"],
  ["Alt or Ctrl and a click", "flip it and all that are like it"],
  ["A", "what is suggested for the selected blocks is right"],
  ["Shift A", "all the rest is right"],
  ["U", "the block that the model is least sure of"],
  ["T", "what the site repeats: look at it, and drop it on all its pages"],
  ["G, Ctrl Enter", "done: accept the rest, open the next page"],
  ...BRUSHES.map(({ key, about }) => [key.toUpperCase(), about]),
  ["↓ ↑, J N, B", "next block, block before"],
  ["Shift ↓ ↑", "select several"],
  ["Z, Shift Z", "undo, redo"],
];
const LABELLING = [
  ...BRUSHES.map(({ key, about }) => [key.toUpperCase(), about]),
  ["↓ ↑, J N, B", "next block, block before"],
  ["Shift ↓ ↑", "select several"],
  ["U", "next block without a label"],
  ["Shift D", "drop all blocks without a label"],
  ["Z, Ctrl Z", "undo"],
  ["Shift Z", "redo"],
  ["Backspace", "take the label away"],
  ["Ctrl Enter", "mark the page as done"],
];
const MERGING = [
  ["1, 2, …", "what the first, the second … annotator says"],
  ["K D H P L C", "decide otherwise, as in labelling"],
  ["↓ ↑, J N, B", "next conflict, conflict before"],
  ["Shift ↓ ↑", "select several conflicts, which are then decided at once"],
  ["Ctrl A, Esc", "select all of them, one of them"],
  ["U", "next conflict that is not decided"],
  ["Z, Shift Z", "undo, redo"],
];

const OF_VIEWS = { labelling: LABELLING, merging: MERGING, teaching: TEACHING };

/** @param {"labelling" | "merging" | "teaching"} [where] */
export function openKeys(where = "labelling") {
  const letters = element("input", { type: "checkbox", checked: lettersAreOn() });
  letters.addEventListener("change", () => switchLetters(letters.checked));
  const rows = OF_VIEWS[where].flatMap(([keys, about]) => [
    element("dt", {}, element("kbd", {}, keys)),
    element("dd", {}, about),
  ]);
  openDialog(
    "Keys",
    {},
    element("dl", { class: "facts keys" }, ...rows),
    element("p", {}, element("label", { class: "check" }, letters, "Single letters label (switch this off if you press them by accident)")),
  );
}
