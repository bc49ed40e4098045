// Races between commands of the Azure CLI. It retries nothing by itself: whoever runs it begins again when it was refused as stale.
import assert from "node:assert/strict";
import { az, insist, signIn, startLogin } from "./az.mjs";
import { GROUP, measure, missing, NETWORK, say, SCALE_SET, subnetsOf, tagsOf } from "./tools.mjs";

const NAMES = ["az-0", "az-1", "az-2"];

async function start(world, { args = [], config = {}, names = NAMES, run = true } = {}) {
  const sim = await world.startSim(["--url-escapes", "none", ...args]);
  await sim.make(GROUP, "2024-03-01", { location: "westeurope", tags: {} });
  await sim.make(NETWORK.id, NETWORK.version, { location: "westeurope", properties: { addressSpace: { addressPrefixes: ["10.0.0.0/16"] }, subnets: [] } });
  await sim.make(SCALE_SET.id, SCALE_SET.version, { location: "westeurope", sku: { name: "S", capacity: 1 }, tags: {} });
  const all = { ...(await startLogin(world)).config, ...config };
  const gateway = await (run ? world.startGateway(sim, all) : world.configureGateway(sim, all));
  await signIn(world, gateway, run ? "named" : "exec", names);
  return { sim, gateway };
}

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

// What was lost, and how often somebody was refused, for the log and the table.
async function tell(sim, what, lost, refused, promise = "") {
  say(`${NAMES.length} of ${NAMES.length} ${what} acknowledged, ${lost.length} lost${promise}, ${sum(refused)} refused as stale, 0 failed`);
  const report = await sim.report();
  measure({ clients: `${NAMES.length} az, ${what}`, writes: NAMES.length, lost: `${lost.length}${promise}`, twice: report.applied_twice,
            deserved: sum(refused) - report.undeserved_412, undeserved: report.undeserved_412 });
}

const createSubnet = (i) => ["network", "vnet", "subnet", "create", "--resource-group", "rg", "--vnet-name", "net", "--name", `subnet-${i}`,
                             "--address-prefixes", `10.0.${i}.0/24`];
const subnetNames = NAMES.map((_, i) => `subnet-${i}`);

async function lostSubnets(sim) {
  return missing(subnetNames, subnetsOf(await sim.read(NETWORK.id, NETWORK.version)));
}

export const tests = {
  "subnets that are made by writing the whole network back, each under armgate exec": async (world) => {
    const { sim, gateway } = await start(world, { args: ["--operation-ms", "0"], run: false });
    const refused = await Promise.all(NAMES.map((name, i) => insist(world, gateway, "exec", name, ...createSubnet(i))));
    const lost = await lostSubnets(sim);
    const report = await sim.report();
    await tell(sim, "subnets", lost, refused);
    assert.deepEqual(lost, []);
    assert.equal(report.lost_updates, 0, report.findings.join("\n"));
    assert.equal(report.applied_twice, 0, report.findings.join("\n"));
  },

  // ARM has no ETag for groups: armgate itself compares them with what each command has read.
  "one gateway: subnets at once, tags of the group, and a chain with --no-wait": async (world) => {
    const { sim, gateway } = await start(world, { args: ["--operation-ms", "700"] });
    const refused = await Promise.all(NAMES.map((name, i) => insist(world, gateway, "named", name, ...createSubnet(i))));
    const lost = await lostSubnets(sim);
    await tell(sim, "subnets", lost, refused);
    assert.deepEqual(lost, []);
    assert.equal((await sim.report()).overlaps_attempted, 0);

    const updates = await Promise.all(NAMES.map((name) =>
      insist(world, gateway, "named", name, "group", "update", "--name", "rg", "--set", `tags.${name}=1`)));
    const lostTags = missing(NAMES, tagsOf(await sim.read(GROUP, "2024-03-01")));
    await tell(sim, "updates of the group", lostTags, updates);
    assert.deepEqual(lostTags, []);

    const chain = (...words) => insist(world, gateway, "named", NAMES[0], "vmss", ...words, "--resource-group", "rg", "--name", "web", "--no-wait");
    await chain("scale", "--new-capacity", "3");
    await chain("deallocate");
    const scaled = await sim.read(SCALE_SET.id, SCALE_SET.version);
    assert.equal(scaled.sku.capacity, 3);
    const report = await sim.report();
    assert.equal(report.actions.deallocate, 1);
    assert.equal(report.applied_twice, 0, report.findings.join("\n"));
  },

  // The generic command: it reads whatever it is, sets one member, and writes the whole back. All behind one name: the id that each
  // command gives to all of its requests tells them apart.
  "resource update of one scale set, all behind one name": async (world) => {
    const { sim, gateway } = await start(world, { args: ["--operation-ms", "300"], names: [NAMES[0]] });
    const refused = await Promise.all(NAMES.map((name) => insist(world, gateway, "named", NAMES[0], "resource", "update", "--ids", SCALE_SET.id,
                                                                 "--api-version", SCALE_SET.version, "--set", `tags.${name}=1`)));
    const lost = missing(NAMES, tagsOf(await sim.read(SCALE_SET.id, SCALE_SET.version)));
    await tell(sim, "resource updates behind one name", lost, refused);
    assert.deepEqual(lost, []);
    const report = await sim.report();
    assert.equal(report.applied_twice, 0, report.findings.join("\n"));
  },

  // armgate finds out by itself what became of a PUT. A POST it cannot look at: the command may fail, but it runs once.
  "answers that get lost: each write happens once": async (world) => {
    const { sim, gateway } = await start(world, { args: ["--operation-ms", "0"], names: [NAMES[0]] });
    await sim.addFaults([{ method: "PUT", path: "virtualNetworks", kind: "drop-after" }, { method: "PUT", path: "virtualMachineScaleSets", kind: "drop-after" },
                         { method: "POST", path: "deallocate", kind: "drop-after" }]);
    const refused = await insist(world, gateway, "named", NAMES[0], ...createSubnet(0));
    const scaled = await insist(world, gateway, "named", NAMES[0], "resource", "update", "--ids", SCALE_SET.id, "--api-version", SCALE_SET.version,
                                "--set", "sku.capacity=4");
    const stopped = await az(world, gateway, "named", NAMES[0], "vmss", "deallocate", "--resource-group", "rg", "--name", "web");
    if (!stopped.ok) assert.match(stopped.stderr, /ArmgateOutcomeUnknown|is not known/);
    const report = await sim.report();
    say(`2 of 2 PUTs acknowledged, ${refused + scaled} refused as stale, deallocate ${stopped.ok ? "acknowledged" : "said to be unknown"}, ` +
        `${report.dropped_after} answers lost`);
    assert.equal(report.dropped_after, 3);
    assert.deepEqual(subnetsOf(await sim.read(NETWORK.id, NETWORK.version)), new Set(["subnet-0"]));
    assert.equal((await sim.read(SCALE_SET.id, SCALE_SET.version)).sku.capacity, 4);
    assert.equal(report.actions.deallocate, 1);
    assert.equal(report.applied_twice, 0, report.findings.join("\n"));
  },
};
