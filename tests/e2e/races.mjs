// What all races have in common: a simulated ARM with something to fight for, the race itself, and its judgement from both sides.
import assert from "node:assert/strict";
import { CLUSTER, GROUP, labelsOf, measure, missing, race, rulesOf, say, SCALE_SET, SECURITY_GROUP, tagsOf, WIDGET } from "./tools.mjs";

export const WRITES = 3;
export const single = (names) => ({ clients: Object.fromEntries(names.map((name) => [name, { actor: "single" }])) });
export const racersOf = (kind, count) => Array.from({ length: count }, (_, i) => ({ kind, client: `${kind}-${i}` }));

const TARGETS = {
  addTags: { ...SCALE_SET, name: "web", membersOf: tagsOf, body: { location: "westeurope", sku: { name: "S", capacity: 1 }, tags: { base: "1" } } },
  addRules: { ...SECURITY_GROUP, name: "front", membersOf: rulesOf, body: { location: "westeurope", properties: { securityRules: [] } } },
  addById: { ...WIDGET, name: "w", membersOf: tagsOf, settings: WIDGET,
             body: { location: "West Europe", tags: { base: "1" }, properties: { capacity: 1, planId: `${GROUP}/providers/Microsoft.Example/Plans/Big` } } },
  // Made together with its cluster.
  addLabels: { id: `${CLUSTER.id}/agentPools/blue`, version: CLUSTER.version, name: "aks", membersOf: labelsOf },
};
const CLUSTER_BODY = { location: "westeurope", properties: { agentPoolProfiles: [{ name: "blue", count: 1, mode: "System", nodeLabels: { base: "1" } }] } };
TARGETS.chain = TARGETS.addTags;

async function makeTargets(sim) {
  await sim.make(GROUP, "2024-03-01", { location: "westeurope" });
  for (const { id, version, body } of [TARGETS.addTags, TARGETS.addRules, TARGETS.addById, { ...CLUSTER, body: CLUSTER_BODY }]) await sim.make(id, version, body);
}

export async function startSim(world, args = ["--operation-ms", "0"]) {
  const sim = await world.startSim(args);
  await makeTargets(sim);
  return sim;
}

const kindsOf = (racers) => [...new Set(racers.map((racer) => racer.kind))].map((kind) =>
  `${racers.filter((racer) => racer.kind === kind).length} ${kind}`).join(", ");

// Races, and judges from both sides: what the clients were told, and armsim's report.
export async function judged(world, sim, gateway, way, command, racers, writes = WRITES) {
  const target = TARGETS[command];
  const before = await sim.report();
  const result = await race(world, gateway, way, command, racers, { name: target.name, ...target.settings, writes });
  const lost = missing(result.acknowledged, target.membersOf(await sim.read(target.id, target.version)));
  const report = await sim.report();
  say(`${result.acknowledged.length} of ${racers.length * writes} acknowledged, ${lost.length} lost, ${result.refused} refused with 412 ` +
      `(${report.undeserved_412 - before.undeserved_412} of ARM's undeserved, ${result.undeserved} of those that clients saw), ` +
      `${result.errors.length} failed`);
  // Whoever does not see ETags cannot say whether a refusal was deserved.
  const seesEtags = command !== "addById" && racers.every(({ kind }) => kind !== "curl" && (kind !== "python" || command === "addRules"));
  return { ...result, lost, report, seesEtags, writes: racers.length * writes, clients: `${kindsOf(racers)}, ${way}` };
}

export function tell({ clients, writes, lost, report, refused, undeserved, seesEtags }) {
  measure({ clients, writes, lost: lost.length, twice: report.applied_twice, deserved: refused - undeserved, undeserved: seesEtags ? undeserved : "not seen" });
}

// `undeserved`: of a hundred attempts, fewer than that many were refused although their base was current.
export function assertSafe(result, { undeserved = 5 } = {}) {
  tell(result);
  assert.deepEqual(result.errors, [], "412 is the only refusal");
  assert.deepEqual(result.lost, [], "acknowledged and lost");
  assert.equal(result.acknowledged.length, result.writes);
  assert.equal(result.report.lost_updates, 0, result.report.findings.join("\n"));
  assert.equal(result.report.applied_twice, 0, result.report.findings.join("\n"));
  const attempts = result.acknowledged.length + result.refused;
  assert.ok(result.undeserved === 0 || result.undeserved * 100 < undeserved * attempts, `${result.undeserved} of ${attempts} refused without need`);
}

// The same race without protection and with it.
export async function checkRace(world, way, command, racers, config) {
  const sim = await startSim(world);
  const bare = await world.startGateway(sim, { mode: "off" });
  const control = await judged(world, sim, bare, "named", command, racers.map((racer) => ({ ...racer, client: `bare-${racer.client}` })));
  assert.notEqual(control.lost.length, 0, "the race is no test: nothing was lost even without protection");
  await sim.control("POST", "reset");
  await makeTargets(sim);
  const gateway = await (way === "exec" ? world.configureGateway(sim, config) : world.startGateway(sim, config));
  const result = await judged(world, sim, gateway, way, command, racers);
  assertSafe(result);
  return result;
}
