// armgate heal, the real program against a simulated ARM behind armgate: the runbook, who is kept out meanwhile, and what becomes of a
// run that is killed at any request.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import net from "node:net";
import path from "node:path";
import { curl, sending } from "./curl.mjs";
import { cleanEnvironment, freePort, run, sleep } from "./harness.mjs";
import { waitFor } from "./scale_set.mjs";

const VERSION = "2025-10-01";
const GROUP = "/subscriptions/00000000-0000-0000-0000-00000000000a/resourceGroups/g1";
const CLUSTER = `${GROUP}/providers/Microsoft.ContainerService/managedClusters/c1`;
const POOL = `${CLUSTER}/agentPools/system`;
const POOL_BODY = { name: "system", mode: "System", count: 3, vmSize: "Standard_D2s_v5", osDiskSizeGB: 128,
                    vnetSubnetID: `${GROUP}/providers/Microsoft.Network/virtualNetworks/v/subnets/a`,
                    nodeLabels: { zone: "one" }, nodeTaints: ["CriticalAddonsOnly=true:NoSchedule"], tags: { owner: "ops" } };
const GOLDEN = ["POST abort", "PUT stand-in", "DELETE system", "PUT system", "DELETE stand-in", "PATCH tags"];

// A wedged cluster behind a tap behind armgate with its admin listener.
async function beginWedged(world, { wedge = {}, onRequest } = {}) {
  const kubernetes = mkdtempSync(world.file("kubernetes-"));
  const sim = await world.startSim(["--operation-ms", "120", "--retry-after", "0", "--kubernetes", kubernetes]);
  await sim.make(GROUP, "2021-04-01", { location: "westeurope" });
  await sim.make(CLUSTER, VERSION, { location: "westeurope", properties: {
    nodeResourceGroup: "MC_g1", currentKubernetesVersion: "1.30.4",
    agentPoolProfiles: [POOL_BODY, { name: "work", mode: "User", count: 2, vmSize: "Standard_D4s_v5" }] } });
  if (wedge) await sim.control("POST", "wedges", JSON.stringify({ cluster: CLUSTER, pool: "system", now: Math.floor(Date.now() / 1000), ...wedge }));
  const seen = [];
  const tap = await world.startRecorder(async (record) => {
    seen.push(record);
    await onRequest?.(record, seen.length - 1);
    const answer = await sim.forward(record);
    record.status = answer?.status;
    return answer;
  });
  const admin = await freePort();
  const gateway = await world.startGateway(tap, { listen: { admin: `127.0.0.1:${admin}` } });
  return { sim, gateway, seen, admin, runs: mkdtempSync(world.file("runs-")), withNodes: ["--kubeconfig", path.join(kubernetes, "kubeconfig")],
           kubernetes: (settings) => sim.control("POST", "kubernetes", JSON.stringify(settings)) };
}

function healArguments(gateway, runs, flags) {
  const pace = flags.includes("--poll-s") ? [] : ["--poll-s", "0.05"];
  return ["heal", "aks-system-pool", CLUSTER, "--config", gateway.configFile, "--runs", runs, ...pace, "--settle-s", "0", ...flags];
}

const heal = (world, { gateway, runs }, ...flags) =>
  run(path.join(world.bin, "armgate"), healArguments(gateway, runs, flags),
      { env: { HOME: world.directory, USER: "nadja", ARMGATE_HEAL_TOKEN: "token-of-heal" }, seconds: 120 });

// The same, to be killed.
function startHeal(world, { gateway, runs }, ...flags) {
  const child = spawn(path.join(world.bin, "armgate"), healArguments(gateway, runs, flags), {
    env: cleanEnvironment({ HOME: world.directory, USER: "nadja", ARMGATE_HEAL_TOKEN: "token-of-heal" }), stdio: ["ignore", "pipe", "pipe"] });
  const started = { child, log: "" };
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece) => { started.log += piece; });
  started.exit = once(child, "close");
  return started;
}

// The writes that ARM took, in their order.
function taken(seen) {
  const nameOf = (url) => /agentPools\/tmp/.test(url) ? "stand-in" : /agentPools\/system/.test(url) ? "system" : /\/abort/.test(url) ? "abort" : "tags";
  return seen.filter(({ method, status }) => method !== "GET" && status < 300).map(({ method, url }) => `${method} ${nameOf(url)}`);
}

async function assertHealed({ sim }) {
  const cluster = await sim.read(CLUSTER, VERSION);
  assert.equal(cluster.properties.provisioningState, "Succeeded");
  assert.deepEqual(cluster.properties.agentPoolProfiles.map(({ name }) => name).sort(), ["system", "work"]);
  const { properties } = await sim.read(POOL, VERSION);
  for (const [name, value] of Object.entries(POOL_BODY)) {
    if (name !== "name") assert.deepEqual(properties[name], value, name);
  }
  assert.equal(properties.provisioningState, "Succeeded");
  assert.ok(cluster.tags["armgate-recreated"], "the tag");
}

export const tests = {
  "a dry run says what would be done, and changes nothing": async (world) => {
    const rig = await beginWedged(world);
    const plan = await heal(world, rig);
    assert.equal(plan.code, 0, plan.stderr);
    const text = plan.stdout.toString();
    assert.match(text, /holds +failure storm +12 failed writes of pool system's scale set with NetworkingInternalOperationError/);
    assert.match(text, /3\. delete the wedged pool \(at most 20 min\)\n +DELETE .*\/agentPools\/system {2}\(If-Match: its ETag\)/);
    assert.match(text, /This was a dry run/);
    assert.deepEqual(rig.seen.filter(({ method }) => method !== "GET"), []);
    assert.deepEqual(readdirSync(rig.runs), [], "nothing is written down");
    const json = JSON.parse((await heal(world, rig, "--output", "json")).stdout.toString());
    assert.equal(json.would_act, true);
    assert.equal(json.again.properties.nodeLabels.zone, "one");
  },

  "the wedged pool is made anew, step by step, and what happens is told as it happens": async (world) => {
    const rig = await beginWedged(world);
    const done = await heal(world, rig, "--confirm", "--output", "json");
    assert.equal(done.code, 0, done.stdout + done.stderr);
    assert.deepEqual(taken(rig.seen), GOLDEN);
    await assertHealed(rig);
    const lines = done.stdout.toString().trimEnd().split("\n").map((line) => JSON.parse(line));
    for (const line of lines) assert.deepEqual(Object.keys(line), ["at", "component", "run_id", "phase", "event", "text"]);
    assert.equal(new Set(lines.map(({ run_id }) => run_id)).size, 1);
    assert.deepEqual([...new Set(lines.map(({ phase }) => phase))], ["guards", "abort", "recheck", "stand-in", "delete", "recreate", "remove", "mark", "final-check"]);
    assert.ok(rig.seen.every(({ headers }) => headers.authorization === "Bearer token-of-heal"), "its own credential");
    assert.ok(!done.stdout.includes("token-of-heal"));
    for (const name of readdirSync(rig.runs)) {
      if (name.endsWith(".lock")) continue;
      for (const file of readdirSync(path.join(rig.runs, name))) assert.ok(!readFileSync(path.join(rig.runs, name, file)).includes("token-of-heal"), file);
    }
    const list = await run(path.join(world.bin, "armgate"), ["heal", "--list", "--runs", rig.runs], { env: { HOME: world.directory } });
    assert.match(list.stdout.toString(), /; finished\n$/);
    const again = await heal(world, rig, "--confirm");
    assert.deepEqual([again.code, /nothing to do: pool system is Succeeded/.test(again.stdout)], [0, true]);
    assert.equal(taken(rig.seen).length, GOLDEN.length, "there is nothing to do the second time");
  },

  "nobody else writes to the cluster or its pools while it runs, and is told why": async (world) => {
    const others = [];
    let shown = [];
    let rig = null;
    rig = await beginWedged(world, { onRequest: async ({ method, url }) => {
      if (method !== "PUT" || !/agentPools\/tmp/.test(url) || others.length > 0) return;
      for (const target of [`${CLUSTER}/agentPools/work`, CLUSTER]) {
        others.push(curl(world, rig.gateway, `${target}?api-version=${VERSION}`, { user: "pipeline", args: sending("DELETE", {}, "If-Match: *") }));
      }
      const waiting = () => run(path.join(world.bin, "armgate"), ["status", "--config", rig.gateway.configFile, "--output", "json"], { env: { HOME: world.directory } });
      await waitFor("the others' places in line", async () => JSON.parse((await waiting()).stdout.toString()).waiting >= 2);
      shown = JSON.parse((await waiting()).stdout.toString()).writes;
    } });
    const running = heal(world, rig, "--confirm");
    const done = await running;
    assert.equal(done.code, 0, done.stdout + done.stderr);
    for (const other of await Promise.all(others)) assert.ok(other.status < 300, `${other.status} ${other.body}`);
    assert.ok(shown.some(({ what, phase }) => what === `LEASE ${CLUSTER.toLowerCase()}` && phase === "runs"), JSON.stringify(shown));
    const tagged = rig.seen.findIndex(({ method }) => method === "PATCH");
    const first = rig.seen.findIndex(({ headers, method }) => method === "DELETE" && headers["if-match"] === "*");
    assert.ok(first > tagged, "the others came after the last write of the run");
  },

  "without the service, its admin listener or the cluster's lease nothing is begun": async (world) => {
    const rig = await beginWedged(world);
    const first = startHeal(world, rig, "--confirm", "--poll-s", "5");
    await waitFor("the abort", async () => taken(rig.seen).length > 0);
    const elsewhere = { ...rig, runs: mkdtempSync(world.file("runs-")) };
    const second = await heal(world, elsewhere, "--confirm");
    assert.equal(second.code, 1);
    assert.match(second.stderr, /no lease: .* is in a lease of heal-/);
    const here = await heal(world, rig, "--confirm");
    assert.match(here.stderr, /another process repairs /);
    first.child.kill("SIGKILL");
    await first.exit;
    rig.gateway.process.child.kill("SIGTERM");
    await rig.gateway.process.exit;
    const alone = await heal(world, rig, "--confirm");
    assert.equal(alone.code, 1);
    assert.match(alone.stderr, /no answer from /);
  },

  "Ctrl-C ends it at a step's edge, and --undo takes the temporary pool away again": async (world) => {
    const rig = await beginWedged(world);
    const started = startHeal(world, rig, "--confirm");
    await waitFor("the temporary pool", async () => taken(rig.seen).includes("PUT stand-in"));
    started.child.kill("SIGINT");
    const [code] = await started.exit;
    assert.equal(code, 1, started.log);
    assert.match(started.log, /interrupted/);
    assert.match(started.log, /to go back, while nothing was deleted: --undo/);
    assert.deepEqual(taken(rig.seen), GOLDEN.slice(0, 2));
    const undone = await heal(world, rig, "--undo", "--confirm");
    assert.equal(undone.code, 0, undone.stdout + undone.stderr);
    assert.deepEqual(taken(rig.seen), [...GOLDEN.slice(0, 2), "DELETE stand-in"]);
    const cluster = await rig.sim.read(CLUSTER, VERSION);
    assert.deepEqual(cluster.properties.agentPoolProfiles.map(({ name }) => name).sort(), ["system", "work"]);
  },

  "armgate itself may be killed and started again meanwhile: the run waits for it, and asks for its lease anew": async (world) => {
    const rig = await beginWedged(world);
    const started = startHeal(world, rig, "--confirm");
    await waitFor("the temporary pool", async () => taken(rig.seen).includes("PUT stand-in"));
    rig.gateway.process.child.kill("SIGKILL");
    await rig.gateway.process.exit;
    await sleep(300);
    await world.runGateway(rig.gateway);
    const [code] = await started.exit;
    assert.equal(code, 0, started.log);
    assert.match(started.log, /warning +the cluster cannot be looked at/);
    assert.deepEqual(taken(rig.seen), GOLDEN);
    await assertHealed(rig);
  },

  // kubectl is the real one. A wedged pool's nodes are not ready.
  "with a kubeconfig it waits for ready nodes, and drains before the delete": async (world) => {
    const rig = await beginWedged(world);
    await rig.kubernetes({ ready_ms: 5000, pod_ready_ms: 4000, workloads: [{ name: "shop", pool: "system", replicas: 2, min_available: 1 }] });
    await sleep(5100);
    const done = await heal(world, rig, "--confirm", "--drain", ...rig.withNodes);
    assert.equal(done.code, 0, done.stdout + done.stderr);
    const text = done.stdout.toString();
    for (const [phase, pool] of [["stand-in", "tmp\\w+"], ["recreate", "system"]]) {
      assert.match(text, new RegExp(`${phase} +wait +0 of 3 nodes of pool ${pool} are ready, 3 are wanted; not ready: aks-${pool}-\\d+-vmss000000, `));
    }
    assert.doesNotMatch(text, /warning/);
    assert.deepEqual(taken(rig.seen), GOLDEN);
    const seen = await rig.sim.control("GET", "kubernetes");
    assert.deepEqual([seen.cordoned, seen.evicted], [3, 2], "every node, and every pod but the daemon set's");
    assert.ok(seen.refused > 0, "the budget refused the second pod until the first one's successor was ready");
    await assertHealed(rig);
  },

  "nodes that never become ready end it by name before anything is deleted, a kubeconfig for another cluster too": async (world) => {
    const rig = await beginWedged(world);
    await rig.kubernetes({ never_ready: "vmss000002" });
    const late = await heal(world, rig, "--confirm", "--nodes-min", "0.05", ...rig.withNodes);
    assert.equal(late.code, 1);
    assert.match(late.stderr, /stopped: waiting for nodes took more than 0\.05 min: 2 of 3 nodes of pool tmp\w+ are ready, 3 are wanted; not ready: aks-tmp\w+-\d+-vmss000002\n/);
    await rig.kubernetes({ never_ready: "" });
    const other = mkdtempSync(world.file("kubernetes-"));
    await world.startSim(["--kubernetes", other]);
    const elsewhere = await heal(world, rig, "--confirm", "--nodes-min", "0.02", "--kubeconfig", path.join(other, "kubeconfig"));
    assert.equal(elsewhere.code, 1);
    assert.match(elsewhere.stderr, /took more than 0\.02 min: 0 of 0 nodes of pool tmp\w+ are ready, 3 are wanted\n/);
    assert.deepEqual(taken(rig.seen), GOLDEN.slice(0, 2), "nothing was deleted");
    const done = await heal(world, rig, "--confirm", ...rig.withNodes);
    assert.equal(done.code, 0, done.stdout + done.stderr);
    assert.deepEqual(taken(rig.seen), GOLDEN);
  },

  "while the API server is away nothing is deleted, and when it is back the run goes on": async (world) => {
    const rig = await beginWedged(world);
    const door = await freePort();  // to the API server; closed
    const kubeconfig = world.file("kubeconfig");
    const given = readFileSync(rig.withNodes[1], "utf8");
    const apiPort = Number(given.match(/127\.0\.0\.1:(\d+)/)[1]);
    writeFileSync(kubeconfig, given.replace(`:${apiPort}`, `:${door}`).replace("kubernetes-ca.pem", path.join(path.dirname(rig.withNodes[1]), "kubernetes-ca.pem")));
    const started = startHeal(world, rig, "--confirm", "--drain", "--kubeconfig", kubeconfig);
    await waitFor("a look that failed", async () => /wait +the nodes of pool tmp\w+ cannot be looked at: kubectl ended with 1: .* was refused/.test(started.log));
    await sleep(500);
    assert.deepEqual(taken(rig.seen), GOLDEN.slice(0, 2));
    const opened = net.createServer((client) => {
      const api = net.connect(apiPort, "127.0.0.1");
      client.pipe(api).pipe(client);
      for (const side of [client, api]) side.on("error", () => { client.destroy(); api.destroy(); });
    }).listen(door, "127.0.0.1");
    world.servers.push(Object.assign(opened, { closeAllConnections() {} }));
    const [code] = await started.exit;
    assert.equal(code, 0, started.log);
    assert.deepEqual(taken(rig.seen), GOLDEN);
    assert.equal((await rig.sim.control("GET", "kubernetes")).cordoned, 3);
    await assertHealed(rig);
  },

  "without quota, and with a delete that fails, it stops by name and can go on": async (world) => {
    const rig = await beginWedged(world, { wedge: { started_s: 0, on_delete: "fails" } });
    await rig.sim.addFaults([{ method: "PUT", path: "agentPools/tmp", kind: "error-quota" }]);
    const refused = await heal(world, rig, "--confirm");
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /stopped: create the pool tmp\w+ with the mode System was refused: ARM answers 409 .*[Qq]uota/);
    assert.deepEqual(taken(rig.seen), []);
    const failed = await heal(world, rig, "--confirm");
    assert.equal(failed.code, 1);
    assert.match(failed.stderr, /stopped: the delete of pool system failed; both pools are there/);
    await rig.sim.control("POST", "wedges", JSON.stringify({ cluster: CLUSTER, pool: "system", now: 0, started_s: 0, failures: 0 }));
    const done = await heal(world, rig, "--confirm");
    assert.equal(done.code, 0, done.stdout + done.stderr);
    await assertHealed(rig);
  },

  // Before sending: armgate gets the connection, and not a byte of the request. After sending: the request is on its way to ARM, which
  // takes it. After the answer: that is on its way to the run.
  "killed with -9 before, after and after the answer of each of its writes, it goes on, loses no pool and does nothing twice": async (world) => {
    const cases = [];
    for (let number = 0; number < GOLDEN.length; ++number) {
      for (const moment of ["before sending", "after sending", "after the answer"]) cases.push({ number, moment });
    }
    const lanes = [0, 1, 2].map(async (lane) => {
      for (let i = lane; i < cases.length; i += 3) await killAndGoOn(world, cases[i]);
    });
    await Promise.all(lanes);
    console.log(`        killed ${cases.length} times, 0 pools lost, 0 writes taken twice`);
  },
};

async function killAndGoOn(world, { number, moment }) {
  const what = `${GOLDEN[number]}, ${moment}`;
  let victim = null;
  const kill = () => {
    const killed = victim?.child.kill("SIGKILL");
    victim = null;
    return killed;
  };
  let writes = 0;
  const rig = await beginWedged(world, { onRequest: async ({ method }) => {
    if (method === "GET") return;
    if (writes++ === number && moment === "after sending") kill();
  } });
  // Everything between the run and armgate goes through this door, which sees whose turn it is by what ARM took so far.
  const journalOf = () => {
    const name = readdirSync(rig.runs).find((entry) => !entry.endsWith(".lock"));
    return name ? readFileSync(path.join(rig.runs, name, "journal.jsonl")).toString() : "";
  };
  const intended = () => journalOf().split('"event":"intend"').length - 1;
  const door = net.createServer((client) => {
    const last = intended() === number + 1 && victim !== null;
    if (last && moment === "before sending") {
      kill();
      client.destroy();
      return;
    }
    const upstream = net.connect(rig.gateway.port, "127.0.0.1");
    client.pipe(upstream);
    upstream.on("data", (piece) => {
      client.write(piece);
      if (moment === "after the answer" && writes === number + 1 && rig.seen.some(({ method, status }, i) => method !== "GET" && status && rig.seen.slice(0, i).filter((r) => r.method !== "GET").length === number)) kill();
    });
    upstream.on("end", () => client.end());
    for (const side of [client, upstream]) side.on("error", () => { client.destroy(); upstream.destroy(); });
  });
  door.listen(0, "127.0.0.1");
  await once(door, "listening");
  world.servers.push(Object.assign(door, { closeAllConnections() {} }));
  const { configFile, port } = rig.gateway;
  const config = JSON.parse(readFileSync(configFile));
  const throughDoor = configFile.replace("armgate.json", "door.json");
  writeFileSync(throughDoor, JSON.stringify({ ...config, listen: { ...config.listen, proxy: `127.0.0.1:${door.address().port}` } }));
  assert.notEqual(door.address().port, port);
  const viaDoor = { ...rig, gateway: { ...rig.gateway, configFile: throughDoor } };
  const started = victim = startHeal(world, viaDoor, "--confirm");
  const [, signal] = await started.exit;
  assert.equal(signal, "SIGKILL", `${what}: it was not killed\n${started.log}`);
  await sleep(50);
  const done = await heal(world, rig, "--confirm");
  assert.equal(done.code, 0, `${what}: ${done.stdout}${done.stderr}`);
  assert.deepEqual(taken(rig.seen), GOLDEN, what);
  await assertHealed(rig);
}
