// How a page looks in its frame. Its style sheets are mostly on other servers and not loaded. The styles that remain are
// often worse than none: menus cover the text, and icons fill the window. Such a page gets a reader's styles. Missing
// pictures are always hidden, and drawings are limited in size.
// @ts-check

// Layout rules in use: a page with fewer counts as having no style of its own.
const FEW = 3;
const FEW_OF_LOST = 60; // where style sheets are missing: the rest covers only a part of the page
const MOST_RULES = 3_000; // that are looked at
const MOST_HIDDEN = 100; // elements whose text is counted
const LAYOUT = ["display", "float", "position", "width", "max-width", "margin", "margin-left", "padding", "grid-template-columns", "font-family"];

const ALWAYS = `
:where(svg:not([width], [height])) { width: 2em; height: 2em; }
svg:not(:has(mm-block)) { max-width: 100%; max-height: 400px; }
[style*="opacity:0"]:has(mm-block), [style*="opacity: 0"]:has(mm-block) { opacity: 1 !important; }
img:not([src], [srcset]), img[data-mm-broken], video, audio, canvas { display: none !important; }
`;
// With :where, the page's own rules win.
const READER = `
:where(html) { background: #fff; color: #1f1d1a; }
:where(body) { max-width: 46rem; margin: 0 auto; padding: 20px 24px 40px; font: 17px/1.55 Georgia, "Liberation Serif", serif; overflow-wrap: anywhere; }
:where(a) { color: #234e78; }
:where(h1) { font-size: 1.75em; line-height: 1.2; margin: 0.8em 0 0.4em; }
:where(h2) { font-size: 1.35em; line-height: 1.25; margin: 1em 0 0.4em; }
:where(h3, h4, h5, h6) { font-size: 1.1em; line-height: 1.3; margin: 0.9em 0 0.3em; }
:where(p, blockquote, figure, pre, table) { margin: 0.7em 0; }
:where(blockquote) { padding-left: 1em; border-left: 3px solid #d8d4c8; }
:where(pre) { white-space: pre-wrap; font-size: 0.85em; }
:where(table) { border-collapse: collapse; font-size: 0.92em; }
:where(td, th) { padding: 2px 10px 2px 0; text-align: left; vertical-align: top; }
:where(img, picture, table, iframe) { max-width: 100%; }
:where(img) { height: auto; max-height: 480px; }
:where(svg) { width: 1.2em; height: 1.2em; }
:where(nav, header, footer, aside, form, [role="navigation"], ul:has(> li > a:only-child)) { font: 13px/1.45 "Liberation Sans", Arial, sans-serif; }
:where(header h1) { font-size: 26px; }
:where(ul, ol) { padding-left: 1.4em; margin: 0.5em 0; }
:where(nav, header, footer, aside, [role="navigation"]) :where(ul, ol), :where(ul, ol):where(:has(> li > a:only-child)) {
  list-style: none; display: flex; flex-wrap: wrap; gap: 1px 12px; padding: 0; margin: 3px 0;
}
:where(nav, header, footer, aside, [role="navigation"]) :where(p, div) { margin: 2px 0; }
:where(button, input, select) { font: inherit; margin: 1px 4px 1px 0; max-width: 100%; }
`;

/**
 * Mend the looks of a page that has just been loaded.
 *
 * @param {Document} page the frame's document
 */
export function mendLooks(page) {
  const head = page.head ?? page.documentElement;
  const isLost = [...page.querySelectorAll('link[rel~="stylesheet" i]')].some((link) => !(/** @type {any} */ (link).sheet));
  const isBare = !hasLooks(page, isLost ? FEW_OF_LOST : FEW, !isLost);
  // The remaining styles would break the reader's.
  if (isBare && isLost) for (const sheet of page.styleSheets) sheet.disabled = true;
  const style = page.createElement("style");
  style.setAttribute("data-mainmatter", "look");
  style.textContent = isBare ? READER + ALWAYS : ALWAYS;
  head.prepend(style);
  // Some pages hide most of their text until a script shows it.
  const length = (/** @type {Element | null} */ element) => element?.textContent?.length ?? 0;
  const most = length(page.body) / 2;
  for (const hidden of [...page.querySelectorAll("[hidden]")].slice(0, MOST_HIDDEN)) {
    if (length(hidden) > most) hidden.removeAttribute("hidden");
  }
  for (const picture of page.images) {
    if (picture.complete && !picture.naturalWidth) picture.setAttribute("data-mm-broken", "");
  }
}

/**
 * Whether a page has enough style rules of its own.
 *
 * @param {Document} page
 * @param {number} enough rules
 * @param {boolean} orElements also count elements with styles of their own
 */
function hasLooks(page, enough, orElements) {
  let [looked, found] = [0, 0];
  const look = (/** @type {any} */ rule) => {
    if ((looked += 1) > MOST_RULES || found >= enough) return;
    if (rule.selectorText && LAYOUT.some((name) => rule.style.getPropertyValue(name)) && isUsed(page, rule.selectorText)) found += 1;
    for (const inner of rule.cssRules ?? []) look(inner); // of @media, @supports, @layer
  };
  for (const sheet of page.styleSheets) {
    try {
      for (const rule of sheet.cssRules) look(rule);
    } catch {
      return true; // loaded from another server: its rules cannot be read
    }
  }
  return found + (orElements ? page.querySelectorAll("[style], [bgcolor], td[width]").length : 0) >= enough;
}

/** @param {Document} page @param {string} selector */
function isUsed(page, selector) {
  try {
    return page.querySelector(selector) !== null;
  } catch {
    return false; // a selector that this browser does not know
  }
}
