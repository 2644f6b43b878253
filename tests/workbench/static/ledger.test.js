// What the ledger of labels promises: nothing is called saved before the server has said so, and nothing is lost or sent
// twice, whatever the network does. Run by test_ledger.py, or: node --test tests/workbench/static
import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { Ledger } from "../../../src/mainmatter/workbench/static/annotate-ledger.js";

const KEEP = { kept: true, kind: "paragraph" };
const DROP = { kept: false, kind: "paragraph" };

/** A server that stores what it is sent, and whose next answers can be made to fail. */
class Server {
  constructor() {
    this.labels = {};
    this.revision = 0;
    this.done = false;
    this.undoable = [];
    /** @type {(Error & {status?: number, isStored?: boolean})[]} */
    this.failures = [];
    this.sent = [];
  }

  standing() {
    return { revision: this.revision, labels: { ...this.labels }, done: this.done, can_undo: this.undoable.length > 0, can_redo: false };
  }

  send = async (change, revision) => {
    this.sent.push(change);
    const failure = this.failures.shift();
    if (failure && !failure.isStored) throw failure;
    if (revision !== this.revision) throw problem(409);
    if (change.type === "labels") {
      this.undoable.push({ ...this.labels });
      for (const [ref, label] of Object.entries(change.labels)) {
        if (label) this.labels[ref] = label;
        else delete this.labels[ref];
      }
    } else if (change.type === "done") this.done = change.done;
    else this.labels = this.undoable.pop();
    this.revision += 1;
    if (failure) throw failure;
    return { ...this.standing(), labels: change.type === "labels" ? null : { ...this.labels } };
  };

  look = async () => this.standing();
}

function problem(status, isStored = false) {
  return Object.assign(new Error(`answer ${status}`), { status, isStored });
}

function ledgerOf(server) {
  const states = [];
  const ledger = new Ledger({ send: server.send, look: server.look, tell: (each) => states.push(each.state) });
  ledger.open(server.standing());
  return { ledger, states };
}

/** Let all that was promised happen. */
async function settle() {
  for (let i = 0; i < 20; i += 1) await Promise.resolve();
}

test("changes are sent one after the other, and are pending until they are stored", async () => {
  const server = new Server();
  const { ledger, states } = ledgerOf(server);
  ledger.change({ type: "labels", labels: { a: KEEP, b: KEEP } });
  ledger.change({ type: "labels", labels: { b: DROP } });
  assert.deepEqual([...ledger.labels], [["a", KEEP], ["b", DROP]]);
  assert.deepEqual([...ledger.pending], ["a", "b"]);
  assert.equal(ledger.state, "saving");
  assert.equal(server.sent.length, 1, "the second waits for the first");
  await settle();
  assert.deepEqual(server.labels, { a: KEEP, b: DROP });
  assert.deepEqual([ledger.state, ledger.unsaved, ledger.revision, ledger.canUndo], ["saved", 0, 2, true]);
  assert.equal(states.indexOf("saved", 1), states.length - 1, "never saved before all is stored");
});

test("more labels than the server takes at once are sent in several changes", async () => {
  const server = new Server();
  const { ledger } = ledgerOf(server);
  const labels = Object.fromEntries(Array.from({ length: 20_001 }, (_, n) => [`r${n}`, n === 20_000 ? DROP : KEEP]));
  ledger.change({ type: "labels", labels });
  assert.equal(ledger.pending.size, 20_001);
  await settle();
  assert.deepEqual(server.sent.map((change) => Object.keys(change.labels).length), [10_000, 10_000, 1]);
  assert.deepEqual(server.labels, labels);
  assert.equal(ledger.state, "saved");
});

test("a label is taken away, and undone", async () => {
  const server = new Server();
  const { ledger } = ledgerOf(server);
  ledger.change({ type: "labels", labels: { a: KEEP } });
  ledger.change({ type: "labels", labels: { a: null } });
  assert.equal(ledger.labels.size, 0);
  ledger.change({ type: "undo" });
  await settle();
  assert.deepEqual([...ledger.labels], [["a", KEEP]]);
});

test("what could not be sent is sent again, in order, after ever longer pauses", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const server = new Server();
  server.failures = [problem(0), problem(503)];
  const { ledger } = ledgerOf(server);
  ledger.change({ type: "labels", labels: { a: KEEP } });
  await settle();
  ledger.change({ type: "labels", labels: { b: DROP } });
  assert.deepEqual([ledger.state, ledger.unsaved, ledger.message], ["unsaved", 2, "answer 0"]);
  mock.timers.tick(499);
  await settle();
  assert.equal(server.sent.length, 1);
  mock.timers.tick(1);
  await settle();
  assert.deepEqual([ledger.state, server.sent.length], ["unsaved", 2]);
  mock.timers.tick(999);
  await settle();
  assert.equal(server.sent.length, 2, "the second pause is twice as long");
  mock.timers.tick(1);
  await settle();
  assert.deepEqual([ledger.state, server.labels], ["saved", { a: KEEP, b: DROP }]);
  mock.timers.reset();
});

test("an acknowledgement that was lost is no conflict, and nothing is stored twice", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const server = new Server();
  server.failures = [problem(0, true)];
  const { ledger } = ledgerOf(server);
  ledger.change({ type: "labels", labels: { a: KEEP } });
  await settle();
  assert.equal(ledger.state, "unsaved");
  mock.timers.tick(500);
  await settle();
  assert.deepEqual([ledger.state, ledger.revision, server.revision], ["saved", 1, 1]);
  ledger.change({ type: "done", done: true });
  await settle();
  assert.deepEqual([ledger.done, server.revision], [true, 2]);
  mock.timers.reset();
});

test("another window's change is told, and caught up with or without one's own", async () => {
  const server = new Server();
  const { ledger } = ledgerOf(server);
  server.labels = { a: DROP };
  server.revision = 5;
  ledger.change({ type: "labels", labels: { b: KEEP } });
  ledger.change({ type: "undo" });
  await settle();
  assert.deepEqual([ledger.state, ledger.unsaved], ["stale", 2]);
  await ledger.catchUp(true);
  await settle();
  assert.deepEqual([ledger.state, server.labels], ["saved", { a: DROP, b: KEEP }], "an undo meant what was there before");
  server.revision = 9;
  ledger.change({ type: "labels", labels: { c: KEEP } });
  await settle();
  await ledger.catchUp(false);
  assert.deepEqual([ledger.state, [...ledger.labels.keys()]], ["saved", ["a", "b"]]);
});

test("what the server refuses is kept until somebody decides", async () => {
  const server = new Server();
  server.failures = [problem(422)];
  const { ledger } = ledgerOf(server);
  ledger.change({ type: "labels", labels: { a: KEEP } });
  await settle();
  assert.deepEqual([ledger.state, ledger.unsaved, server.sent.length], ["refused", 1, 1]);
  ledger.retry();
  await settle();
  assert.deepEqual([ledger.state, server.labels], ["saved", { a: KEEP }]);
});

test("whether a page seems done counts what is on its way; a page that was left sends nothing more", async () => {
  const server = new Server();
  const { ledger } = ledgerOf(server);
  ledger.change({ type: "done", done: true });
  assert.deepEqual([ledger.done, ledger.seemsDone], [false, true]);
  await settle();
  ledger.change({ type: "labels", labels: { a: KEEP } });
  ledger.change({ type: "labels", labels: { b: KEEP } });
  ledger.close();
  await settle();
  assert.equal(server.sent.length, 2, "the one that was on its way");
});
