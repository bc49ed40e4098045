// Races in which everyone is to get through (docs/bases.md, at its end): several real clients add members to the same resources while
// much goes wrong. They are judged by the clients' own logs and by what armsim saw, never by what armgate says about itself.
import assert from "node:assert/strict";
import { GROUP, OLD_SCALE_SET, race, rulesOf, say, SCALE_SET, SECURITY_GROUP, tagsOf } from "./tools.mjs";

const SET_BODY = { location: "westeurope", sku: { name: "S", capacity: 1 }, tags: { base: "1" } };
const RULE = { name: "base", properties: { priority: 4000, direction: "Inbound", access: "Deny" } };
const TARGETS = {
  sets: { ...SCALE_SET, membersOf: tagsOf, body: SET_BODY },
  groups: { ...SECURITY_GROUP, membersOf: rulesOf, body: { location: "westeurope", properties: { securityRules: [RULE] } } },
  old: { ...OLD_SCALE_SET, membersOf: tagsOf, body: SET_BODY },
};
// What the commands of the clients write to, in the order in which their logs count it.
const OF_COMMAND = { addEverywhere: [TARGETS.sets, TARGETS.groups, TARGETS.old], addTags: [TARGETS.sets], addOld: [TARGETS.old] };

// What goes wrong: ARM is busy without a reason that could be seen, or out of order, connections break before and after the effect, and
// some reads come from a replica that lags.
export const TROUBLE = [
  { method: "PUT", path: "/providers/Microsoft.Compute/", kind: "error-busy-compute", chance: 0.05 },
  { method: "PUT", path: "/providers/Microsoft.Network/", kind: "error-busy-network", chance: 0.05 },
  { method: "PUT", kind: "status-503", chance: 0.03 },
  { method: "PUT", kind: "drop-before", chance: 0.04 },
  { method: "PUT", kind: "drop-after", chance: 0.04 },
  ...["/virtualMachineScaleSets/", "/networkSecurityGroups/"].map((path) => ({ method: "GET", path, kind: "stale-150", chance: 0.02 })),
];

// A simulated ARM whose operations are short; nothing goes wrong until faults are added. Without a Retry-After clients poll as often as
// they are told to: a fraction of a second can be seen.
export async function startShort(world, { operationMs = 300, args = [] } = {}) {
  const sim = await world.startSim(["--operation-ms", String(operationMs), "--retry-after", "0", "--url-escapes", "none", ...args]);
  await sim.make(GROUP, "2024-03-01", { location: "westeurope" });
  for (const { id, version, body } of Object.values(TARGETS)) await sim.make(id, version, body);
  return sim;
}

// armgate asks about operations as often as the clients here do.
export const QUICK = { operations: { poll_waited: "200ms" } };

const isDone = ({ outcome }) => ["acknowledged", "found", "done but refused"].includes(outcome);
const total = (adds, member) => adds.reduce((sum, add) => sum + add[member], 0);

// `racers` as in tools.race(); each adds `writes` members, and gives up after `seconds`. Gives the row for the table, and the logs.
export async function raceToAdd(world, { racers, writes, seconds, operationMs, command = "addEverywhere", way = "named", faults = TROUBLE, config = {} }) {
  const sim = await startShort(world, { operationMs });
  const gateway = await world.startGateway(sim, { ...QUICK, ...config });
  if (faults.length > 0) await sim.addFaults(faults);
  const started = Date.now();
  const { adds } = await race(world, gateway, way, command, racers, { name: "web", writes, seconds, persist: true, think: 40 });
  const took = Date.now() - started;
  await sim.clearFaults();
  await sim.finish();
  const present = await Promise.all(OF_COMMAND[command].map(async ({ id, version, membersOf }) => membersOf(await sim.read(id, version))));
  const report = await sim.report();
  assertAlive(sim);
  assert.equal(report.dropped_before + report.dropped_after > 0, faults.length > 0, "whether something went wrong");
  const row = {
    adds: adds.length,
    done: adds.filter(isDone).length,
    lost: adds.filter((add) => isDone(add) && !present[add.target].has(add.name)).map(({ name }) => name),
    // Applied twice, or refused although it was applied: its client does it again.
    twice: report.applied_twice + adds.filter(({ outcome }) => outcome === "done but refused").length,
    refused: total(adds, "refused"),
    undeserved: total(adds, "undeserved"),
    worst: Math.max(...adds.map(({ refused }) => refused)),
    unsure: adds.reduce((sum, { unsure }) => sum + unsure.length, 0),
    seconds: took / 1000,
  };
  tell({ clients: clientsOf(racers, way), ...row });
  return { row, adds, report, sim };
}

function clientsOf(racers, way) {
  const kinds = [...new Set(racers.map(({ kind }) => kind))];
  return `${kinds.map((kind) => `${racers.filter((racer) => racer.kind === kind).length} ${kind}`).join(", ")}, ${way}`;
}

export function assertAlive(sim) {
  assert.equal(sim.process.exited, null, "armsim died");
  assert.doesNotMatch(sim.process.log, /armsim: defect/);
}

// `refusals`: the most that one add may meet, and one more for each failure of another kind (503, a lost answer), which costs its turn.
export function assertLive({ row, adds, report }, { refusals = 3 } = {}) {
  const unfinished = adds.filter((add) => !isDone(add)).map(({ name, refused, unsure }) => `${name}: refused ${refused} times ${JSON.stringify(unsure)}`);
  assert.equal(row.done, row.adds, `of ${row.adds} adds only ${row.done} were done\n${unfinished.slice(0, 12).join("\n")}`);
  assert.deepEqual(row.lost, [], "done and lost");
  assert.equal(report.lost_updates + report.vanished, 0, report.findings.join("\n"));
  assert.equal(row.twice, 0, report.findings.join("\n"));
  const tooOften = adds.filter(({ refused, unsure }) => refused > refusals + unsure.length);
  assert.deepEqual(tooOften, [], `one add was refused ${row.worst} times`);
}

// The table at the end of a run (and in docs/bases.md).
const rows = [];
let scenario = "";
export const beginLiveness = (name) => { scenario = name; };
export function tell(row) {
  rows.push({ scenario, ...row });
  const lost = row.lost?.length ?? 0;
  say(`${row.done} of ${row.adds} done in ${row.seconds.toFixed(1)} s, ${lost} lost, ${row.twice ?? 0} twice, ${row.refused} refused ` +
      `(${row.undeserved ?? 0} without a change by others), ${row.worst ?? row.refused} in the worst case, ${row.unsure ?? 0} other failures`);
}

export function printLiveness() {
  if (rows.length === 0) return;
  console.log("\n| scenario | clients | done | lost | twice | refused | without a change by others | worst | other failures | seconds |");
  console.log("|---|---|---|---|---|---|---|---|---|---|");
  for (const { scenario: name, clients, adds, done, lost = [], twice = 0, refused, undeserved = 0, worst = refused, unsure = 0, seconds } of rows) {
    console.log(`| ${name} | ${clients} | ${done} of ${adds} | ${lost.length} | ${twice} | ${refused} | ${undeserved} | ${worst} | ${unsure} | ${seconds.toFixed(1)} |`);
  }
  console.log("");
}
