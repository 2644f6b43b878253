// The Teach view: polls the server for the state of teaching, once a second while a job runs, and shows it.
// @ts-check

import { announce, api, busy, byId, count, element, showProblem, toast } from "./shell.js";
import { drawCurve } from "./learning-curve.js";
import { compareBlindly } from "./teach-blind.js";
import { resultOf } from "./teach-result.js";
import { CURVE_COLUMNS, READINESS, STATES, curveRows, fillTable, interval, percent, probability, score, signed } from "./teach-words.js";

const WHILE_RUNNING = 1000; // milliseconds between questions
const OTHERWISE = 10000;
const PARTS = 1000; // of the progress bar

/** What each part of the page shows. Unchanged parts are not redrawn, so that they keep the focus. */
const shown = new Map();
let timer = 0;
let suggestedName = ""; // follows the number of pages until the user types another name
/** @type {any} */
let stand = null;
/** The state of the job at the last poll; null before the first. @type {string | null} */
let lastState = null;

/** Draw a part of the page if what it shows has changed. @param {string} part @param {unknown} facts @param {() => void} draw */
function refresh(part, facts, draw) {
  const key = JSON.stringify(facts);
  if (shown.get(part) === key) return;
  shown.set(part, key);
  draw();
}

async function look() {
  clearTimeout(timer);
  try {
    stand = await api("/api/teach");
    refresh("problem", null, () => showProblem(byId("problem"), null));
    show();
  } catch (error) {
    shown.delete("problem");
    showProblem(byId("problem"), error);
  }
  timer = window.setTimeout(look, stand?.job?.state === "running" ? WHILE_RUNNING : OTHERWISE);
}

function show() {
  const { ready, methods, job, lessons, models } = stand;
  refresh("ready", ready, () => showReady(ready));
  refresh("methods", methods, () => showMethods(methods));
  refresh("start", [ready.usable, job?.state], () => showStart(ready, job));
  refresh("job", [job, models], () => showJob(job));
  refresh("models", models, () => showModels(models));
  refresh("in-use", [stand.in_use, stand.in_use_problem, models.length], showInUse);
  refresh("lessons", lessons, () => showLessons(lessons));
}

/** @param {any} ready */
function showReady(ready) {
  byId("ready-figure").replaceChildren(
    element("strong", {}, String(ready.usable)), ` of ${count(ready.pages, "page")} ready`,
  );
  byId("ready-parts").replaceChildren(...READINESS.filter(([name]) => ready[name]).map(([name, words, kind]) =>
    element("li", {}, element("span", { class: `badge ${kind}` }, String(ready[name])), ` ${words}`)));
  const hint = byId("ready-hint");
  const annotate = element("a", { href: "/annotate" }, "Annotate");
  if (ready.usable < ready.needed) {
    hint.replaceChildren(`Teaching needs at least ${ready.needed} pages. Label pages in `, annotate, ", mark them as done, and merge conflicts.");
  } else hint.replaceChildren("More pages usually help; add some in ", annotate, ".");
}

/** @param {any[]} methods */
function showMethods(methods) {
  const select = byId("method");
  const chosen = select.value;
  select.replaceChildren(...methods.map((method) => element("option", { value: method.name }, method.name)));
  if (methods.some((method) => method.name === chosen)) select.value = chosen;
  showMethod();
}

function showMethod() {
  const method = stand.methods.find((/** @type {any} */ each) => each.name === byId("method").value);
  byId("method-about").textContent = method ? `${method.name}: ${method.summary}; it ${method.begins}.` : "";
}

/** @param {any} ready @param {any} job */
function showStart(ready, job) {
  const isRunning = job?.state === "running";
  const isEnough = ready.usable >= ready.needed;
  byId("start").disabled = isRunning || !isEnough;
  byId("start-about").textContent = isRunning ? "You can teach one model at a time: wait for the one below, or cancel it."
    : isEnough ? `Learns from ${count(ready.usable, "page")}.` : `${count(ready.needed - ready.usable, "more page")} needed.`;
  const suggested = isEnough ? `taught-${ready.usable}-pages` : "";
  if (["", suggestedName].includes(byId("name").value) && !isRunning) byId("name").value = suggested;
  suggestedName = suggested;
}

/** @param {any} job */
function showJob(job) {
  byId("job").hidden = !job;
  if (!job) return;
  const [words, kind] = STATES[job.state];
  const isRunning = job.state === "running";
  byId("job-heading").textContent = `${job.name} (${job.method})`;
  byId("job-state").textContent = words;
  byId("job-state").className = `badge ${kind}`;
  byId("cancel").hidden = !isRunning;
  byId("job-progress").hidden = !isRunning;
  byId("job-progress").value = Math.round((PARTS * job.done) / Math.max(1, job.of));
  byId("job-doing").hidden = !isRunning;
  byId("job-doing").textContent = job.doing ? `${Math.floor((100 * job.done) / Math.max(1, job.of))} %: ${job.doing}` : "starting";
  refresh("job-problem", [job.id, job.error], () => showProblem(byId("job-problem"), job.error));
  const model = stand.models.find((/** @type {any} */ each) => each.name === job.name);
  refresh("result", [job.id, job.lesson, model], () =>
    byId("result").replaceChildren(...(job.lesson ? [resultOf(job, model, { use, compare })] : [])));
  refresh("curve", job.points, () => showCurve(job.points));
  byId("job-command").textContent = job.command;
  byId("job-log").replaceChildren(...job.log.map((/** @type {string} */ line) => element("li", {}, line)));
  tell(job);
}

/** Announce that a job has ended, but not one that had ended before the page was opened. @param {any} job */
function tell(job) {
  if (lastState === "running" && job.state !== "running") {
    announce(job.lesson ? job.lesson.verdict : `${job.name}: ${STATES[job.state][0]}. ${job.error}`);
  }
  lastState = job.state;
}

/** @param {any[]} points */
function showCurve(points) {
  byId("curve-part").hidden = points.length < 2;
  if (points.length < 2) return;
  const last = points[points.length - 1];
  const label = `Learning curve: ${last.metric} is ${score(last.taught)} after ${count(last.pages, "page")}, ${score(last.shipped)} as shipped. The table below has all points.`;
  byId("curve-picture").replaceChildren(drawCurve(
    points.map((point) => ({ pages: point.pages, value: point.taught, low: point.shipped + point.low, high: point.shipped + point.high })),
    { label, line: last.shipped, lineLabel: `as shipped, ${score(last.shipped)}`, valueLabel: `taught, ${last.metric}` },
  ));
  fillTable(byId("curve-table"), "Each model was measured on pages that it had not learned from. Vertical lines: 95 % interval of the gain.", CURVE_COLUMNS, curveRows(points));
}

/** @param {any[]} lessons */
function showLessons(lessons) {
  byId("lessons").hidden = lessons.length === 0;
  if (!lessons.length) return;
  const byPages = [...lessons].sort((a, b) => a.pages - b.pages);
  const points = byPages.map((lesson) => ({ pages: lesson.pages, value: lesson.gain, low: lesson.low, high: lesson.high }));
  const label = `Gain of ${count(lessons.length, "lesson")} by number of pages; the table below has all of them.`;
  const picture = () => drawCurve(points, { label, line: 0, lineLabel: "no gain", valueLabel: "gain over the shipped model" });
  byId("lessons-picture").replaceChildren(...(points[0].pages < points[points.length - 1].pages ? [picture()] : []));
  fillTable(byId("lessons-table"), "All lessons, latest first", ["when", "model", "method", "#pages", "#gain", "95 % interval", "#p", "advice"],
    [...lessons].reverse().map((lesson) => [
      new Date(lesson.time).toLocaleString(), lesson.name, lesson.method.split(":")[0], lesson.pages, signed(lesson.gain), interval(lesson), probability(lesson.p),
      typeof lesson.probability === "number" ? `${percent(lesson.probability)} likely better` : lesson.recommended ? "use it" : "keep the shipped one",
    ]));
}

/** @param {any[]} models */
function showModels(models) {
  byId("models").hidden = models.length === 0;
  fillTable(byId("models-table"), "Models of this workbench; you can choose them wherever you choose a method", ["name", "method", "#pages", "#gain", "#likely better", "advice", "card", "actions"],
    models.map((model) => [
      element("a", { href: `/?method=${encodeURIComponent(model.method_name)}` }, model.name),
      model.method ?? "damaged", model.pages ?? "", model.gain?.gain === undefined ? "" : signed(model.gain.gain),
      typeof model.probability === "number" ? percent(model.probability) : "",
      model.problem || (model.in_use ? "in use" : model.recommended === true ? "use it" : model.recommended === false ? adviceOn(model) : ""),
      element("details", {}, element("summary", { "aria-label": `Card of ${model.name}` }, "card"), element("pre", { class: "card", tabindex: "0" }, JSON.stringify(model.card ?? {}, null, 1))),
      element("span", { class: "row" },
        model.problem || model.in_use ? null : element("button", { type: "button", class: "quiet", "aria-label": `Use ${model.name} from now on`, on: { click: () => use(model.name) } }, "Use"),
        model.problem ? null : element("button", { type: "button", class: "quiet", "aria-label": `Compare ${model.name} blindly`, on: { click: () => compare(model.name) } }, "Compare blindly"),
        element("button", { type: "button", class: "quiet", "aria-label": `Delete ${model.name}`, on: { click: () => remove(model.name) } }, "Delete")),
    ]));
}

/** @param {any} model */
function adviceOn(model) {
  return model.probability < 0.5 ? "keep the shipped one" : "cannot tell yet";
}

/** The method used by default, and a button to go back to main. */
function showInUse() {
  const { in_use: name, in_use_problem: problem } = stand;
  const isShipped = name === "main" && !problem;
  byId("in-use").replaceChildren(
    element("span", {}, problem ? `${problem}.` : isShipped ? "main, as shipped, is in use." : `${name.replace(/^models\//, "")} is in use in Inspect, Compare and the API.`),
    ...(isShipped ? [] : [element("button", { type: "button", id: "back-to-main", on: { click: () => use("main") } }, "Go back to main")]));
}

/** @param {string} name */
async function use(name) {
  await act(
    api("/api/teach/use", { json: { model: name } }).then((answer) => {
      if (name !== "main" && !answer.on_command_line) toast(`${name} is in use on this server; the command line keeps its own choice.`);
    }),
    `${name} is in use from now on.`);
  byId("models-heading").focus();
}

/** @param {string} name */
async function compare(name) {
  try {
    await compareBlindly(name, look);
    showProblem(byId("problem"), null);
  } catch (error) {
    showProblem(byId("problem"), error);
    byId("problem").scrollIntoView({ block: "nearest" });
  }
}

/** @param {string} name */
async function remove(name) {
  if (!window.confirm(`Delete the model ${name}? You cannot undo this.`)) return;
  await act(api(`/api/teach/models/${encodeURIComponent(name)}`, { method: "DELETE" }), `Deleted ${name}.`);
  byId("models-heading").focus();
}

/** Wait for an action, confirm it, and refresh. @param {Promise<any>} promise @param {string} done */
async function act(promise, done) {
  try {
    await busy(byId("main"), promise);
    toast(done);
    showProblem(byId("problem"), null);
    await look();
  } catch (error) {
    showProblem(byId("problem"), error);
  }
}

byId("start-form").addEventListener("submit", (/** @type {SubmitEvent} */ event) => {
  event.preventDefault();
  const asked = { name: byId("name").value.trim(), method: byId("method").value, split: byId("split").value, curve: byId("curve").checked };
  act(api("/api/teach", { json: asked }), "Teaching has started.");
});
byId("cancel").addEventListener("click", () => act(api("/api/teach/cancel", { method: "POST" }), "Cancelled."));
byId("method").addEventListener("change", showMethod);
document.addEventListener("visibilitychange", () => { if (!document.hidden) look(); });
look();
