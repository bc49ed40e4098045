// Clients that race over the replicas of a cluster, and what is judged of it: by what they were told, and by what ARM saw.
import assert from "node:assert/strict";
import { drawn } from "./engines.mjs";
import { sleep } from "./harness.mjs";
import { GROUP, PATH, SCALE_SET } from "./scale_set.mjs";

export const makeScaleSet = (sim, id = SCALE_SET) =>
  sim.make(id, "2024-07-01", { location: "westeurope", sku: { capacity: 1 }, tags: { base: "1" } });

export async function startSim(world, args = ["--operation-ms", "30"]) {
  const sim = await world.startSim(args);
  await sim.make(GROUP, "2024-03-01", { location: "westeurope" });
  await makeScaleSet(sim);
  return sim;
}

export const withTag = (resource, name) => ({ ...resource, tags: { ...resource.tags, [name]: "1" } });
// What the judge is to know of a write: whose it is, which intention, and that it counts.
export const declared = (client, name) => ({ "x-sim-client": client, "x-sim-write-id": name, "x-sim-increments": "/sku/capacity:1" });

// Tells a client's requests to replicas that `draw` names; sends again what broke or was told to come again, as clients do.
export function persistent(cluster, draw, until, told, again = [503]) {
  return async (user, method, target, more = {}) => {
    for (;;) {
      try {
        const answer = await cluster.ask(draw(cluster.replicas.length), user, method, target, { seconds: 15, ...more });
        if (!again.includes(answer.status)) return answer;
        told.busy += 1;
      } catch (error) {
        told.broken += 1;
        if (Date.now() > until) throw error;
      }
      assert.ok(Date.now() < until, "the race does not come to its end");
      await sleep(100);
    }
  };
}

// Clients that read, add one tag and count one up, and write all of it back until that is accepted: a tag that was acknowledged and is
// gone was lost, and so is a count. Each begins no more writes when `isOver(writes)`.
export async function race(cluster, seed, { clients = 4, isOver, until = Date.now() + 30_000, path = PATH, names = "", more = {}, again }) {
  const told = { acknowledged: [], refused: 0, busy: 0, broken: 0 };
  const ask = persistent(cluster, drawn(seed), until, told, again);
  // 409: nobody knows whether it was carried out. Either way it is looked at again.
  const isThere = async (client, name) => {
    const user = `client-${client}`;
    const read = await ask(user, "GET", path);
    assert.equal(read.status, 200, read.body);
    if (read.json.tags[name] !== undefined) return true;
    const body = { ...withTag(read.json, name), sku: { capacity: read.json.sku.capacity + 1 } };
    const written = await ask(user, "PUT", path, { body, headers: { ...declared(user, name), ...more } });
    if (written.status === 412) told.refused += 1;
    else assert.ok(written.status < 300 || written.status === 409, `${written.status} ${written.body}`);
    return written.status < 300;
  };
  await Promise.all(Array.from({ length: clients }, async (_, client) => {
    for (let write = 0; !isOver(write); ++write) {
      const name = `${names}c${client}-w${write}`;
      while (!(await isThere(client, name)));
      told.acknowledged.push(name);
    }
  }));
  return told;
}

export const HARMS = ["lost_updates", "vanished", "lost_increments", "overcounted_increments", "overlaps_attempted", "overlaps_accepted", "applied_twice"];

export async function assertNothingLost(sim, told, id = SCALE_SET) {
  const report = await sim.report();
  const { tags, sku } = await sim.read(id, "2024-07-01");
  console.log(`        ${told.acknowledged.length} acknowledged, ${told.refused} refused, ${told.busy} told to come again, ${told.broken} broken; ` +
              HARMS.map((harm) => `${harm} ${report[harm]}`).join(", "));
  assert.deepEqual(told.acknowledged.filter((name) => tags[name] === undefined), [], "acknowledged and lost");
  for (const harm of HARMS) assert.equal(report[harm], 0, `${harm}\n${report.findings.join("\n")}`);
  assert.equal(sku.capacity, 1 + told.acknowledged.length);
}
