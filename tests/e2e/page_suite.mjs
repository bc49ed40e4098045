// The live page: what its parts make of what the service tells, and that the service tells it. How it looks is for eyes
// (CONTRIBUTING.md says how to take pictures of it).
import assert from "node:assert/strict";
import { curl } from "./curl.mjs";
import { freePort, sleep, withinSeconds } from "./harness.mjs";
import { PATH, SCALE_SET, startWithScaleSet } from "./scale_set.mjs";

const page = (name) => import(new URL(`../../proxy/observability/page/${name}.mjs`, import.meta.url));
const write = (id, client, more = {}) => ({ id, client, what: `PUT /subscriptions/s/${client}`, state: "waits", since_ms: 1000 * id, ...more });

async function ask(port, path) {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`);
  assert.equal(answer.status, 200, path);
  return answer.json();
}

export const tests = {
  "the queue's picture has a lane for each write that holds others up, in the order in which they come": async () => {
    const { canUnlock, lanesOf, sentenceOf, shownOf } = await page("queue");
    const writes = [write(1, "tf", { state: "runs", phase: "runs" }), write(5, "late", { ahead: 3, behind: 1 }), write(3, "kept", { state: "kept", ahead: 1, behind: 1 }),
                    write(4, "next", { ahead: 2, behind: 3 }), write(7, "alone", { state: "runs", phase: "sent" }), write(8, "far", { ahead: 9, behind: 99 })];
    const lanes = lanesOf(writes);
    assert.deepEqual(lanes.map(({ first, waiting }) => [first.client, waiting.map(({ client }) => client)]),
                     [["tf", ["kept", "next", "late"]], ["far", []], ["alone", []]]);
    assert.equal(sentenceOf(lanes[0]), "tf runs since 1.0 s; 2 wait behind it, next next; 1 reservation");
    const long = [write(1, "tf", { state: "runs" }), ...Array.from({ length: 20 }, (_, i) => write(i + 2, "k", { state: "kept" })), write(30, "there")];
    assert.deepEqual(shownOf(long).map(({ client }) => client), ["tf", "there", "k", "k"], "who is there is not hidden by reservations");
    assert.equal(sentenceOf(lanes[2]), "alone is being sent since 7.0 s");
    assert.equal(sentenceOf({ first: write(41, "tf", { state: "runs", phase: "runs", seen_ms: 30_000 }), waiting: [] }), "tf runs since 41.0 s, as of 30 s ago",
                 "nobody has asked ARM since");
    assert.equal(sentenceOf({ first: write(41, "tf", { state: "runs", phase: "runs", unseen: true }), waiting: [] }),
                 "tf runs since 41.0 s, no answer about it since the restart");
    assert.deepEqual(lanesOf([write(1, "a", { ahead: 1, behind: 2 }), write(2, "b", { ahead: 1, behind: 1 })]).flatMap(({ first, waiting }) => [first, ...waiting]).length, 2,
                     "two looks may contradict each other; nobody is lost");
    assert.deepEqual(writes.filter(canUnlock).map(({ client }) => client), ["tf"], "what is on its way is not released");
  },

  "a sick resource says why, with ARM's codes": async () => {
    const { errorOf, whyOf } = await page("sick");
    assert.deepEqual([errorOf({ error_code: "A", message_code: "B" }), errorOf({ error_code: "A" }), errorOf({})], ["A (B)", "A", ""]);
    assert.equal(whyOf({ why: "failing", failures: 10, error_code: "A" }), "10 operations have failed with A");
    assert.equal(whyOf({ why: "failing", failures: 10 }), "10 operations have failed with no error code");
    assert.match(whyOf({ why: "stuck" }), /^at work, and no operation/);
  },

  "a plot's scale is round, the newest value stands at the right, and the past grows to an hour": async () => {
    const { ceiling, levelsOf, minutesOf, pointsOf, shownSlots } = await page("plots");
    assert.deepEqual([0, 0.3, 1, 3, 7, 12, 99, 1000].map(ceiling), [1, 0.5, 1, 5, 10, 20, 100, 1000]);
    assert.equal(pointsOf([0, 10], 3, 10), "196.0,104.0 352.0,8.0");
    assert.deepEqual([levelsOf(10, true), levelsOf(5, true), levelsOf(5, false)], [[0, 5, 10], [0, 5], [0, 2.5, 5]], "half a write is none");
    assert.deepEqual([60, 90, 360].map((slots) => minutesOf(slots, 10)), [[10, 5], [15, 10, 5], [60, 45, 30, 15]]);
    const slots = (known) => shownSlots({ every_s: 10, slots: 360, columns: { requests: Array(known).fill(0) } });
    assert.deepEqual([0, 60, 61, 360].map(slots), [60, 60, 61, 360]);
  },

  "the first sentence says whether things are well, and what is wrong stands below it": async () => {
    const { problemsOf, verdictOf } = await page("verdict");
    const totals = (writes = []) => Object.fromEntries(["runs", "waits", "kept"].map((state) => [state, writes.filter((one) => one.state === state).length]));
    const status = (more = {}) => ({ mode: "protect", writes: [], totals: totals(more.writes), ...more });
    const say = (more) => [verdictOf(status(more)), problemsOf(status(more)).map(({ text }) => text)];
    assert.deepEqual(say(), [{ kind: "good", text: "Nobody waits, and no write runs.", more: [] }, []]);
    assert.equal(say({ writes: [write(1, "tf", { state: "runs" })] })[0].text, "Nobody waits. 1 write runs.");
    assert.deepEqual(say({ writes: [write(41, "a"), write(7, "b")] })[0], { kind: "waits", text: "2 writes wait, longest a for 41 s.", more: [] });
    const some = { writes: [write(41, "a")], totals: { runs: 0, waits: 700, kept: 0 }, writes_left_out: 699 };
    assert.deepEqual(say(some)[0].text, "700 writes wait, longest a for 41 s.", "more than are listed");
    assert.deepEqual(say({ ...some, writes: [write(41, "a", { state: "runs" })] })[0], { kind: "waits", text: "700 writes wait.", more: [] });
    const [verdict, problems] = say({ journal_writable: false, sick: [{}], writes: [write(1, "a", { state: "runs", phase: "doubt" })] });
    assert.deepEqual([verdict.kind, verdict.text], ["bad", problems[0]], "the worst first");
    assert.deepEqual(verdict.more, [...problems.slice(1), "Nobody waits. 1 write runs."]);
    assert.deepEqual(problems.map((text) => text.split(" ")[1]), ["journal", "resource", "write"]);
    assert.match(say({ cluster: { engine_up: false } })[0].text, /^The cluster's engine does not answer/);
    assert.equal(say({ cluster: { engine_up: true } })[0].kind, "good");
    assert.match(say({ reload_good: false })[0].more[0], /^The last reload \(SIGHUP\) was refused/);
    assert.deepEqual(say({ reload_good: true })[1], []);
    assert.deepEqual(say({ cluster: { engine_up: true, warnings: ["no synchronous standby is connected", "b"] } })[1], ["Warning: no synchronous standby is connected.", "Warning: b."]);
    assert.equal(say({ mode: "observe" })[0].kind, "good", "that nothing is held back is no trouble");
  },

  "what ARM lets its callers do is told when it is scarce, not when it is small": async () => {
    const { scarceOf } = await page("budgets");
    const row = (told, more = {}) => ({ principal: "#1", subscription: "s", told, come_again_ms: 0, waiting: [], ...more });
    const reads = (left, most) => ({ budget: "subscription-reads", left, most });
    assert.deepEqual(scarceOf([row([reads(200, 250)]), row([reads(4, 4)])]), []);
    assert.deepEqual(scarceOf([row([reads(200, 250), { budget: "subscription-writes", left: 3, most: 200 }])]),
                     [{ pause: false, text: "ARM lets #1 in s do little more: subscription-writes 3 of 200." }]);
    assert.deepEqual(scarceOf([row([reads(0, 250)], { come_again_ms: 12_000 })]), [{ pause: true, text: "ARM has answered 429 to #1 in s: 12 s to wait." }]);
    assert.match(scarceOf([row([reads(0, 250)], { waiting: [{}, {}] })])[0].text, /^2 requests wait for a share/);
  },

  "a question that is not answered makes nothing old but what it was asked for": async () => {
    const { askOnce, sentenceOf, showFailures } = await page("polls");
    const failures = {};
    const taken = [];
    const answers = async (name) => name;
    const fails = async () => { throw Object.assign(new Error("x"), { name: "TimeoutError" }); };
    await askOnce(failures, "/history", fails, (answer) => taken.push(answer));
    await askOnce(failures, "/status", answers, (answer) => taken.push([answer, { ...failures }]));
    assert.deepEqual([failures, taken], [{ "/history": "not within 5 s" }, [["/status", { "/history": "not within 5 s" }]]], "an answer to another question says nothing of it");
    await askOnce(failures, "/status", async () => { throw new TypeError("Failed to fetch"); }, () => assert.fail());
    assert.equal(failures["/status"], "it cannot be reached");
    await askOnce(failures, "/status", answers, () => assert.deepEqual(Object.keys(failures), ["/history"], "it is shown as answered at once"));
    assert.equal(sentenceOf(failures["/status"], { of: "the service", isKnown: true }), "");
    assert.equal(sentenceOf("it answers 503", { of: "the service", isKnown: false }), "no answer from the service (it answers 503)");
    const section = (of, hasPlace) => {
      const classes = new Set();
      const place = hasPlace ? { hidden: true, textContent: "" } : null;
      return { dataset: { of }, classes, place, querySelector: () => place, classList: { toggle: (name, on) => (on ? classes.add(name) : classes.delete(name)) } };
    };
    const [history, status, trouble] = [section("/history", true), section("/status", false), section("/decisions", true)];
    showFailures([history, status, trouble], failures, new Set(["/history"]));
    assert.deepEqual([history, status, trouble].map(({ classes }) => classes.has("old")), [true, false, false]);
    assert.deepEqual([history.place, trouble.place], [{ hidden: false, textContent: "no answer from /history (not within 5 s); what is below is old" }, { hidden: true, textContent: "" }]);
    showFailures([history], failures, new Set());
    assert.equal(history.place.textContent, "no answer from /history (not within 5 s)", "there is nothing below it yet");
    await askOnce(failures, "/history", answers, () => {});
    showFailures([history], failures, new Set());
    assert.deepEqual([history.classes.size, history.place], [0, { hidden: true, textContent: "" }]);
  },

  "what became of a write is told in words": async () => {
    const { changedOf, wordsOf } = await page("history");
    const { clockOf } = await page("text");
    assert.deepEqual([{ state: "done", took_ms: 300 }, { state: "done", took_ms: 61_000, merged: 2 }, { state: "failed", error_code: "Conflict", message_code: "Preempted" },
                      { state: "a-new-one" }].map(wordsOf),
                     ["done", "done after 61 s, merged with 2 of others' changes", "its operation failed: Conflict (Preempted)", "a-new-one"]);
    assert.deepEqual([{ method: "PUT", changed: ["/tags/a", "/sku"] }, { method: "PUT", changed: [""] }, { method: "DELETE" }, { method: "PUT" }].map(changedOf),
                     ["/tags/a, /sku", "all of it (created)", "all of it (deleted)", ""]);
    const now = new Date();
    assert.match(clockOf(now.toISOString(), now), /^\d\d:\d\d:\d\d$/);
    assert.match(clockOf(new Date(now - 86_400_000).toISOString(), now), /, \d\d:\d\d:\d\d$/, "of another day with the day");
  },

  "decisions are filtered by kind and by every word": async () => {
    const { filtered } = await page("decisions");
    const all = [{ id: 1, client: "Terraform", method: "PUT", resource: "/a", status: 412, outcome: "stale", notable: true, words: "refused", waited_ms: 0 },
                 { id: 2, client: "terraform", method: "PUT", resource: "/b", status: 200, outcome: "merged", notable: true, words: "merged", merged: ["/tags/x"], waited_ms: 20 },
                 { id: 3, client: "nightly", method: "PATCH", resource: "/a", status: 200, outcome: "guarded", notable: false, words: "sent at once", waited_ms: 0 }];
    const ids = (text, kind = "") => filtered(all, { text, kind }).map(({ id }) => id);
    assert.deepEqual([ids(""), ids("TERRAFORM"), ids("terraform /b"), ids("412"), ids("no such")], [[1, 2, 3], [1, 2], [2], [1], []]);
    assert.deepEqual(["notable", "refused", "merged", "waited"].map((kind) => ids("", kind)), [[1, 2], [1], [2], [2]]);
    assert.deepEqual(ids("/a", "refused"), [1]);
  },

  "names are told from one another in a narrow place, and unlocking is offered on loopback only": async () => {
    const { brief, age, short, visible } = await page("text");
    assert.equal(visible("a\u202eb\u0007c\nd"), "a\ufffdb\ufffdc\nd", "a name turns no text around");
    const { isLoopback, pathOf, waitingFor } = await page("unlock");
    const subnet = "/subscriptions/s/resourcegroups/rg/providers/microsoft.network/virtualnetworks/hub/subnets/a";
    assert.equal(brief(`PUT ${subnet}`), "PUT virtualnetworks hub / subnets a in rg");
    assert.equal(brief("/subscriptions/s/resourcegroups/rg"), "group rg");
    assert.equal(brief("DELETE /subscriptions/s"), "DELETE /subscriptions/s");
    assert.deepEqual([950, 75_000, 3_900_000, -5].map(age), ["0.9 s", "1 min 15 s", "1 h 5 min", "0.0 s"]);
    assert.deepEqual([0, 0.25, 7, 1234, 45_678].map(short), ["0", "0.3", "7", "1.2k", "46k"]);
    assert.deepEqual(["localhost", "127.0.0.1", "[::1]", "127.1.2.3"].map(isLoopback), [true, true, true, true]);
    assert.deepEqual(["10.0.0.1", "armgate.svc", "127.0.0.1.evil.example", "[::2]"].map(isLoopback), [false, false, false, false]);
    assert.equal(pathOf("PUT /subscriptions/s/a b?c"), "/subscriptions/s/a%20b%3Fc");
    const line = [write(1, "a"), write(2, "b", { behind: 1 }), write(3, "c", { behind: 2 }), write(4, "d")];
    assert.deepEqual(line.map((one) => waitingFor(one, line)), [2, 1, 0, 0], "who waits for one who waits for it, too");
  },

  "the service tells the page what it decided, and how the last hour was": async (world) => {
    const admin = await freePort();
    const { gateway } = await startWithScaleSet(world, 0, { listen: { admin: `127.0.0.1:${admin}` } });
    const read = JSON.parse((await curl(world, gateway, PATH, { user: "ann" })).body);
    const put = (user, change) => curl(world, gateway, PATH, { user, args: ["-X", "PUT", "-H", "Content-Type: application/json", "--data", JSON.stringify({ ...read, ...change })] });
    assert.equal((await curl(world, gateway, PATH, { user: "ben" })).status, 200);
    assert.ok((await put("ann", { tags: { a: "1" } })).status < 300);
    assert.equal((await put("ben", { tags: { a: "2" } })).status, 412);
    const told = await ask(admin, "/decisions");
    assert.deepEqual(told.decisions.map(({ client, outcome }) => [client, outcome]), [["ben", "stale"], ["ann", "guarded"]]);
    assert.equal(told.decisions[0].resource, SCALE_SET.toLowerCase());
    assert.match(told.decisions[0].words, /^refused: somebody else has changed/);
    assert.deepEqual(told.clients.map(({ name, refused }) => [name, refused]), [["ben", 1]]);
    assert.deepEqual(told.resources.map(({ name }) => name), [SCALE_SET.toLowerCase()]);
    await withinSeconds(30, "the first row of the last hour", (async () => {
      while ((await ask(admin, "/recent")).columns.requests.length === 0) await sleep(500);
    })());
    const { every_s, slots, columns } = await ask(admin, "/recent");
    assert.equal(every_s * slots, 3600);
    const sum = (name) => columns[name].reduce((all, value) => all + value, 0);
    assert.deepEqual([sum("guarded"), sum("stale"), sum("arm_412"), sum("refused")], [1, 1, 1, 0]);
    const told_writes = await ask(admin, `/history${SCALE_SET}?last=5`);
    assert.deepEqual(told_writes.writes.map(({ client, status, state }) => [client, status, state]), [["ann", 200, "done"], ["ben", 412, "refused"]]);
    const { PLOTS } = await page("plots");
    for (const [column] of PLOTS.flatMap(({ lines }) => lines)) assert.ok(Array.isArray(columns[column]), `${column} is plotted`);
  },

  "with a journal the page is told what is in it, also of the process before": async (world) => {
    const admin = await freePort();
    const { gateway } = await startWithScaleSet(world, 0, { listen: { admin: `127.0.0.1:${admin}` }, journal: { file: "journal.db" } });
    const patch = (user) => curl(world, gateway, PATH, { user, args: ["-X", "PATCH", "-H", "Content-Type: application/json", "--data", JSON.stringify({ tags: { [user]: "1" } })] });
    assert.equal((await patch("before")).status, 200);
    gateway.process.child.kill("SIGTERM");
    await gateway.process.exit;
    await world.runGateway(gateway);
    assert.equal((await patch("after")).status, 200);
    const asks = Array.from({ length: 40 }, () => ask(admin, "/history?last=20"));
    for (const { writes } of await Promise.all(asks)) assert.deepEqual(writes.map(({ client }) => client), ["before", "after"]);
    assert.equal((await ask(admin, `/history${SCALE_SET}`)).writes.length, 2);
    assert.equal((await ask(admin, "/history/subscriptions/other")).writes.length, 0);
  },
};
