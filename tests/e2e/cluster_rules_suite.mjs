// Rules that are changed at one replica after another while all of them serve (docs/cluster.md, "What each failure does").
import assert from "node:assert/strict";
import { copyFileSync, mkdirSync } from "node:fs";
import path from "node:path";
import { assertNothingLost, race, startSim } from "./cluster_race.mjs";
import { Cluster, Postgres } from "./engines.mjs";
import { changeConfig, sleep } from "./harness.mjs";
import { ownRules, scaleSetRule } from "./rows.mjs";
import { PATH, waitFor } from "./scale_set.mjs";

const MIXED_MS = 2000;

const rulesFile = (world, more) => ownRules(world, { rules: [scaleSetRule(more)] });

const useRules = (replica, rules) => changeConfig(replica, (config) => ({ ...config, rules }));

// As who rolls out a change of rules does it.
async function reload(replica, rules) {
  const { log, child } = replica.process;
  useRules(replica, rules);
  child.kill("SIGHUP");
  await waitFor("the rules to be in force", () => replica.process.log.slice(log.length).includes(`"event":"reloaded"`));
}

async function restart(cluster, number, rules) {
  const replica = cluster.replicas[number];
  useRules(replica, rules);
  replica.process.child.kill("SIGTERM");
  assert.deepEqual(await replica.process.exit, { code: 0, signal: null });
  await cluster.startReplica(number);
}

async function startAll(world, rules) {
  const args = ["--operation-ms", "150", "--retry-after", "0", "--latency-ms", "5", "40", "--exclusivity", "accept"];
  const [sim, postgres] = await Promise.all([startSim(world, args), Postgres.make(world)]);
  const cluster = await Cluster.start(world, sim, postgres.url, { lease: 10, config: { rules, operations: { poll_first: "100ms", poll_waited: "100ms" } } });
  return { sim, cluster };
}

export const tests = {
  "rules that are changed at one replica after another lose nothing while their lock keys stay": async (world) => {
    const before = [rulesFile(world, {}), "shipped"];
    const after = [rulesFile(world, { guard: { kind: "etag", methods: ["PUT", "PATCH"] }, lease: { max: "10m" } }), "shipped"];
    const { sim, cluster } = await startAll(world, before);
    let over = false;
    const racing = race(cluster, 4, { isOver: () => over, until: Date.now() + 200_000 });
    racing.catch(() => {});
    await sleep(1000);
    for (const replica of cluster.replicas) {
      await reload(replica, after);
      await sleep(MIXED_MS);
    }
    // A folder of its own, and each replica anew with it.
    const folder = world.file("rules");
    mkdirSync(folder);
    copyFileSync(before[0], path.join(folder, "own.json"));
    for (const number of [0, 1, 2]) {
      await restart(cluster, number, [folder, "shipped"]);
      await sleep(MIXED_MS);
    }
    over = true;
    const told = await racing;
    await assertNothingLost(sim, told);
    assert.ok(told.acknowledged.length >= 12, `${told.acknowledged.length} writes are no load`);
  },

  "while rules are changed at one replica after another each goes by the rules of all": async (world) => {
    const { sim, cluster } = await startAll(world, ["shipped"]);
    // One without a rule for the type: it would neither look at it nor lock it.
    const other = ownRules(world, { rules: [{ name: "zones", match: { types: ["Microsoft.Network/dnsZones"] } }] });
    await restart(cluster, 1, [other]);
    await reload(cluster.replicas[2], [other]);
    await waitFor("all to know each other's rules", () => /replica replica-1 \(\d+\) is configured otherwise than replica-0 \(\d+\): .*rules/.test(cluster.replicas[0].process.log));
    const patch = (number, who) => cluster.ask(number, who, "PATCH", PATH, { body: { sku: { capacity: number + 2 } }, headers: { "x-sim-operation-ms": "1500", "x-sim-client": who } });
    const answers = await Promise.all([0, 1, 2].map((number) => patch(number, `patcher-${number}`)));
    assert.deepEqual(answers.map(({ status }) => status), [200, 200, 200]);
    assert.equal((await sim.report()).overlaps_accepted, 0);
    // What it showed counts for a write that comes to another one.
    const shown = await cluster.ask(1, "reader", "GET", PATH);
    const changed = await cluster.ask(2, "other", "PATCH", PATH, { body: { sku: { capacity: 9 } } });
    assert.equal(changed.status, 200, changed.body);
    const stale = await cluster.ask(0, "reader", "PUT", PATH, { body: { ...shown.json, sku: { ...shown.json.sku, capacity: 7 } } });
    assert.equal(stale.status, 412, stale.body);
    const through = await cluster.ask(2, "reader", "PUT", PATH, { body: { ...shown.json, sku: { ...shown.json.sku, capacity: 7 } } });
    assert.equal(through.status, 412, through.body);
    const again = await cluster.ask(1, "reader", "GET", PATH);
    const written = await cluster.ask(2, "reader", "PUT", PATH, { body: { ...again.json, sku: { ...again.json.sku, capacity: 7 } } });
    assert.equal(written.status, 200, written.body);
    await reload(cluster.replicas[1], ["shipped"]);
    // Twice in a row, and then as if it were to leave the cluster: it stays in it until it is started anew.
    for (const rules of [[other], ["shipped"]]) cluster.replicas[2].process.child.kill("SIGHUP", useRules(cluster.replicas[2], rules));
    const { log } = cluster.replicas[2].process;
    changeConfig(cluster.replicas[2], ({ cluster: _, ...config }) => config);
    cluster.replicas[2].process.child.kill("SIGHUP");
    await waitFor("the reload", () => /"restart-needed","option":"\/cluster/.test(cluster.replicas[2].process.log.slice(log.length)));
    await sleep(2000);
    for (const number of [0, 1, 2]) assert.equal((await cluster.ask(number, "reader", "GET", PATH)).status, 200, `replica ${number}`);
    assert.doesNotMatch(cluster.replicas.map(({ process }) => process.log).join(""), /rules of another replica/);
  },

  "that rules differ is said, and what is switched off at one is off there": async (world) => {
    const { sim, cluster } = await startAll(world, ["shipped"]);
    await reload(cluster.replicas[1], [rulesFile(world, { mode: "off" }), "shipped"]);
    const patch = (number) => cluster.ask(number, `patcher-${number}`, "PATCH", PATH, {
      body: { tags: { base: "1", [`from-${number}`]: "1" } }, headers: { "x-sim-operation-ms": "3000", "x-sim-client": `patcher-${number}` } });
    const answers = await Promise.all([patch(0), sleep(300).then(() => patch(1))]);
    assert.deepEqual(answers.map(({ status }) => status), [200, 200]);
    // The document says so: who reads it must not take the one for a guarantee.
    assert.ok((await sim.report()).overlaps_accepted >= 1, "docs/cluster.md says that these run at once");
    await waitFor("the others to say so", () => /replica replica-1 \(\d+\) is configured otherwise than replica-0 \(\d+\): rules/.test(cluster.replicas[0].process.log));
  },
};
