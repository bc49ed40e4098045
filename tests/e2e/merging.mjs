// What the races of merging_suite.mjs share: what is fought for, the race around armgate's protection and through it, and its judgement
// by the clients' own logs and by what the simulated ARM holds in the end. armgate's own word counts for nothing.
import assert from "node:assert/strict";
import { GROUP, missing, NETWORK, race, rulesOf, say, SCALE_SET, SECURITY_GROUP, SETTINGS, SITE, subnetsOf, tagsOf } from "./tools.mjs";

const PROFILE = { storageProfile: { imageReference: { publisher: "Debian", offer: "debian-12", sku: "12", version: "latest" } } };
const setOf = (virtualMachineProfile) => ({
  location: "westeurope", sku: { name: "S", capacity: 1 }, tags: { base: "1" }, properties: { virtualMachineProfile } });
export const SET_BODY = setOf(PROFILE);
// As ARM shows it: its machines have a password that it does not show.
export const SET_WITH_PASSWORD = setOf({ ...PROFILE, osProfile: { computerNamePrefix: "web", adminUsername: "ann" } });
const SPACE = { addressSpace: { addressPrefixes: ["10.0.0.0/8"] }, subnets: [] };
// With the defaults that ARM shows: SDKs write them as well.
const NETWORK_BODY = { location: "westeurope", properties: { ...SPACE, enableDdosProtection: false, enableVmProtection: false } };
const BODIES = [
  { id: GROUP, version: "2024-03-01", body: { location: "westeurope", tags: {} } },
  { ...SCALE_SET, body: SET_BODY },
  { ...SECURITY_GROUP, body: { location: "westeurope", properties: { securityRules: [] } } },
  { ...NETWORK, body: NETWORK_BODY },
  { ...SITE, body: { location: "westeurope" } },
  { ...SETTINGS, body: { properties: { base: "1" } } },
];

// As api-versions show it that do not know these defaults.
export const makeOldNetwork = (sim) => sim.make(NETWORK.id, NETWORK.version, { location: "westeurope", properties: SPACE });

async function makeAll(sim) {
  for (const { id, version, body } of BODIES) await sim.make(id, version, body);
}

export async function startMergingSim(world, args = ["--operation-ms", "0"]) {
  const sim = await world.startSim(["--url-escapes", "none", ...args]);
  await makeAll(sim);
  return sim;
}

// Each acknowledged write adds one to the capacity.
const countedIn = (acknowledged, { sku: { capacity } }) => acknowledged.slice(Math.max(0, capacity - 1));
const addedTo = (membersOf) => (acknowledged, resource) => missing(acknowledged, membersOf(resource));
const TARGETS = {
  addTags: { ...SCALE_SET, name: "web", lostOf: addedTo(tagsOf) },
  addRules: { ...SECURITY_GROUP, name: "front", lostOf: addedTo(rulesOf) },
  addSubnets: { ...NETWORK, name: "net", lostOf: addedTo(subnetsOf) },
  count: { ...SCALE_SET, name: "web", lostOf: countedIn },
};

async function runRace(world, sim, gateway, command, racers, writes) {
  const { id, version, name, lostOf } = TARGETS[command];
  const result = await race(world, gateway, "named", command, racers, { name, writes });
  const resource = await sim.read(id, version);
  return { ...result, lost: lostOf(result.acknowledged, resource), resource, report: await sim.report() };
}

const counts = ({ lost, refused, errors }) => ({ lost: lost.length, refused, failed: errors.length });

// The race around armgate's protection, and through it. Gives the latter.
export async function raceBothWays(world, what, command, racers, { writes = 3, prepare = async () => {} } = {}) {
  const sim = await startMergingSim(world);
  await prepare(sim);
  const bare = await world.startGateway(sim, { mode: "off" });
  const before = await runRace(world, sim, bare, command, racers.map((racer) => ({ ...racer, client: `bare-${racer.client}` })), writes);
  assert.notEqual(before.lost.length, 0, "the race is no test: nothing was lost even without protection");
  await sim.control("POST", "reset");
  await makeAll(sim);
  await prepare(sim);
  const after = await runRace(world, sim, await world.startGateway(sim), command, racers, writes);
  tell({ what, writes: racers.length * writes, before: counts(before), after: counts(after) });
  assert.deepEqual(after.errors, []);
  assert.deepEqual(after.lost, [], "acknowledged and lost");
  assert.equal(after.acknowledged.length, racers.length * writes);
  assert.equal(after.report.lost_updates + after.report.vanished, 0, after.report.findings.join("\n"));
  assert.equal(after.report.applied_twice, 0, after.report.findings.join("\n"));
  return after;
}

// The table at the end of a run (and in README.md).
const rows = [];
const inWords = ({ lost, refused, failed }) => `${lost} lost, ${refused} refused, ${failed} failed`;
export function tell(row) {
  rows.push(row);
  say(`${row.what}, ${row.writes} writes: ${row.before ? `around armgate ${inWords(row.before)}; ` : ""}through it ${inWords(row.after)}`);
}

export function printMerging() {
  if (rows.length === 0) return;
  console.log("\n| race | writes | around armgate: lost / refused / failed | through armgate: lost / refused / failed |\n|---|---:|---:|---:|");
  const cell = (sums) => (sums ? `${sums.lost} / ${sums.refused} / ${sums.failed}` : "not run");
  for (const { what, writes, before, after } of rows) console.log(`| ${what} | ${writes} | ${cell(before)} | ${cell(after)} |`);
  console.log("");
}
