// Requirements K7 and K8 (docs/requirements.md): who waits for whom, how long, and what becomes of those who leave.
import assert from "node:assert/strict";
import { curl, sending } from "./curl.mjs";
import { sleep } from "./harness.mjs";
import { Pool } from "./pool.mjs";
import { begin, bodyOf, bothWays, ENDLESS, LOCATION, scaleSetRule, SET, whileItRuns } from "./rows.mjs";
import { sdk } from "./sdk.mjs";
import { NETWORK, SCALE_SET, subnetsOf } from "./tools.mjs";

const range = (count) => Array.from({ length: count }, (_, i) => i);
const setOf = (name) => `${SCALE_SET.id}-${name}?api-version=${SCALE_SET.version}`;
const patch = (ask, user, tag, target = SET, ...more) => ask(user, "PATCH", target, { tags: { [tag]: "1" } }, ...more);

// The most requests of `records` that ARM was working on at any one moment.
function mostAtOnce(records) {
  const edges = records.flatMap(({ at, endedAt }) => [[at, 1], [endedAt, -1]]).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  let now = 0;
  return Math.max(...edges.map(([, step]) => (now += step)));
}

// Writers that all change a few scale sets at once; how many ARM had in hand of one set, and of all.
async function crowd({ sim, journal, gateway }) {
  const names = ["one", "two", "three"];
  for (const name of names) await sim.make(setOf(name).split("?")[0], SCALE_SET.version, bodyOf(1));
  const pools = range(6).map((i) => new Pool(gateway, { user: `user-${i}` }));
  const answers = await Promise.all(pools.flatMap((pool, i) => names.map((name) => pool.ask("PATCH", setOf(name), { tags: { [`t${i}`]: "1" } }))));
  for (const pool of pools) pool.close();
  assert.ok(answers.every(({ status }) => status === 200 || status === 409));
  const each = names.map((name) => mostAtOnce(journal.of("PATCH", `-${name}?`)));
  return { ofOne: Math.max(...each), ofAll: mostAtOnce(journal.of("PATCH")), conflicts: (await sim.report()).conflicts };
}

export const tests = {
  "K7: writes to one thing come one at a time, writes to several side by side": async (world) => {
    const seen = await bothWays(world, { args: ["--operation-ms", "0", "--latency-ms", "150"] }, crowd);
    assert.deepEqual([seen.protected.ofOne, seen.protected.conflicts], [1, 0]);
    assert.ok(seen.protected.ofAll > 1, "armgate made a queue of what has nothing to do with each other");
    assert.ok(seen.without.ofOne > 1, "nothing met: this tests nothing");
  },

  "K7: whoever came first goes first": async (world) => {
    const one = await begin(world, { config: { threads: 1, operations: { poll_waited: "200ms" } } });
    const pools = range(5).map((i) => new Pool(one.gateway, { user: `user-${i}` }));
    for (const pool of pools) await pool.ask("GET", SET);  // connects
    assert.equal((await patch(one.ask, "holder", "holder", SET, "--header", `x-sim-operation-ms: ${ENDLESS}`)).status, 200);
    const running = [];
    for (const [i, pool] of pools.entries()) {
      running.push(pool.ask("PATCH", SET, { tags: { [`user-${i}`]: "1" } }));
      await sleep(250);
    }
    await whileItRuns(one, []);
    for (const { status } of await Promise.all(running)) assert.equal(status, 200);
    for (const pool of pools) pool.close();
    const order = one.journal.of("PATCH").map(({ body }) => Object.keys(JSON.parse(body).tags).at(-1));  // each keeps those of the ones before
    assert.deepEqual(order, ["holder", ...range(5).map((i) => `user-${i}`)]);
  },

  "K7: a rule says whether that is until the answer or until the operation's end": async (world) => {
    for (const [until, status] of [["request", 409], ["operation", 200]]) {
      const rules = { rules: [scaleSetRule({ lease: { until }, retry: { busy: { attempts: 1 } } })] };
      const one = await begin(world, { args: ["--operation-ms", ENDLESS], rules, config: { operations: { poll_waited: "200ms" } } });
      assert.equal((await patch(one.ask, "a", "a")).status, 200);
      const [second] = await whileItRuns(one, [() => patch(one.ask, "b", "b")]);
      assert.equal(second.status, status, until);
    }
  },

  // Each write of a peering locks its own network and, for its body, the other one: every pair is asked for in both orders at once.
  "K7: writes that need several things at once never block each other for good": async (world) => {
    const { sim, gateway } = await begin(world, { args: ["--operation-ms", "0", "--latency-ms", "20"], config: { queue: { wait_max: "3m" } } });
    const networks = range(5).map((i) => `${NETWORK.id}-${i}`);
    for (const id of networks) await sim.make(id, NETWORK.version, { ...LOCATION, properties: {} });
    const pools = range(3).map((i) => new Pool(gateway, { user: `user-${i}`, connections: 40 }));
    const pairs = networks.flatMap((from) => networks.filter((to) => to !== from).map((to) => [from, to]));
    const answers = await Promise.all(pairs.flatMap(([from, to], i) => [
      pools[i % 3].ask("PUT", `${from}/virtualNetworkPeerings/${to.slice(-1)}?api-version=${NETWORK.version}`,
                       { properties: { remoteVirtualNetwork: { id: to } } }),
      pools[(i + 1) % 3].ask("PUT", `${from}/subnets/s${to.slice(-1)}?api-version=${NETWORK.version}`, { properties: {} })]));
    for (const pool of pools) pool.close();
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [201]);
    for (const id of networks) assert.equal(subnetsOf(await sim.read(id, NETWORK.version)).size, 4);
    assert.equal((await sim.report()).conflicts, 0);
  },

  "K8: a full queue and a long wait end in a 503 that says when to come back": async (world) => {
    const { ask, sim, journal } = await begin(world, { args: ["--operation-ms", ENDLESS], config: { queue: { waiters_per_key: 1, wait_max: "4s" } } });
    assert.equal((await patch(ask, "holder", "holder")).status, 200);
    const answers = await Promise.all(["b", "c"].map((user) => patch(ask, user, user)));
    for (const answer of answers) {
      assert.deepEqual([answer.status, answer.json.error.code], [503, "ArmgateBusy"]);
      assert.ok(answer.json.error.message.length > 20);
      const seconds = Number(answer.headers["retry-after"]);
      assert.ok(seconds >= 1 && seconds <= 5, `${seconds} s`);
    }
    assert.deepEqual(answers.map(({ headers }) => headers["x-armgate-reason"]).sort(), ["queue-full", "waited-too-long"]);
    assert.equal(journal.of("PATCH").length, 1);
    assert.equal((await sim.report()).overlaps_attempted, 0);
  },

  "K8: an SDK comes back by itself on that, and claims its reservation": async (world) => {
    const config = { queue: { wait_max: "700ms" }, operations: { poll_waited: "200ms" } };
    const seen = await bothWays(world, { args: ["--operation-ms", "0"], config }, async (one) => {
      assert.equal((await patch(one.ask, "holder", "holder", SET, "--header", `x-sim-operation-ms: ${ENDLESS}`)).status, 200);
      const scaling = sdk(one.gateway, "scaler", "scale", { group: "rg", name: "web", capacity: 7 });
      while (!/"client":"scaler".*"status":(503|409)/.test(one.gateway.process.log)) await sleep(20);
      await whileItRuns(one, []);
      const { ok } = await scaling;
      return { ok, sent: one.journal.of("PATCH").length, told: one.gateway.process.log.includes('"reason":"claimed-its-reservation"') };
    });
    assert.deepEqual(seen, { without: { ok: false, sent: 2, told: false }, protected: { ok: true, sent: 2, told: true } });
  },

  "K8: who leaves the queue is not sent, and does not hold up those behind": async (world) => {
    const { sim, ask, gateway, journal } = await begin(world, { args: ["--operation-ms", "3000"], config: { queue: { claim_timeout: "100ms" } } });
    assert.equal((await patch(ask, "holder", "holder")).status, 200);
    const left = await curl(world, gateway, SET, { user: "left", args: [...sending("PATCH", { tags: { left: "1" } }), "--max-time", "0.7"] });
    assert.notEqual(left.code, 0, "it gave up");
    assert.equal((await patch(ask, "behind", "behind")).status, 200);
    await sleep(300);
    assert.equal(journal.of("PATCH").length, 2, "the one that left was sent");
    assert.deepEqual((await sim.read(SCALE_SET.id, SCALE_SET.version)).tags, { behind: "1" });
    assert.equal((await sim.report()).overlaps_attempted, 0);
  },

  "K8: a lock is let go however its holder's write ends": async (world) => {
    const { sim, ask, gateway } = await begin(world, { args: ["--operation-ms", "0", "--latency-ms", "300"] });
    const endings = { "error-quota": 409, "status-400": 400, "status-500": 500, "drop-before": 0, "drop-after": 0 };
    for (const [kind, status] of Object.entries(endings)) {
      await sim.addFaults([{ method: "PATCH", kind }]);
      const ended = await patch(ask, "a", kind);
      assert.ok(status === 0 || ended.status === status, `${kind}: ${ended.status}`);
      assert.equal((await patch(ask, "b", `after-${kind}`)).status, 200, kind);
    }
    // Its client dies while ARM works on the write.
    const left = curl(world, gateway, SET, { user: "a", args: [...sending("PATCH", { tags: { left: "1" } }), "--max-time", "0.25"] });
    await sleep(150);
    assert.equal((await patch(ask, "b", "after-left")).status, 200);
    assert.notEqual((await left).code, 0);
    assert.equal((await sim.report()).overlaps_attempted, 0);
  },

  "K8: an operation lease has an end, and it is said": async (world) => {
    const rules = { rules: [scaleSetRule({ lease: { max: "1s", cap: "1s" }, retry: { busy: { attempts: 1 } } })] };
    const { ask, gateway } = await begin(world, { args: ["--operation-ms", ENDLESS], rules, config: { operations: { poll_waited: "300ms" } } });
    assert.equal((await patch(ask, "a", "a")).status, 200);
    assert.equal((await patch(ask, "b", "b")).status, 409, "ARM is asked again at last");
    assert.match(gateway.process.log, /"level":"(warning|error)","event":"[^"]*"[^\n]*lease expired/i);
  },
};
