// Stories of clients that were refused for ever, or without need. Whoever reads what is there may write. (A2 and A3 are told by
// liveness_loops_suite.mjs.)
import assert from "node:assert/strict";
import { sleep } from "./harness.mjs";
import { Pool } from "./pool.mjs";
import { begin, bodyOf, capacityOf, SET, targetOf } from "./rows.mjs";
import { OLD_SCALE_SET, once } from "./tools.mjs";

const OLD = targetOf(OLD_SCALE_SET);
const OPERATION = (ms) => ["--header", `x-sim-operation-ms: ${ms}`];
const QUICK = { operations: { poll_waited: "200ms" } };

async function beginWithOld(world, more = {}) {
  const one = await begin(world, { config: { ...QUICK, ...more } });
  await one.sim.make(OLD_SCALE_SET.id, OLD_SCALE_SET.version, bodyOf(1));
  return { ...one, capacityOfOld: async () => (await one.sim.read(OLD_SCALE_SET.id, OLD_SCALE_SET.version)).sku.capacity };
}

// Reads, then writes what `bodyFor` makes of that, until it is let through; how often it was refused.
async function refusalsOf(ask, user, target, bodyFor, most = 6) {
  for (let refused = 0; refused < most; ++refused) {
    const { json } = await ask(user, "GET", target);
    const { status } = await ask(user, "PUT", target, bodyFor(json, refused));
    if (status < 300) return refused;
    assert.equal(status, 412);
  }
  return most;
}

// Other bytes each time.
const withStamp = (capacity) => (json, round) => ({ ...json, etag: undefined, sku: { ...json.sku, capacity }, tags: { ...json.tags, stamp: `again-${round}` } });

export const tests = {
  // Somebody changes it and changes it back: the state that was refused is the state that is there.
  "A1: a state that was refused once may be written again by who reads it again": async (world) => {
    const { ask, askArm, sim } = await begin(world);
    await ask("ann", "GET", SET);
    await askArm("PUT", SET, bodyOf(5));
    assert.equal((await ask("ann", "PUT", SET, bodyOf(2))).status, 412, "it was not built on what is there");
    await askArm("PUT", SET, bodyOf(1));
    assert.equal(await refusalsOf(ask, "ann", SET, withStamp(2)), 0);
    assert.equal(await capacityOf(sim), 2);
  },

  "A1: the same among clients of armgate": async (world) => {
    const { ask, sim } = await begin(world, { config: { clients: { ben: { actor: "single" } } } });
    for (const user of ["ann", "ben"]) await ask(user, "GET", SET);
    assert.equal((await ask("ben", "PUT", SET, bodyOf(5))).status, 200);
    assert.equal((await ask("ann", "PUT", SET, bodyOf(2))).status, 412);
    await ask("ben", "GET", SET);
    assert.equal((await ask("ben", "PUT", SET, bodyOf(1))).status, 200);
    assert.equal(await refusalsOf(ask, "ann", SET, withStamp(2)), 0);
    assert.equal(await capacityOf(sim), 2);
  },

  // The sending that was lost had an ETag that was none any more: it cannot have had an effect.
  "A1: an ETag that moved without a change is no reason to refuse, after a lost answer either": async (world) => {
    const { ask, askArm, sim } = await begin(world);
    await ask("ann", "GET", SET);
    await askArm("PUT", SET, bodyOf(1));
    await sim.addFaults([{ method: "PUT", kind: "drop-before" }]);
    assert.equal((await ask("ann", "PUT", SET, bodyOf(2))).status, 200);
    assert.equal(await capacityOf(sim), 2);
  },

  "A1: counters of four clients get through while answers are lost": async (world) => {
    const { gateway, sim } = await begin(world, { args: ["--operation-ms", "30", "--retry-after", "0"], config: QUICK });
    await sim.addFaults([{ method: "PUT", kind: "drop-after", chance: 0.1 }, { method: "PUT", kind: "error-busy-compute", chance: 0.1 }]);
    const worst = {};
    const count = async (user) => {
      const pool = new Pool(gateway, { user });
      worst[user] = 0;
      for (let done = 0, refused = 0; done < 6 && refused < 20;) {
        const { json } = await pool.ask("GET", SET);
        await sleep(20);
        const { status, text } = await pool.ask("PUT", SET, { ...bodyOf(json.sku.capacity + 1), tags: json.tags });
        assert.ok([200, 412].includes(status), `${status} ${text}`);
        refused = status === 412 ? refused + 1 : 0;
        done += Number(status === 200);
        worst[user] = Math.max(worst[user], refused);
      }
      pool.close();
    };
    await Promise.all(["ann", "ben", "cleo", "dan"].map(count));
    assert.ok(Math.max(...Object.values(worst)) <= 3, JSON.stringify(worst));
    assert.equal(await capacityOf(sim), 25, "each of 24 counted once");
  },

  "A1, A4: without ETags, too, what was refused may be written by who reads": async (world) => {
    const { ask, capacityOfOld } = await beginWithOld(world);
    assert.equal((await ask("ben", "PUT", OLD, bodyOf(5), ...OPERATION(800))).status, 200);
    assert.equal((await ask("ann", "PUT", OLD, bodyOf(2))).status, 412, "it never read, and waited behind another's write");
    assert.equal(await refusalsOf(ask, "ann", OLD, () => bodyOf(2)), 0);
    assert.equal(await capacityOfOld(), 2);
  },

  "A4: without ETags who never reads is refused once, not for minutes": async (world) => {
    const { ask, capacityOfOld } = await beginWithOld(world);
    assert.equal((await ask("ben", "PUT", OLD, bodyOf(5), ...OPERATION(800))).status, 200);
    assert.equal((await ask("ann", "PUT", OLD, bodyOf(2))).status, 412);
    assert.equal((await ask("ann", "PUT", OLD, bodyOf(2))).status, 200);
    assert.equal(await capacityOfOld(), 2);
  },

  "A4: exported JSON with the ETag in it is not refused for ever": async (world) => {
    const { ask, sim } = await begin(world);
    const { json: exported } = await ask("ann", "GET", SET);
    assert.ok(exported.etag, "it has no ETag in its body: this tests nothing");
    await ask("ben", "GET", SET);
    assert.equal((await ask("ben", "PUT", SET, bodyOf(5))).status, 200);
    const file = { ...exported, sku: { ...exported.sku, capacity: 2 } };
    assert.equal((await ask("ann", "PUT", SET, file)).status, 412);
    const refused = await refusalsOf(ask, "ann", SET, () => file);
    assert.ok(refused <= 2, `${refused} refusals, each after a read of what is there`);
    assert.equal(await capacityOf(sim), 2);
  },

  "A4: one that is declared to be one actor may take a value back, with a stamp of its own": async (world) => {
    const { ask, sim } = await begin(world, { config: { clients: { ann: { actor: "single" } } } });
    await ask("ann", "GET", SET);
    assert.equal((await ask("ann", "PUT", SET, bodyOf(3, { stamp: "1" }))).status, 200);
    await ask("ben", "GET", SET);
    assert.equal((await ask("ben", "PUT", SET, bodyOf(5, { stamp: "1" }))).status, 200);
    await ask("ann", "GET", SET);
    assert.equal((await ask("ann", "PUT", SET, bodyOf(3, { stamp: "2" }))).status, 200);
    assert.equal(await capacityOf(sim), 3);
  },

  // Several actors behind its name would look the same.
  "A4: one of whom nothing is known is not refused for that longer than anybody thinks": async (world) => {
    const { ask, sim } = await begin(world, { config: { history: { think_max: "2s" } } });
    await ask("ann", "GET", SET);
    assert.equal((await ask("ann", "PUT", SET, bodyOf(3, { stamp: "0" }))).status, 200);
    await ask("ben", "GET", SET);
    assert.equal((await ask("ben", "PUT", SET, bodyOf(5, { stamp: "0" }))).status, 200);
    assert.equal(await refusalsOf(ask, "ann", SET, withStamp(3), 3), 3);
    await sleep(2500);
    assert.equal(await refusalsOf(ask, "ann", SET, withStamp(3)), 0);
    assert.equal(await capacityOf(sim), 3);
  },

  // What it took out was not there either when it looked first. So does who publishes addresses.
  "a lone one that takes out a tag for each that it puts in is never refused": async (world) => {
    const { ask } = await begin(world);
    for (let i = 0; i < 10; ++i) {
      await ask("ann", "GET", SET);
      const tags = Object.fromEntries([i, i + 1, i + 2].map((n) => [`address${n}`, "here"]));
      assert.equal((await ask("ann", "PUT", SET, bodyOf(3, tags))).status, 200, `change ${i}`);
    }
  },

  // Each run is a process that ends with its answer, without TLS's goodbye; what it was told counts all the same.
  "A5: a refusal counts although its client is gone with the answer": async (world) => {
    const { ask, gateway, capacityOfOld } = await beginWithOld(world);
    assert.equal((await ask("ben", "PUT", OLD, bodyOf(5), ...OPERATION(1200))).status, 200);
    const statuses = [];
    for (let i = 0; i < 2; ++i) statuses.push(await once(world, gateway, "nightly", "PUT", OLD, bodyOf(2)));
    assert.deepEqual(statuses, [412, 200]);
    assert.equal(await capacityOfOld(), 2);
  },

  "A5: whoever reads again after such a refusal is let through": async (world) => {
    const { ask, gateway, sim } = await begin(world);
    await once(world, gateway, "nightly", "GET", SET);
    await ask("ben", "GET", SET);
    assert.equal((await ask("ben", "PUT", SET, bodyOf(5))).status, 200);
    const statuses = [await once(world, gateway, "nightly", "PUT", SET, bodyOf(2))];
    while (statuses.at(-1) === 412 && statuses.length < 6) {
      await once(world, gateway, "nightly", "GET", SET);
      statuses.push(await once(world, gateway, "nightly", "PUT", SET, bodyOf(2)));
    }
    assert.equal(statuses[0], 412);
    assert.ok(statuses.at(-1) === 200 && statuses.length <= 4, `${statuses}: each after a read of what is there`);
    assert.equal(await capacityOf(sim), 2);
  },
};
