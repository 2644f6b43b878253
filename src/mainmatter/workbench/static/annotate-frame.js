// @ts-check
/**
 * How the frame shows labels.
 *
 * @typedef {import("./annotate-ledger.js").Label} Label
 */

// The frame's states are words: what the label is (page-frame.js tints that), its kind, and whether it is selected.
export const FRAME_STYLE = `
mm-block[data-state~="heading"] { border-bottom: 3px double rgb(27 107 52 / 90%); }
mm-block[data-state~="list"] { border-bottom: 2px dotted rgb(27 107 52 / 90%); }
mm-block[data-state~="suggested-kept"] { background: rgb(46 160 80 / 9%) !important; outline: 1px dashed rgb(27 107 52 / 60%); }
mm-block[data-state~="suggested-dropped"] { text-decoration: line-through 1px dotted rgb(138 59 50 / 60%); }
mm-block[data-state~="pending"] { outline: 2px dotted rgb(138 83 0); }
mm-block[data-state~="selected"] { outline: 2px solid rgb(35 78 120 / 75%) !important; outline-offset: 1px; }
mm-block[data-focus] { outline: 3px solid rgb(176 96 0) !important; outline-offset: 1px; }
mm-block[data-focus][data-state~="kept"] { background: rgb(46 160 80 / 30%) !important; }
mm-block[data-focus][data-state~="dropped"] { background: rgb(150 120 115 / 25%) !important; }
`;

/**
 * The state of a block in the frame.
 * @param {{label?: Label, suggestion?: Label, pending: boolean, selected: boolean}} look
 */
export function frameState({ label, suggestion, pending, selected }) {
  const words = [];
  if (label) words.push(label.kept ? "kept" : "dropped", label.kept ? label.kind : "");
  else if (suggestion) words.push(suggestion.kept ? "suggested-kept" : "suggested-dropped");
  if (pending) words.push("pending");
  if (selected) words.push("selected");
  return words.filter(Boolean).join(" ");
}
