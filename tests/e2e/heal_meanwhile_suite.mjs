// armgate heal, the real program: what somebody else or AKS does to the pools meanwhile, and what programs are told of a refusal.
import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { assertHealed, beginWedged, CLUSTER, GOLDEN, heal, startHeal, taken, TOKEN, VERSION, wedge } from "./heal.mjs";
import { waitFor } from "./scale_set.mjs";

const POOL = `${CLUSTER}/agentPools/system`;

// Around armgate, as the portal does: the write that comes to its end makes the pool well.
async function changePool(sim, more = {}) {
  const { properties } = await sim.read(POOL, VERSION);
  await sim.make(POOL, VERSION, { properties: { ...properties, ...more } });
}

const isDeleteOfPool = ({ method, url }) => method === "DELETE" && /agentPools\/system/.test(url);
const isPutOfStandIn = ({ method, url }) => method === "PUT" && /agentPools\/tmp/.test(url);

async function interruptAfter(world, rig, write, ...flags) {
  const started = startHeal(world, rig, "--confirm", ...flags);
  await waitFor(write, async () => taken(rig.seen).includes(write));
  started.child.kill("SIGINT");
  await started.exit;
  return started;
}

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

  "with --output json each refusal is a line or a plan too, and the api-version is the run's own": async (world) => {
    const rig = await beginWedged(world);
    const own = "2026-01-01";
    const last = (result) => JSON.parse(result.stdout.toString().trimEnd().split("\n").at(-1));
    const nothing = await heal(world, rig, "--confirm", "--undo", "--output", "json");
    assert.equal(nothing.code, 1);
    assert.deepEqual([last(nothing).event, last(nothing).text], ["end", "refused, nothing was changed: there is no run of this cluster and pool to undo"]);
    const missing = await heal(world, { ...rig, env: { ARMGATE_HEAL_TOKEN: "a\tb" } }, "--output", "json");
    const plan = JSON.parse(missing.stdout.toString());
    assert.deepEqual([missing.code, plan.would_act, /has the byte 0x09/.test(plan.error)], [1, false, true]);
    await interruptAfter(world, rig, "PUT stand-in", "--api-version", own);
    const other = await heal(world, rig, "--confirm", "--output", "json", "--api-version", VERSION);
    assert.equal(other.code, 1);
    assert.match(last(other).text, /^refused, nothing was changed: run \S+ was begun with --api-version 2026-01-01, not with 2025-10-01: /);
    const elsewhere = await heal(world, { ...rig, runs: mkdtempSync(world.file("runs-")), env: { ARMGATE_HEAL_TOKEN: `${TOKEN}\n` } }, "--confirm", "--output", "json");
    assert.equal(elsewhere.code, 1);
    assert.match(last(elsewhere).text, /^refused, nothing was changed: pool tmp\w+ is there already/);
    const done = await heal(world, rig, "--confirm", "--output", "json");
    assert.deepEqual([done.code, last(done).event], [0, "end"], done.stdout + done.stderr);
    const asked = rig.seen.filter(({ url, headers }) => url.startsWith(`${CLUSTER}/agentPools/`) && /^\d{8}T/.test(headers["x-ms-client-request-id"] ?? ""));
    for (const { method, url } of asked.filter(({ method }) => method !== "GET")) assert.ok(url.endsWith(`?api-version=${own}`), `${method} ${url}`);
    await assertHealed(rig);
  },
};
