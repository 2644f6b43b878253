// @ts-check
/**
 * How the frame shows labels.
 */

// The frame's states are words: what the label is (page-frame.js tints that), its kind, and whether it is selected.
export const FRAME_STYLE = `
mm-block[data-state~="heading"] { border-bottom: 3px double rgb(27 107 52 / 90%); }
mm-block[data-state~="list"] { border-bottom: 2px dotted rgb(27 107 52 / 90%); }
mm-block[data-state~="suggested-kept"] { background: rgb(46 160 80 / 15%) !important; outline: 1px dashed rgb(27 107 52 / 60%); }
mm-block[data-state~="suggested-kept"][data-state~="likely"] { background: rgb(46 160 80 / 9%) !important; }
mm-block[data-state~="suggested-dropped"] { text-decoration: line-through 1px dotted rgb(138 59 50 / 60%); }
mm-block[data-state~="unsure"] { background: rgb(255 190 60 / 28%) !important; outline: 1px dashed rgb(138 83 0); }
mm-block[data-state~="pending"] { outline: 2px dotted rgb(138 83 0); }
mm-block[data-state~="selected"] { outline: 2px solid rgb(35 78 120 / 75%) !important; outline-offset: 1px; }
mm-block[data-focus] { outline: 3px solid rgb(176 96 0) !important; outline-offset: 1px; }
mm-block[data-focus][data-state~="kept"] { background: rgb(46 160 80 / 30%) !important; }
mm-block[data-focus][data-state~="dropped"] { background: rgb(150 120 115 / 25%) !important; }
`;

/**
 * The state of a block in the frame. What was suggested looks the same whether it was accepted or not: a label of the
 * annotator's own stands out from both.
 * @param {import("./annotate-blocks.js").Look} look
 */
export function frameState({ label, suggestion, sureness, pending, selected }) {
  const words = [];
  const open = label?.suggested_by ? label : label ? undefined : suggestion;
  if (open) words.push(open.kept ? "suggested-kept" : "suggested-dropped", sureness && sureness !== "sure" ? sureness : "");
  else if (label) words.push(label.kept ? "kept" : "dropped", label.kept ? label.kind : "");
  if (pending) words.push("pending");
  if (selected) words.push("selected");
  return words.filter(Boolean).join(" ");
}
