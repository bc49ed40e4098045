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
  "the queue's picture has a lane for each write that holds others up, in the order of their turns": async () => {
    const { canUnlock, lanesOf, sentenceOf } = await page("queue");
    const writes = [write(1, "tf", { state: "runs", phase: "runs" }), write(5, "late", { ahead: 3, behind: 1 }), write(3, "kept", { state: "kept", ahead: 1, behind: 1 }),
                    write(4, "next", { ahead: 2, behind: 3 }), write(7, "alone", { state: "runs", phase: "sent" }), write(8, "far", { ahead: 9, behind: 99 })];
    const lanes = lanesOf(writes);
    assert.deepEqual(lanes.map(({ first, waiting }) => [first.client, waiting.map(({ client }) => client)]),
                     [["tf", ["kept", "next", "late"]], ["far", []], ["alone", []]]);
    assert.equal(sentenceOf(lanes[0]), "tf runs since 1.0 s; 3 behind it, next next");
    assert.equal(sentenceOf(lanes[2]), "alone is being sent since 7.0 s");
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
    const { ceiling, pointsOf, shownSlots } = await page("plots");
    assert.deepEqual([0, 0.3, 1, 3, 7, 12, 99, 1000].map(ceiling), [1, 0.5, 1, 5, 10, 20, 100, 1000]);
    assert.equal(pointsOf([0, 10], 3, 10), "160.0,82.0 320.0,14.0");
    const slots = (known) => shownSlots({ every_s: 10, slots: 360, columns: { requests: Array(known).fill(0) } });
    assert.deepEqual([0, 60, 61, 360].map(slots), [60, 60, 61, 360]);
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
    const { brief, age, short } = await page("text");
    const { isLoopback, pathOf } = await page("unlock");
    const subnet = "/subscriptions/s/resourcegroups/rg/providers/microsoft.network/virtualnetworks/hub/subnets/a";
    assert.equal(brief(`PUT ${subnet}`), "PUT virtualnetworks hub / subnets a in rg");
    assert.equal(brief("/subscriptions/s/resourcegroups/rg"), "group rg");
    assert.equal(brief("DELETE /subscriptions/s"), "DELETE /subscriptions/s");
    assert.deepEqual([950, 75_000, 3_900_000, -5].map(age), ["0.9 s", "1 min 15 s", "1 h 5 min", "0.0 s"]);
    assert.deepEqual([0, 0.25, 7, 1234, 45_678].map(short), ["0", "0.3", "7", "1.2k", "46k"]);
    assert.deepEqual(["localhost", "127.0.0.1", "[::1]", "127.1.2.3"].map(isLoopback), [true, true, true, true]);
    assert.deepEqual(["10.0.0.1", "armgate.svc", "127.0.0.1.evil.example", "[::2]"].map(isLoopback), [false, false, false, false]);
    assert.equal(pathOf("PUT /subscriptions/s/a b?c"), "/subscriptions/s/a%20b%3Fc");
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
    const { PLOTS } = await page("plots");
    for (const [column] of PLOTS.flatMap(({ lines }) => lines)) assert.ok(Array.isArray(columns[column]), `${column} is plotted`);
  },
};
