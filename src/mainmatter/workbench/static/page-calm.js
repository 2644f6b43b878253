// A frame as tall as its page has no window: whatever a page sizes by the window's height would grow with the frame, and
// fixed elements would cover it. This gives them the size of an ordinary window again.
// @ts-check

const OF_WINDOW_HEIGHT = /(\d*\.?\d+)[sld]?vh\b/g;
const MOST_ELEMENTS = 20_000; // up to which the style of each element is checked for `position: fixed`

/**
 * @param {Document} page the frame's document
 * @param {number} height of the window to pretend
 */
export function calm(page, height) {
  const toPixels = (/** @type {string} */ _, /** @type {string} */ share) => `${(Number(share) * height) / 100}px`;
  const inPixels = (/** @type {string} */ css) => css.replace(OF_WINDOW_HEIGHT, toPixels);
  for (const sheet of page.querySelectorAll("style:not([data-mainmatter])")) {
    const css = sheet.textContent ?? "";
    if (css.includes("vh")) sheet.textContent = inPixels(css);
  }
  for (const styled of page.querySelectorAll('[style*="vh"]')) {
    styled.setAttribute("style", inPixels(styled.getAttribute("style") ?? ""));
  }
  unfasten(page, height);
}

/** @param {Document} page @param {number} height */
function unfasten(page, height) {
  const all = page.body?.getElementsByTagName("*") ?? [];
  const view = page.defaultView;
  if (!view) return;
  const fastened = all.length > MOST_ELEMENTS
    ? fastenedByRules(page)
    : [...all].filter((one) => view.getComputedStyle(one).position === "fixed");
  for (const one of /** @type {HTMLElement[]} */ (fastened)) {
    one.style?.setProperty("position", "absolute", "important");
    one.style?.setProperty("max-height", `${height}px`, "important");
  }
}

/** Elements that the page's own rules fasten; not those of style sheets from the web. @param {Document} page */
function fastenedByRules(page) {
  const found = new Set(page.body.querySelectorAll('[style*="fixed"]'));
  const look = (/** @type {any} */ rule) => {
    if (rule.style?.position === "fixed" && rule.selectorText) {
      for (const one of page.body.querySelectorAll(rule.selectorText)) found.add(one);
    }
    for (const inner of rule.cssRules ?? []) look(inner); // of @media, @supports, @layer
  };
  for (const sheet of page.querySelectorAll("style")) for (const rule of sheet.sheet?.cssRules ?? []) look(rule);
  return found;
}
