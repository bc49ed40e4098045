// Replicas that are cut off: from the engine, by connections that break or by silence, and from ARM (docs/cluster.md, "What each failure does").
import assert from "node:assert/strict";
import { assertNothingLost, race, startSim } from "./cluster_race.mjs";
import { Cluster, drawn, Postgres } from "./engines.mjs";
import { ARM_HOST, changeConfig, sleep } from "./harness.mjs";
import { Relay } from "./relay.mjs";
import { PATH, waitFor } from "./scale_set.mjs";

// A machine with much else to do takes several times as long as a quiet one.
const ANSWERED_MS = 20_000;

// Three replicas, the first of which has a relay on its way to the engine and one on its way to ARM.
async function startWithRelays(world, { simArgs, ...options } = {}) {
  const [sim, postgres] = await Promise.all([startSim(world, simArgs), Postgres.make(world)]);
  const [toEngine, toArm] = await Promise.all([Relay.start(world, postgres.port), Relay.start(world, sim.port)]);
  const cluster = await Cluster.configure(world, sim, postgres.url, { admin: true, ...options });
  changeConfig(cluster.replicas[0], (config) => {
    config.cluster.engine = config.cluster.engine.replace(`:${postgres.port}/`, `:${toEngine.port}/`);
    config.hosts[ARM_HOST].address = `127.0.0.1:${toArm.port}`;
  });
  await Promise.all(cluster.replicas.map((_, number) => cluster.startReplica(number)));
  return { sim, postgres, toEngine, toArm, cluster };
}

// A PATCH puts all tags in the place of those that are there.
const patch = (cluster, number, ...tags) =>
  cluster.ask(number, tags.at(-1), "PATCH", PATH, { body: { tags: Object.fromEntries(["base", ...tags].map((name) => [name, "1"])) } });
const read = (cluster, number, user = "reader") => cluster.ask(number, user, "GET", PATH);
const readiness = async (cluster, number) => (await cluster.askAdmin(number, "GET", "/readyz")).status;

// In time, with 503 and when to come again.
async function assertPutOff(asked) {
  const begun = Date.now();
  const answer = await asked;
  assert.equal(answer.status, 503, answer.body);
  assert.ok(Number(answer.headers["retry-after"]) >= 1, JSON.stringify(answer.headers));
  assert.ok(Date.now() - begun < ANSWERED_MS, "it took too long");
}

// `cut` takes the engine from the first replica while an operation runs that it began.
async function goOnWithout(world, cut) {
  const { sim, toEngine, cluster } = await startWithRelays(world, {
    simArgs: ["--operation-ms", "3000", "--exclusivity", "accept"], config: { queue: { wait_max: "4s" } } });
  const seen = await read(cluster, 0, "patient");
  assert.equal(await readiness(cluster, 0), 200);
  const begun = Date.now();
  assert.equal((await patch(cluster, 0, "first")).status, 200);
  cut(toEngine);

  // What it began keeps its keys, and is over when another has seen its end.
  const tookOver = (async () => {
    for (;;) {
      const answer = await patch(cluster, 1, "first", "second");
      if (answer.status !== 503) return { answer, at: Date.now() };
    }
  })();
  await waitFor("/readyz to fall", async () => (await readiness(cluster, 0)) === 503);
  const put = { body: { ...seen.json, sku: { capacity: 5 } } };
  await assertPutOff(cluster.ask(0, "patient", "PUT", PATH, put));
  await assertPutOff(patch(cluster, 0, "patient"));
  await assertPutOff(read(cluster, 0));
  const { answer, at } = await tookOver;
  assert.equal(answer.status, 200, answer.body);
  assert.ok(at - begun >= 3000, "the second came before the first's operation had ended");
  assert.ok(at - begun < 3000 + ANSWERED_MS, "it took too long");
  for (const number of [1, 2]) {
    assert.equal(await readiness(cluster, number), 200);
    assert.equal((await read(cluster, number)).status, 200);
  }
  assert.equal((await sim.read(PATH.split("?")[0], "2024-07-01")).sku.capacity, 1, "what was put off was sent");
  return { sim, toEngine, cluster };
}

// It ends when it hears that it was taken for dead, and whoever watches over it starts it again.
async function comesBack({ sim, toEngine, cluster }) {
  const { process } = cluster.replicas[0];
  assert.equal(process.exited, null, "a replica ended because it was cut off");
  await toEngine.mend();
  assert.deepEqual(await process.exit, { code: 75, signal: null });
  assert.match(process.log, /silent for too long/);
  await cluster.startReplica(0);
  assert.equal(await readiness(cluster, 0), 200);
  await assertNothingLost(sim, { acknowledged: [], refused: 0, busy: 0, broken: 0 });
  const told = await race(cluster, 1, { isOver: (write) => write === 2, more: { "x-sim-operation-ms": "30" } });
  await assertNothingLost(sim, told);
  assert.equal(told.acknowledged.length, 8);
}

export const tests = {
  "the others go on without a replica whose connections to the engine are cut, and it comes back": async (world) => {
    await comesBack(await goOnWithout(world, (relay) => relay.cut()));
  },

  "the others go on without a replica that the engine is silent to, and it comes back": async (world) => {
    await comesBack(await goOnWithout(world, (relay) => relay.stall()));
  },

  "connections to the engine that break under load lose nothing, though nobody knows what was committed": async (world) => {
    const { sim, postgres, toEngine, cluster } = await startWithRelays(world, { lease: 30 });
    // So that most of them break while a commit is under way.
    await postgres.sql("create function armgate.slow() returns trigger language plpgsql as $$ begin perform pg_sleep(0.05); return null; end $$; create constraint trigger slow after update on armgate.head deferrable initially deferred for each row execute function armgate.slow()");
    const draw = drawn(2);
    let over = false;
    const breaking = (async () => {
      for (let times = 0; ; ++times) {
        if (over) return times;
        await sleep(300 + draw(1200));
        toEngine.breakAll();
      }
    })();
    const told = await race(cluster, 2, { isOver: (write) => write === 4, until: Date.now() + 120_000 });
    over = true;
    const times = await breaking;
    console.log(`        broken ${times} times, ${toEngine.led} connections`);
    await assertNothingLost(sim, told);
    assert.equal(told.acknowledged.length, 16);
    assert.ok(times >= 5 && toEngine.led >= 5, `broken ${times} times, ${toEngine.led} connections`);
    for (const { process } of cluster.replicas) assert.equal(process.exited, null, "a replica ended");
  },

  "a replica that cannot reach ARM says so, and the others go on": async (world) => {
    const { sim, toArm, cluster } = await startWithRelays(world, { simArgs: ["--operation-ms", "30", "--retry-after", "0"] });
    let over = false;
    // 502: the replica that it met has no way to ARM. Its client asks again, and meets another.
    const racing = race(cluster, 3, { isOver: (write) => over && write >= 2, until: Date.now() + 120_000, again: [502, 503] });
    await sleep(700);
    toArm.cut();
    const cutOff = Date.now();
    const unreached = await read(cluster, 0);
    assert.equal(unreached.status, 502, unreached.body);
    assert.equal(unreached.json.error.code, "ArmgateUpstreamUnreachable");
    const other = PATH.replace("/web?", "/other?");
    const refused = await cluster.ask(0, "writer", "PUT", other, { body: { location: "westeurope", sku: { capacity: 1 } } });
    assert.ok([502, 503].includes(refused.status), refused.body);
    assert.ok(Date.now() - cutOff < 2 * ANSWERED_MS, "it took too long");
    for (const number of [1, 2]) assert.equal((await read(cluster, number)).status, 200);
    const made = await cluster.ask(1, "writer", "PUT", other, { body: { location: "westeurope", sku: { capacity: 1 } } });
    assert.equal(made.status, 201, "what was not sent keeps nobody");
    assert.equal(await readiness(cluster, 0), 200, "it is no fault of its own");
    await sleep(3000);
    await toArm.mend();
    await waitFor("it to be back", async () => (await read(cluster, 0)).status === 200);
    const before = toArm.led;
    await sleep(1500);
    over = true;
    const told = await racing;
    await assertNothingLost(sim, told);
    assert.ok(told.busy > 0, "no client met the replica that was cut off");
    assert.ok(toArm.led >= before && told.acknowledged.length >= 8, `${told.acknowledged.length} acknowledged`);
    for (const { process } of cluster.replicas) assert.equal(process.exited, null, "a replica ended");
  },

  "an operation of a replica that cannot reach ARM ends with a poll at another": async (world) => {
    const { sim, toArm, cluster } = await startWithRelays(world, { simArgs: ["--operation-ms", "60000", "--exclusivity", "accept"] });
    const begun = await patch(cluster, 0, "first");
    assert.equal(begun.status, 200, begun.body);
    toArm.cut();
    const next = patch(cluster, 1, "first", "second");
    await sleep(1000);
    const { pathname, search } = new URL(begun.headers["azure-asyncoperation"]);
    const poll = () => cluster.ask(2, "first", "GET", pathname + search);
    assert.equal((await poll()).json.status, "InProgress");
    await sim.finish();
    assert.equal((await poll()).json.status, "Succeeded");
    const second = await next;
    assert.equal(second.status, 200, second.body);
    await toArm.mend();
    await waitFor("it to be back", async () => (await read(cluster, 0)).status === 200);
    await assertNothingLost(sim, { acknowledged: [], refused: 0, busy: 0, broken: 0 });
  },
};
