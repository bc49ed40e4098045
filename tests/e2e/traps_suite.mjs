// Answers that mislead about whether a write still runs, one per habit of a provider: a second client's write to the same thing must
// reach ARM only when the first one's operation has ended, although the first client never asks about it.
import assert from "node:assert/strict";
import { curlJson, sending } from "./curl.mjs";
import { Pool } from "./pool.mjs";
import { CLUSTER, GROUP, NETWORK, say } from "./tools.mjs";

const OPERATION_MS = 3000;
const LOCATION = { location: "westeurope" };
const WITH_OPERATION = { "x-sim-operation-ms": String(OPERATION_MS) };  // of types that are synchronous otherwise
const at = (below) => `${GROUP}/providers/Microsoft.${below}`;
const of = (properties) => ({ ...LOCATION, properties });
const subnet = `${NETWORK.id}/subnets/a`;
const interfaceBody = of({ ipConfigurations: [{ name: "a", properties: { subnet: { id: subnet } } }] });
const routes = at("Network/routeTables/table");
const deployment = at("Resources/deployments/d");
const privateZone = at("Network/privateDnsZones/example.com");

// `made` before; then `first` by one client, and `second` by another that has just read what the first one left.
const TRAPS = {
  "200 and Azure-AsyncOperation for a DELETE (network interface)": {
    version: "2024-05-01", made: [[at("Network/networkInterfaces/nic"), interfaceBody]],
    first: ["DELETE", at("Network/networkInterfaces/nic")], second: ["DELETE", at("Network/networkInterfaces/nic")] },
  "Succeeded and Azure-AsyncOperation (load balancer)": {
    version: "2024-05-01", made: [[at("Network/loadBalancers/lb"), LOCATION]],
    first: ["PUT", at("Network/loadBalancers/lb"), of({ a: 1 })], second: ["PUT", at("Network/loadBalancers/lb"), of({ a: 2 })] },
  "200 Updating without any header (virtual machine)": {
    version: "2024-07-01", made: [[at("Compute/virtualMachines/vm"), LOCATION]],
    first: ["PUT", at("Compute/virtualMachines/vm"), of({ a: 1 })], second: ["PUT", at("Compute/virtualMachines/vm"), of({ a: 2 })] },
  "a state of its own and no header (vault)": {
    version: "2023-07-01", made: [[at("KeyVault/vaults/kv"), LOCATION]],
    first: ["PUT", at("KeyVault/vaults/kv"), of({ a: 1 }), WITH_OPERATION], second: ["PUT", at("KeyVault/vaults/kv"), of({ a: 2 })] },
  "202 with an empty body and a Location (storage account)": {
    version: "2023-01-01", made: [[at("Storage/storageAccounts/store"), LOCATION]],
    first: ["PUT", at("Storage/storageAccounts/store"), of({ a: 1 }), WITH_OPERATION],
    second: ["PUT", at("Storage/storageAccounts/store"), of({ a: 2 })] },
  "202 with an empty body, operations below the group (private DNS zone)": {
    version: "2024-06-01", made: [[privateZone, LOCATION]],
    first: ["PUT", privateZone, of({ a: 1 })], second: ["PUT", privateZone, of({ a: 2 })] },
  "a pool of a cluster that changes (AKS)": {
    version: CLUSTER.version, made: [[CLUSTER.id, of({ agentPoolProfiles: [{ name: "blue", count: 1 }] })]],
    first: ["PUT", `${CLUSTER.id}/agentPools/blue`, { properties: { count: 2 } }],
    second: ["PUT", `${CLUSTER.id}/agentPools/green`, { properties: { count: 1 } }] },
  "routes of one table": {
    version: "2024-05-01", made: [[routes, LOCATION]],
    first: ["PUT", `${routes}/routes/a`, { properties: {} }], second: ["PUT", `${routes}/routes/b`, { properties: {} }] },
  "a peering beside a subnet of its network": {
    version: "2024-05-01", made: [[`${NETWORK.id}-2`, LOCATION], [`${NETWORK.id}-3`, LOCATION]],
    first: ["PUT", `${NETWORK.id}-2/subnets/b`, { properties: {} }],
    second: ["PUT", `${NETWORK.id}-3/virtualNetworkPeerings/p`, { properties: { remoteVirtualNetwork: { id: `${NETWORK.id}-2` } } }] },
  "an interface in a network that changes": {
    version: "2024-05-01", made: [[`${NETWORK.id}-4`, LOCATION], [`${NETWORK.id}-4/subnets/a`, { properties: {} }]],
    first: ["PUT", `${NETWORK.id}-4/subnets/b`, { properties: {} }],
    second: ["PUT", at("Network/networkInterfaces/late"),
             of({ ipConfigurations: [{ name: "a", properties: { subnet: { id: `${NETWORK.id}-4/subnets/a` } } }] })] },
  "operations below a deployment": {
    version: "2024-03-01", made: [], first: ["PUT", deployment, { properties: { mode: "Incremental" } }],
    second: ["PUT", deployment, { properties: { mode: "Complete" } }] },
};

async function spring(sim, clients, name, { version, made, first, second }) {
  for (const [id, body] of made) await sim.make(id, version, body);
  const send = (pool, method, id, body, headers) => pool.ask(method, `${id}?api-version=${version}`, body, headers);
  const begun = await send(clients.first, ...first);
  const since = Date.now();
  assert.ok(begun.status < 300, `${name}: ${begun.status} ${begun.text}`);
  await send(clients.second, "GET", second[1]);
  const inTime = Date.now() - since < OPERATION_MS - 500;  // on a very slow machine it may be over
  const done = await send(clients.second, ...second);
  assert.ok(done.status < 300, `${name}: ${done.status} ${done.text}`);
  const waited = Number(done.headers["x-armgate-waited-ms"] ?? 0);
  assert.ok(waited > 0 || !inTime, `${name}: it waited for nothing`);
  return waited;
}

async function springAll(world, simArgs) {
  const sim = await world.startSim(["--operation-ms", String(OPERATION_MS), ...simArgs]);
  const gateway = await world.startGateway(sim);
  await sim.make(GROUP, "2024-03-01", LOCATION);
  await sim.make(NETWORK.id, NETWORK.version, LOCATION);
  await sim.make(subnet, NETWORK.version, { properties: {} });
  const clients = { first: new Pool(gateway, { user: "first", connections: 20 }), second: new Pool(gateway, { user: "second", connections: 20 }) };
  const waits = await Promise.all(Object.entries(TRAPS).map(([name, trap]) => spring(sim, clients, name, trap)));
  for (const pool of Object.values(clients)) pool.close();
  const report = await sim.report();
  say(`${waits.length} traps, ${report.conflicts} conflicts; waited ${Math.min(...waits)} to ${Math.max(...waits)} ms for operations of ${OPERATION_MS} ms`);
  assert.equal(report.conflicts, 0, "a write was sent while another ran");
  assert.equal(report.overlaps_attempted, 0, report.findings.join("\n"));
  assert.equal(report.bad_signatures, 0);
}

export const tests = {
  // Also with hosts that have a port in the URLs of operations, and with records that are gone before anybody asks.
  "nothing misleads about the end of an operation": (world) =>
    Promise.all([[], ["--origin", "https://management.azure.com:443"], ["--operation-record-ms", "1"]].map((more) => springAll(world, more))),

  // A relative Location that names the resource itself is no operation, and there is nothing to wait for.
  "an identity's relative Location holds nobody up": async (world) => {
    const sim = await world.startSim(["--operation-ms", "5000"]);
    const gateway = await world.startGateway(sim);
    await sim.make(GROUP, "2024-03-01", LOCATION);
    const path = `${at("ManagedIdentity/userAssignedIdentities/id")}/federatedIdentityCredentials/`;
    const put = (user, id) => curlJson(world, gateway, `${id}?api-version=2023-01-31`, { user, args: sending("PUT", LOCATION) });
    const made = await put("first", at("ManagedIdentity/userAssignedIdentities/id"));
    assert.equal(made.headers.location, at("ManagedIdentity/userAssignedIdentities/id"));
    for (const name of ["a", "b"]) {
      const credential = await put("second", path + name);
      assert.equal(credential.status, 201);
      assert.equal(credential.headers["x-armgate-waited-ms"] ?? "0", "0");
    }
  },
};
