// armgate heal, the real program: what somebody else or AKS does to the pools meanwhile.
import assert from "node:assert/strict";
import { assertHealed, beginWedged, CLUSTER, GOLDEN, heal, taken, VERSION, wedge } from "./heal.mjs";

const POOL = `${CLUSTER}/agentPools/system`;

// Around armgate, as the portal does: the write that comes to its end makes the pool well.
async function changePool(sim, more = {}) {
  const { properties } = await sim.read(POOL, VERSION);
  await sim.make(POOL, VERSION, { properties: { ...properties, ...more } });
}

const isDeleteOfPool = ({ method, url }) => method === "DELETE" && /agentPools\/system/.test(url);
const isPutOfStandIn = ({ method, url }) => method === "PUT" && /agentPools\/tmp/.test(url);

export const tests = {
  "a pool that is repaired before the DELETE arrives is not deleted": async (world) => {
    let sim = null;
    const rig = await beginWedged(world, { before: (made) => { sim = made; }, onRequest: async (record) => {
      if (isDeleteOfPool(record)) await changePool(sim);
    } });
    const stopped = await heal(world, rig, "--confirm");
    assert.equal(stopped.code, 1, stopped.stdout + stopped.stderr);
    assert.match(stopped.stderr, /stopped: pool system is Succeeded; pool tmp\w+ is there and not needed any more: --undo --confirm takes it away/);
    assert.deepEqual(rig.seen.filter(isDeleteOfPool).map(({ status }) => status), [412]);
    const undone = await heal(world, rig, "--undo", "--confirm");
    assert.equal(undone.code, 0, undone.stdout + undone.stderr);
    assert.deepEqual(taken(rig.seen), [...GOLDEN.slice(0, 2), "DELETE stand-in"]);
    const { properties } = await rig.sim.read(POOL, VERSION);
    assert.equal(properties.provisioningState, "Succeeded");
  },

  "what somebody adds to the wedged pool meanwhile is in the new one": async (world) => {
    let sim = null;
    const rig = await beginWedged(world, { before: (made) => { sim = made; }, onRequest: async (record) => {
      if (!isPutOfStandIn(record)) return;
      await changePool(sim, { count: 4, nodeLabels: { zone: "one", late: "1" }, tags: { owner: "ops", cost: "7" } });
      await wedge(sim, CLUSTER, { started_s: 0, failures: 0 });
    } });
    const done = await heal(world, rig, "--confirm");
    assert.equal(done.code, 0, done.stdout + done.stderr);
    assert.match(done.stdout.toString(), /delete +snapshot +the pool was changed since it was written down: .*\/properties\/nodeLabels\/late is new: "1"/);
    assert.deepEqual(taken(rig.seen), GOLDEN);
    const { properties } = await rig.sim.read(POOL, VERSION);
    assert.deepEqual([properties.count, properties.nodeLabels.late, properties.tags.cost], [4, "1", "7"]);
  },

  "pools that AKS leaves as Failed are made again": async (world) => {
    const rig = await beginWedged(world);
    await rig.sim.addFaults([{ method: "PUT", path: "agentPools/tmp", kind: "fail-partly-QuotaExceeded" },
                             { method: "PUT", path: "agentPools/system", kind: "fail-partly-InternalOperationError", times: 3 }]);
    const stopped = await heal(world, rig, "--confirm");
    assert.equal(stopped.code, 1, stopped.stdout + stopped.stderr);
    assert.match(stopped.stdout.toString(), /discard +send +pool tmp\w+ is Failed: delete it, to make it again \(QuotaExceeded: /);
    assert.match(stopped.stderr, /stopped: pool system was made anew and is Failed after 3 tries; tmp\w+ stands in, and must stay; .* \(InternalOperationError: /);
    const done = await heal(world, rig, "--confirm");
    assert.equal(done.code, 0, done.stdout + done.stderr);
    assert.deepEqual(taken(rig.seen), ["POST abort", "PUT stand-in", "DELETE stand-in", "PUT stand-in", "DELETE system", "PUT system", "PUT system",
                                       "PUT system", "PUT system", "DELETE stand-in", "PATCH tags"]);
    await assertHealed(rig);
  },
};
