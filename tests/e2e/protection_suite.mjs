// What armgate is for: several processes with the Azure SDK for JavaScript race on the same resources of a simulated ARM. Judged
// from the clients' side (what was acknowledged is there) and by armsim's own report.
import assert from "node:assert/strict";
import { sdk } from "./sdk.mjs";
import { sleep } from "./harness.mjs";

const SUBSCRIPTION = "/subscriptions/11111111-1111-1111-1111-111111111111";
const GROUP = "rg";
const id = (type, name) => `${SUBSCRIPTION}/resourceGroups/${GROUP}/providers/${type}/${name}`;
const SCALE_SET = id("Microsoft.Compute/virtualMachineScaleSets", "web");
const SECURITY_GROUP = id("Microsoft.Network/networkSecurityGroups", "front");
const RACERS = ["first", "second", "third", "fourth"];
const WRITES = 5;

const single = (names) => ({ clients: Object.fromEntries(names.map((name) => [name, { actor: "single" }])) });

async function expectOk(promise) {
  const result = await promise;
  assert.equal(result.ok, true, JSON.stringify(result));
  return result;
}

async function startProtected(world, simArguments, clients) {
  const sim = await world.startSim(simArguments);
  const gateway = await world.startGateway(sim, single(["maker", ...clients]));
  await expectOk(sdk(gateway, "maker", "createGroup", { group: GROUP }));
  return { sim, gateway };
}

// All racers at once; the names that were acknowledged, and what else they met.
async function race(through, command, settings) {
  const results = await Promise.all(RACERS.map((client, i) => sdk(through, client, command, { ...settings, writes: WRITES, priority: 100 + 100 * i })));
  return {
    acknowledged: results.flatMap((result) => result.acknowledged),
    errors: results.flatMap((result) => result.errors),
    refused: results.reduce((sum, result) => sum + result.refused, 0),
  };
}

const missing = (names, present) => names.filter((name) => !present.has(name));

async function checkRace(world, { command, make, name, resourceId, apiVersion, membersOf }) {
  const { sim, gateway } = await startProtected(world, ["--operation-ms", "50", "--retry-after", "0"], RACERS);
  await expectOk(sdk(gateway, "maker", make, { group: GROUP, name }));
  const result = await race(gateway, command, { group: GROUP, name });
  const present = membersOf(await sim.read(resourceId, apiVersion));
  assert.deepEqual(result.errors, [], "412 is the only refusal");
  assert.equal(result.acknowledged.length, RACERS.length * WRITES);
  assert.deepEqual(missing(result.acknowledged, present), [], "acknowledged and lost");
  const report = await sim.report();
  assert.equal(report.lost_updates, 0, report.findings.join("\n"));
  assert.equal(report.overlaps_accepted, 0, report.findings.join("\n"));
}

const tagsOf = (resource) => new Set(Object.keys(resource.tags ?? {}));

export const tests = {
  "an operation runs to its end under the SDK's own polling": async (world) => {
    const { gateway } = await startProtected(world, ["--operation-ms", "1500"], []);
    const made = await expectOk(sdk(gateway, "maker", "createScaleSet", { group: GROUP, name: "web", capacity: 3 }));
    assert.deepEqual(made.value, { capacity: 3, state: "Succeeded" });
    assert.ok(made.ms >= 1400, `it took ${made.ms} ms only`);
  },

  "without armgate the same race loses acknowledged tags": async (world) => {
    const sim = await world.startSim(["--operation-ms", "0"]);
    await expectOk(sdk(sim, "maker", "createGroup", { group: GROUP }));
    await expectOk(sdk(sim, "maker", "createScaleSet", { group: GROUP, name: "web" }));
    const result = await race(sim, "addTags", { group: GROUP, name: "web" });
    const lost = missing(result.acknowledged, tagsOf(await sim.read(SCALE_SET, "2024-07-01")));
    assert.notEqual(lost.length, 0, "the race is no test: nothing was lost even without armgate");
  },

  "four processes that change tags of one scale set lose nothing": (world) => checkRace(world, {
    command: "addTags", make: "createScaleSet", name: "web", resourceId: SCALE_SET, apiVersion: "2024-07-01", membersOf: tagsOf }),

  "four processes that add rules to one security group lose nothing": (world) => checkRace(world, {
    command: "addRules", make: "createSecurityGroup", name: "front", resourceId: SECURITY_GROUP, apiVersion: "2024-05-01",
    membersOf: (resource) => new Set(resource.properties.securityRules.map((rule) => rule.name)) }),

  "four processes that take a subnet from its network and write it alone lose nothing": (world) => checkRace(world, {
    command: "addDelegations", make: "createNetwork", name: "net", resourceId: id("Microsoft.Network/virtualNetworks", "net"), apiVersion: "2024-05-01",
    membersOf: (resource) => new Set(resource.properties.subnets[0].properties.delegations.map((delegation) => delegation.name)) }),

  "a scale waits for another client's operation and then succeeds": async (world) => {
    const { sim, gateway } = await startProtected(world, ["--operation-ms", "3000"], ["scaler", "owner"]);
    const making = sdk(gateway, "owner", "createScaleSet", { group: GROUP, name: "web" });
    while ((await sim.report()).writes_applied < 2) await sleep(50);
    const scaled = await expectOk(sdk(gateway, "scaler", "scale", { group: GROUP, name: "web", capacity: 9 }));
    await expectOk(making);
    assert.equal(scaled.value, 9);
    const report = await sim.report();
    assert.equal(report.overlaps_attempted, 0, "it was sent before the operation's end");
    assert.equal((await sim.read(SCALE_SET, "2024-07-01")).sku.capacity, 9);
  },

  "something made in a group that providers do not see yet succeeds": async (world) => {
    const sim = await world.startSim(["--operation-ms", "50", "--group-lag-ms", "4000"]);
    const gateway = await world.startGateway(sim, single(["script"]));
    const made = await expectOk(sdk(gateway, "script", "groupThenNetwork", { group: "fresh", name: "net" }));
    assert.equal(made.value, "Succeeded");
    assert.ok((await sim.report()).group_not_found > 0, "the group was seen at once: this tested nothing");
  },

  "a restart whose answer is lost runs once": async (world) => {
    const { sim, gateway } = await startProtected(world, ["--operation-ms", "50"], ["operator"]);
    await expectOk(sdk(gateway, "maker", "createScaleSet", { group: GROUP, name: "web" }));
    await sim.addFaults([{ method: "POST", path: "restart", kind: "drop-after" }]);
    const restarted = await sdk(gateway, "operator", "restart", { group: GROUP, name: "web" });
    if (!restarted.ok) assert.equal(restarted.code, "ArmgateOutcomeUnknown", JSON.stringify(restarted));
    const report = await sim.report();
    assert.equal(report.dropped_after, 1);
    assert.equal(report.actions.restart, 1);
  },
};
