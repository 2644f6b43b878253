/**
 * Where each block of a marked page (html/safe.py) is, and what it looks like. Runs inside the rendered page.
 *
 * A piece is one marked text. Its lines are the boxes of its text, one a line; its look is that of the element around
 * it. Colours are what a reader sees: half-transparent ones are mixed with what is behind them.
 */
({ farthest, widest }) => {
  const root = document.documentElement;
  const body = document.body ?? root;
  const width = Math.max(root.scrollWidth, body.scrollWidth, 1);
  const height = Math.max(root.scrollHeight, body.scrollHeight, 1);
  const looks = new Map();
  const colours = new Map();
  const EVERYWHERE = [-Infinity, -Infinity, Infinity, Infinity];
  const BEHIND_ALL = { background: [255, 255, 255], opacity: 1, clip: EVERYWHERE };
  let canvas = null;

  /** Red, green, blue (0 to 255) and opacity (0 to 1) of any colour that CSS knows. */
  function toNumbers(colour) {
    let numbers = colours.get(colour);
    if (numbers) return numbers;
    const plain = /^rgba?\(([\d.]+), ([\d.]+), ([\d.]+)(?:, ([\d.]+))?\)$/.exec(colour);
    if (plain) {
      numbers = [Number(plain[1]), Number(plain[2]), Number(plain[3]), plain[4] === undefined ? 1 : Number(plain[4])];
    } else {
      canvas ??= new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
      const [red, green, blue, alpha] = canvas.getImageData(0, 0, 1, 1).data;
      numbers = [red, green, blue, alpha / 255];
    }
    colours.set(colour, numbers);
    return numbers;
  }

  const mix = ([red, green, blue, alpha], behind) =>
    [red, green, blue].map((part, i) => Math.round(part * alpha + behind[i] * (1 - alpha)));

  const overlap = (one, other) => [
    Math.max(one[0], other[0]), Math.max(one[1], other[1]), Math.min(one[2], other[2]), Math.min(one[3], other[3]),
  ];

  /** What an element hides of its content: the part of the page that can be seen through it. */
  function clipOf(element, style, clip) {
    if (element === root || element === body) return clip;
    if (style.position === "fixed") clip = EVERYWHERE;
    const hides = style.overflowX === "hidden" || style.overflowX === "clip" || style.overflowY === "hidden";
    const cut = style.clip !== "auto" || /inset\((50|100)%/.test(style.clipPath);
    if (!hides && !cut) return clip;
    const box = element.getBoundingClientRect();
    if (cut && (box.width <= 1 || box.height <= 1 || style.clipPath !== "none")) return [0, 0, 0, 0];
    return hides ? overlap(clip, [box.left, box.top, box.right, box.bottom]) : clip;
  }

  /** The look of an element: that of what is around it, and what it changes. Not by recursion: pages can be deep. */
  function lookOf(element) {
    const chain = [];
    let known = null;
    for (let each = element; each && !(known = looks.get(each)); each = each.parentElement) chain.push(each);
    let look = known ?? BEHIND_ALL;
    for (const each of chain.reverse()) {
      const style = getComputedStyle(each);
      look = {
        background: mix(toNumbers(style.backgroundColor), look.background),
        opacity: look.opacity * Number(style.opacity),
        clip: clipOf(each, style, look.clip),
        style,
      };
      looks.set(each, look);
    }
    if (!look.ink) {
      const { style } = look;
      look.ink = mix(toNumbers(style.color), look.background);
      look.size = parseFloat(style.fontSize) || 0;
      look.weight = Number(style.fontWeight) || 400;
      look.shown = style.visibility === "visible" && look.opacity > 0.05;
    }
    return look;
  }

  const round = (number) => Math.round(number * 10) / 10;
  const pieces = [];
  const lines = [];
  const range = document.createRange();
  for (const mark of document.querySelectorAll("mm-block[data-block]")) {
    const block = Number(mark.dataset.block);
    const look = lookOf(mark.parentElement ?? root);
    const chars = (mark.textContent ?? "").trim().length;
    let shown = 0;
    if (look.shown && chars) {
      range.selectNodeContents(mark);
      for (const box of range.getClientRects()) {
        const left = Math.max(box.left, look.clip[0], 0) + scrollX;
        const top = Math.max(box.top, look.clip[1], 0) + scrollY;
        const right = Math.min(box.right, look.clip[2]) + scrollX;
        const bottom = Math.min(box.bottom, look.clip[3]) + scrollY;
        if (right - left < 1 || bottom - top < 1 || left >= Math.min(width, widest) || top >= farthest) continue;
        lines.push(block, round(left), round(top), round(Math.min(right, widest) - left), round(bottom - top));
        shown += 1;
      }
    }
    pieces.push(block, chars, shown ? 1 : 0, look.size, look.weight, ...look.ink, ...look.background);
  }
  return { width, height, pieces, lines };
}
