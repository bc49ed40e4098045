// Workloads that need no protection: one tool, one identity, nobody beside it. armgate must not make them fail, nor wait where ARM
// would not have refused. Each runs directly and through armgate; both times are told at the end (bench/README.md), and only
// failures and needless waits are judged, because times depend on the machine.
import assert from "node:assert/strict";
import { sleep } from "./harness.mjs";
import { inParallel, Mutex, Pool } from "./pool.mjs";
import { CLUSTER, compareTimes, GROUP, NETWORK, say, SCALE_SET, SECURITY_GROUP } from "./tools.mjs";

const PARALLEL = 10;  // Terraform's default
const LOCATION = { location: "westeurope" };
const RESOURCE_GROUP = { id: GROUP, version: "2024-03-01" };
const range = (count) => Array.from({ length: count }, (_, i) => i);

// The same work directly and through armgate, each with a simulated ARM of its own. Gives what each noticed.
async function compare(world, name, simArgs, work) {
  const seen = {};
  for (const way of ["direct", "armgate"]) {
    const sim = await world.startSim(simArgs);
    const pool = new Pool(way === "direct" ? sim : await world.startGateway(sim));
    await sim.make(GROUP, RESOURCE_GROUP.version, LOCATION);
    await Promise.all(range(PARALLEL).map(() => pool.ask("GET", `${GROUP}?api-version=${RESOURCE_GROUP.version}`)));  // connects
    const started = Date.now();
    const result = await work(pool, sim);
    seen[way] = { ...result, ms: Date.now() - started, failures: pool.failures, resends: pool.resends, waited: pool.waited,
                  report: await sim.report() };
    pool.close();
    await sim.stop();
  }
  const { direct, armgate } = seen;
  compareTimes({ name, direct: direct.ms, armgate: armgate.ms, failedDirect: direct.failures.length, failed: armgate.failures.length,
                 resentDirect: direct.resends, resent: armgate.resends, waited: armgate.waited.length });
  for (const { what, ms, reason } of armgate.waited.slice(0, 5)) say(`waited ${ms} ms (${reason}): ${what.replace(/\?.*/, "").slice(-90)}`);
  assert.ok(armgate.failures.length <= direct.failures.length,
            `${armgate.failures.length} failures, ${direct.failures.length} without armgate:\n${armgate.failures.join("\n")}`);
  return seen;
}

const waitedFor = ({ waited }, part) => waited.filter(({ what }) => what.includes(part));

// What an apply makes, in the order of Terraform's graph: every resource of a stage refers to some of the stages before.
const subnet = (i) => ({ id: `${NETWORK.id}/subnets/s${i % 20}`, version: NETWORK.version });
const securityRule = (i) => ({ id: `${SECURITY_GROUP.id}/securityRules/r${i}`, version: SECURITY_GROUP.version });
const account = (i) => ({ id: `${GROUP}/providers/Microsoft.Storage/storageAccounts/store${i % 2}`, version: "2023-01-01" });
const networkInterface = (i) => ({ id: `${GROUP}/providers/Microsoft.Network/networkInterfaces/nic${i}`, version: NETWORK.version });
const endpoint = (i) => ({ id: `${GROUP}/providers/Microsoft.Network/privateEndpoints/pe${i}`, version: NETWORK.version });
const interfaceIn = (i) => ({ ...LOCATION, properties: {
  ipConfigurations: [{ name: "a", properties: { subnet: { id: subnet(i).id } } }], networkSecurityGroup: { id: SECURITY_GROUP.id } } });
const endpointIn = (i) => ({ ...LOCATION, properties: {
  subnet: { id: subnet(i).id },
  privateLinkServiceConnections: [{ name: "c", properties: { privateLinkServiceId: account(i).id, groupIds: ["blob"] } }] } });

function stagesOf(pool, lock) {
  const one = (resource, body, run = (work) => work()) => ({
    create: () => run(() => pool.write("PUT", resource, body)),
    destroy: () => run(() => pool.write("DELETE", resource)),
  });
  const alternating = (a, b) => a.flatMap((item, i) => (i < b.length ? [item, b[i]] : [item]));
  return [
    [one(NETWORK, { ...LOCATION, properties: { addressSpace: { addressPrefixes: ["10.0.0.0/8"] } } }), one(SECURITY_GROUP, LOCATION),
     ...range(2).map((i) => one(account(i), LOCATION))],
    // The provider holds a lock of its own on a network while it changes one of its subnets.
    alternating(range(50).map((i) => one(securityRule(i), { properties: { priority: 100 + i, direction: "Inbound" } })),
                range(20).map((i) => one(subnet(i), { properties: { addressPrefix: `10.${i}.0.0/16` } }, (work) => lock.run(work)))),
    alternating(range(100).map((i) => one(networkInterface(i), interfaceIn(i))), range(10).map((i) => one(endpoint(i), endpointIn(i)))),
  ];
}

const clusterOf = (count) => ({ ...LOCATION, properties: { agentPoolProfiles: [{ name: "blue", count, mode: "System" }] } });
const scaleSetOf = (capacity) => ({ ...LOCATION, sku: { name: "Standard_D2s_v5", capacity } });

export const tests = {
  "Terraform-shaped: apply and destroy of 100 interfaces, 20 subnets, 50 rules, 10 private endpoints": async (world) => {
    const applied = {};
    const seen = await compare(world, "apply and destroy", ["--operation-ms", "100"], async (pool, sim) => {
      const stages = stagesOf(pool, new Mutex());
      const started = Date.now();
      for (const stage of stages) await inParallel(PARALLEL, stage.map(({ create }) => create));
      const applyMs = Date.now() - started;
      const network = await sim.read(NETWORK.id, NETWORK.version);
      applied.subnets = network.properties.subnets.length;
      for (const stage of stages.reverse()) await inParallel(PARALLEL, stage.map(({ destroy }) => destroy));
      return { applyMs };
    });
    say(`apply: ${seen.direct.applyMs} ms directly, ${seen.armgate.applyMs} ms through armgate`);
    assert.deepEqual(seen.armgate.failures, []);
    assert.equal(applied.subnets, 20);
    assert.equal(seen.armgate.report.applied_twice, 0);
    assert.ok(seen.armgate.resends <= seen.direct.resends, "more was to be sent again than without armgate");
    for (const part of ["securityRules", "storageAccounts"]) assert.deepEqual(waitedFor(seen.armgate, part), [], "nothing stood in its way");
    // The first ones, right after the last subnet, wait until one read has shown that the network is ready.
    assert.ok(waitedFor(seen.armgate, "networkInterfaces").length <= PARALLEL, "interfaces wait for each other");
  },

  "extensions of a machine, records of a zone, role assignments: what ARM takes side by side waits for nothing": async (world) => {
    const machine = { id: `${GROUP}/providers/Microsoft.Compute/virtualMachines/vm`, version: "2024-07-01" };
    const zone = { id: `${GROUP}/providers/Microsoft.Network/dnsZones/example.com`, version: "2018-05-01" };
    const store = account(0);
    const below = ({ id, version }, name, other = version) => ({ id: `${id}/${name}`, version: other });
    const seen = await compare(world, "side by side", ["--operation-ms", "500"], async (pool) => {
      await Promise.all([machine, zone, store].map((parent) => pool.write("PUT", parent, LOCATION)));
      await inParallel(PARALLEL, range(10).flatMap((i) => [
        () => pool.write("PUT", below(machine, `extensions/e${i}`), { ...LOCATION, properties: { type: "script" } }),
        () => pool.write("PUT", below(zone, `A/host${i}`), { properties: { TTL: 60, ARecords: [{ ipv4Address: `10.0.0.${i}` }] } }),
        () => pool.write("PUT", below(store, `providers/Microsoft.Authorization/roleAssignments/r${i}`, "2022-04-01"), { properties: { principalId: `p${i}` } }),
        () => pool.write("PUT", below(store, `blobServices/default/containers/c${i}`), { properties: {} }),
      ]));
    });
    assert.deepEqual(seen.armgate.failures, []);
    assert.deepEqual(seen.armgate.waited, []);
  },

  // The autoscaler moves its goal while machines still come: ARM takes the next PUT during the operation of the one before. It reads
  // once, sends nothing but name, place and size, and one PUT at a time (its sizeMutex), but waits for no operation in between.
  "autoscaler: five capacities in a row during one operation": async (world) => {
    const seen = await compare(world, "autoscaler burst", ["--operation-ms", "700", "--exclusivity", "accept"], async (pool, sim) => {
      await sim.make(SCALE_SET.id, SCALE_SET.version, scaleSetOf(1));
      const path = `${SCALE_SET.id}?api-version=${SCALE_SET.version}`;
      const { json: { location, name, sku } } = await pool.insist("GET", path);
      const writes = [];
      for (const i of range(5)) {
        const sent = await pool.begin("PUT", SCALE_SET, { location, name, sku: { ...sku, capacity: 2 + i } });
        writes.push(sent.finish());
      }
      await Promise.all(writes);
      return { capacity: (await sim.read(SCALE_SET.id, SCALE_SET.version)).sku.capacity };
    });
    assert.equal(seen.armgate.capacity, 6, "the last goal stands");
    assert.equal(seen.armgate.report.applied_twice, 0);
  },

  "credentials, keys and data sources are read while writes run": async (world) => {
    const store = account(0);
    const seen = await compare(world, "reads during writes", ["--operation-ms", "3000"], async (pool, sim) => {
      await Promise.all([sim.make(store.id, store.version, LOCATION), sim.make(CLUSTER.id, CLUSTER.version, clusterOf(1)),
                         sim.make(NETWORK.id, NETWORK.version, LOCATION)]);
      const writes = [pool.ask("PUT", `${CLUSTER.id}?api-version=${CLUSTER.version}`, clusterOf(2)),
                      pool.ask("PUT", `${subnet(0).id}?api-version=${NETWORK.version}`, { properties: {} })];
      const operations = (await Promise.all(writes)).map(({ headers }) => headers["azure-asyncoperation"]);
      // Writes that wait in armgate for the two that run.
      const queued = [pool.write("PUT", { ...CLUSTER, id: `${CLUSTER.id}/agentPools/green` }, { properties: { count: 1 } }),
                      pool.write("PUT", subnet(1), { properties: {} })];
      await sleep(100);
      const reads = await Promise.all(range(5).flatMap(() => [
        pool.ask("POST", `${CLUSTER.id}/listClusterUserCredential?api-version=${CLUSTER.version}`),
        pool.ask("GET", `${CLUSTER.id}?api-version=${CLUSTER.version}`),
        pool.ask("GET", `${CLUSTER.id}/agentPools?api-version=${CLUSTER.version}`),
        pool.ask("POST", `${store.id}/listKeys?api-version=${store.version}`),
        pool.ask("GET", `${NETWORK.id}?api-version=${NETWORK.version}`),
        pool.ask("GET", `${subnet(0).id}?api-version=${NETWORK.version}`),
      ]));
      const path = operations[0].slice(operations[0].indexOf("/", "https://".length));
      const { json: still } = await pool.ask("GET", path);
      await Promise.all(queued);
      return { statuses: [...new Set(reads.map(({ status }) => status))], still: still.status, readMs: Math.max(...reads.map(({ ms }) => ms)) };
    });
    say(`slowest read: ${seen.direct.readMs} ms directly, ${seen.armgate.readMs} ms through armgate`);
    assert.deepEqual(seen.armgate.statuses, [200]);
    assert.equal(seen.armgate.still, "InProgress", "the reads came back while the write still ran");
    assert.deepEqual(seen.armgate.failures, [], "and the writes that ARM would have refused went through");
  },

  "a group is deleted without waiting while something in it is being made": async (world) => {
    const seen = await compare(world, "group delete during a create", ["--operation-ms", "1500"], async (pool) => {
      const created = await pool.ask("PUT", `${CLUSTER.id}?api-version=${CLUSTER.version}`, clusterOf(1));
      const removed = await pool.ask("DELETE", `${GROUP}?api-version=${RESOURCE_GROUP.version}`);
      while ((await pool.insist("GET", `${GROUP}?api-version=${RESOURCE_GROUP.version}`)).status !== 404) await sleep(50);
      const remade = await pool.write("PUT", RESOURCE_GROUP, LOCATION);
      return { created: created.status, removed: removed.status, deleteMs: removed.ms, remade };
    });
    say(`the DELETE was answered after ${seen.direct.deleteMs} ms directly, ${seen.armgate.deleteMs} ms through armgate`);
    for (const { created, removed, remade } of Object.values(seen)) assert.deepEqual([created, removed, remade], [201, 202, true]);
    assert.deepEqual(waitedFor(seen.armgate, "DELETE"), [], "it waits for nothing below the group");
  },

  "an abort passes the operation that it ends, and the next write comes at once": async (world) => {
    const long = 20_000;
    const seen = await compare(world, "abort", ["--operation-ms", String(long)], async (pool, sim) => {
      await sim.make(CLUSTER.id, CLUSTER.version, clusterOf(1));
      const running = await pool.ask("PUT", `${CLUSTER.id}/agentPools/blue?api-version=${CLUSTER.version}`, { properties: { count: 9 } });
      const aborted = await pool.ask("POST", `${CLUSTER.id}/agentPools/blue/abort?api-version=${CLUSTER.version}`);
      const { json: now } = await pool.ask("GET", `${CLUSTER.id}/agentPools/blue?api-version=${CLUSTER.version}`);
      const next = await pool.insist("PUT", `${CLUSTER.id}/agentPools/blue?api-version=${CLUSTER.version}`, { properties: { ...now.properties, count: 2 } });
      return { statuses: [running.status, aborted.status, next.status], nextMs: next.ms };
    });
    say(`the next write was answered after ${seen.direct.nextMs} ms directly, ${seen.armgate.nextMs} ms through armgate`);
    for (const { statuses } of Object.values(seen)) assert.deepEqual(statuses, [200, 202, 200]);
    assert.ok(seen.armgate.nextMs < long / 2, "the aborted operation held the key to its planned end");
  },
};
