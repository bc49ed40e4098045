// What the suites of `armgate heal` share: a wedged cluster in a simulated ARM behind armgate, the program, and what must be there in
// the end.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import path from "node:path";
import { cleanEnvironment, freePort, run } from "./harness.mjs";

export const VERSION = "2025-10-01";
const groupOf = (number) => `/subscriptions/00000000-0000-0000-0000-00000000000a/resourceGroups/g${number}`;
export const clusterOf = (number) => `${groupOf(number)}/providers/Microsoft.ContainerService/managedClusters/c${number}`;
export const CLUSTER = clusterOf(1);
const POOL_BODY = { name: "system", mode: "System", count: 3, vmSize: "Standard_D2s_v5", osDiskSizeGB: 128,
                    vnetSubnetID: `${groupOf(1)}/providers/Microsoft.Network/virtualNetworks/v/subnets/a`,
                    nodeLabels: { zone: "one" }, nodeTaints: ["CriticalAddonsOnly=true:NoSchedule"], tags: { owner: "ops" } };
export const GOLDEN = ["POST abort", "PUT stand-in", "DELETE system", "PUT system", "DELETE stand-in", "PATCH tags"];
export const TOKEN = "token-of-heal";

export const wedge = (sim, cluster, more) =>
  sim.control("POST", "wedges", JSON.stringify({ cluster, pool: "system", now: Math.floor(Date.now() / 1000), ...more }));

// `more`: members of the pool.
export async function makeCluster(sim, number, more = {}) {
  await sim.make(groupOf(number), "2021-04-01", { location: "westeurope" });
  await sim.make(clusterOf(number), VERSION, { location: "westeurope", properties: {
    nodeResourceGroup: `MC_g${number}`, currentKubernetesVersion: "1.30.4",
    agentPoolProfiles: [{ ...POOL_BODY, ...more }, { name: "work", mode: "User", count: 2, vmSize: "Standard_D4s_v5" }] } });
}

// armgate with its admin listener before a tap before a simulated ARM. `onRequest(record)` sees what reaches ARM before that does, and
// may answer in its place; `onAnswer(record)` comes before the answer goes back.
export async function beginBehindTap(world, { operationMs = "120", onRequest, onAnswer } = {}) {
  const kubernetes = mkdtempSync(world.file("kubernetes-"));
  const sim = await world.startSim(["--operation-ms", operationMs, "--retry-after", "0", "--kubernetes", kubernetes]);
  const seen = [];
  const tap = await world.startRecorder(async (record) => {
    seen.push(record);
    const answer = (await onRequest?.(record)) ?? await sim.forward(record);
    record.status = answer?.status;
    onAnswer?.(record);
    return answer;
  });
  const admin = await freePort();
  const gateway = await world.startGateway(tap, { listen: { admin: `127.0.0.1:${admin}` } });
  return { sim, gateway, seen, admin, cluster: CLUSTER, runs: mkdtempSync(world.file("runs-")),
           withNodes: ["--kubeconfig", path.join(kubernetes, "kubeconfig")],
           kubernetes: (settings) => sim.control("POST", "kubernetes", JSON.stringify(settings)) };
}

// The same with a cluster, wedged unless `how` is null; `before` is done to it before that.
export async function beginWedged(world, { how = {}, pool, before, onRequest } = {}) {
  const rig = await beginBehindTap(world, { onRequest });
  await makeCluster(rig.sim, 1, pool);
  await before?.(rig.sim);
  if (how) await wedge(rig.sim, CLUSTER, how);
  return rig;
}

function healArguments({ gateway, runs, cluster }, flags) {
  const pace = flags.includes("--poll-s") ? [] : ["--poll-s", "0.05"];
  return ["heal", "aks-system-pool", cluster, "--config", gateway.configFile, "--runs", runs, ...pace, "--settle-s", "0", ...flags];
}

const environmentOf = (world, { env }) => ({ HOME: world.directory, USER: "nadja", ...(env ?? { ARMGATE_HEAL_TOKEN: TOKEN }) });

export const heal = (world, rig, ...flags) =>
  run(path.join(world.bin, "armgate"), healArguments(rig, flags), { env: environmentOf(world, rig), seconds: 120 });

// The same, to be killed.
export function startHeal(world, rig, ...flags) {
  const child = spawn(path.join(world.bin, "armgate"), healArguments(rig, flags), {
    env: cleanEnvironment(environmentOf(world, rig)), stdio: ["ignore", "pipe", "pipe"] });
  const started = { child, log: "" };
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece) => { started.log += piece; });
  started.exit = once(child, "close");
  return started;
}

// The writes that ARM took of a cluster, in their order.
export function taken(seen, cluster = CLUSTER) {
  const nameOf = (url) => /agentPools\/tmp/.test(url) ? "stand-in" : /agentPools\/system/.test(url) ? "system" : /\/abort/.test(url) ? "abort" : "tags";
  return seen.filter(({ method, url, status }) => method !== "GET" && status < 300 && url.startsWith(`${cluster}/`)).map(({ method, url }) => `${method} ${nameOf(url)}`);
}

export async function assertHealed({ sim, cluster }) {
  const { properties: { provisioningState, agentPoolProfiles }, tags } = await sim.read(cluster, VERSION);
  assert.equal(provisioningState, "Succeeded");
  assert.deepEqual(agentPoolProfiles.map(({ name }) => name).sort(), ["system", "work"]);
  const { properties } = await sim.read(`${cluster}/agentPools/system`, VERSION);
  for (const [name, value] of Object.entries(POOL_BODY)) {
    if (name !== "name") assert.deepEqual(properties[name], value, name);
  }
  assert.equal(properties.provisioningState, "Succeeded");
  assert.ok(tags["armgate-recreated"], "the tag");
}
