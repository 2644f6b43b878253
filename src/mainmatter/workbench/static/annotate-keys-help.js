// @ts-check
/** The keys of Annotate's views, for the dialog that lists them. */
import { showKeys } from "./keymap.js";
import { BRUSHES } from "./annotate-words.js";

const COMMON = [
  ...BRUSHES.map(({ key, about }) => [key.toUpperCase(), about]),
  ["↓, J, N", "next block"],
  ["↑, B", "previous block"],
  ["Shift+↓, Shift+↑", "select several blocks"],
  ["Z, Ctrl+Z", "undo"],
  ["Shift+Z", "redo"],
];
const TEACHING = [
  ["F, click", "flip: keep what is dropped, drop what is kept"],
  ["E", "label all blocks built like this one, such as the authors of all posts, as it is labelled"],
  ["Alt+click, Ctrl+click", "flip a block and all that are built like it"],
  ["A", "confirm the suggestions for the selected blocks"],
  ["Shift+A", "accept the rest: the suggestions for all unlabelled blocks"],
  ["U", "go to the block that the model is least sure of"],
  ["T", "list the blocks that the site repeats, to drop them on all its pages"],
  ["G, Ctrl+Enter", "done: accept the rest, open the next page"],
  ...COMMON,
];
const LABELLING = [
  ...COMMON,
  ["U", "next unlabelled block"],
  ["Shift+D", "drop all unlabelled blocks"],
  ["Backspace", "remove the label"],
  ["Ctrl+Enter", "mark the page as done"],
];
const MERGING = [
  ["1, 2, …", "take the label of the first, the second … annotator"],
  ["K, D, H, P, L, C", "decide on another label, as in labelling"],
  ["↓, J, N", "next conflict"],
  ["↑, B", "previous conflict"],
  ["Shift+↓, Shift+↑", "select several conflicts, to decide them at once"],
  ["Ctrl+A", "select all conflicts"],
  ["Esc", "select only the active one"],
  ["U", "next open conflict"],
  ["Z, Ctrl+Z", "undo"],
  ["Shift+Z", "redo"],
];

const OF_VIEWS = { labelling: LABELLING, merging: MERGING, teaching: TEACHING };

/** @param {"labelling" | "merging" | "teaching"} [where] */
export function openKeys(where = "labelling") {
  showKeys(OF_VIEWS[where].map(([keys, about]) => ({ keys: keys.split(", "), about })));
}
