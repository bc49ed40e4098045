// armgate heal with a kubeconfig: the real kubectl against the simulated cluster's Kubernetes API, which waits, drains and refuses.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import net from "node:net";
import path from "node:path";
import { freePort, sleep } from "./harness.mjs";
import { assertHealed, beginWedged, GOLDEN, heal, startHeal, taken, TOKEN } from "./heal.mjs";
import { waitFor } from "./scale_set.mjs";

// The command lines of all processes that name the file.
const processesWith = (file) => readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map((id) => {
  try {
    return readFileSync(`/proc/${id}/cmdline`, "utf8");
  } catch {
    return "";  // it has ended meanwhile
  }
}).filter((line) => line.includes(file));

// A run that drains nodes whose pods do not go.
async function startDraining(world) {
  const rig = await beginWedged(world);
  await rig.kubernetes({ workloads: [{ name: "shop", pool: "system", replicas: 2, min_available: 2 }] });
  const started = startHeal(world, rig, "--confirm", "--drain", ...rig.withNodes);
  await waitFor("an eviction", async () => (await rig.sim.control("GET", "kubernetes")).refused > 0);
  return { rig, started };
}

export const tests = {
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

  "pods that do not go within their time are told, and go with their nodes": async (world) => {
    const rig = await beginWedged(world);
    await rig.kubernetes({ workloads: [{ name: "shop", pool: "system", replicas: 2, min_available: 2 }] });
    const before = Object.keys((await rig.sim.control("GET", "kubernetes")).pods);
    const done = await heal(world, rig, "--confirm", "--drain", "--drain-min", "0.1", ...rig.withNodes);
    assert.equal(done.code, 0, done.stdout + done.stderr);
    assert.match(done.stdout.toString(), /drain +warning +not every pod went: default\/shop-1, default\/shop-2( \(the 0\.1 min of --drain-min were over before kubectl had tried every node\))?\n/);
    assert.deepEqual(taken(rig.seen), GOLDEN);
    const seen = await rig.sim.control("GET", "kubernetes");
    assert.deepEqual([seen.cordoned, seen.evicted], [3, 0]);
    assert.ok(seen.refused > 0);
    for (const pod of before) assert.ok(!(pod in seen.pods), `${pod} went with its node`);
    assert.equal(Object.values(seen.pods).filter((node) => node !== "").length, 2, "their successors stand elsewhere");
    await assertHealed(rig);
  },

  "--drain-min is for all of the drain, however many nodes there are": async (world) => {
    const rig = await beginWedged(world, { pool: { count: 6 } });
    await rig.kubernetes({ workloads: [{ name: "shop", pool: "system", replicas: 6, min_available: 6 }] });
    const began = Date.now();
    const done = await heal(world, rig, "--confirm", "--drain", "--drain-min", "0.1", ...rig.withNodes);
    assert.equal(done.code, 0, done.stdout + done.stderr);
    assert.match(done.stdout.toString(), /drain +warning +not every pod went: default\/shop-\d.* \(the 0\.1 min of --drain-min were over before kubectl had tried every node\)\n/);
    assert.ok(Date.now() - began < 45_000, `${Date.now() - began} ms: each node had its own 6 s before, and more`);
    assert.deepEqual(taken(rig.seen), GOLDEN);
  },

  "what was begun with a kubeconfig and a drain goes on with both, and a file that cannot be used is refused": async (world) => {
    const rig = await beginWedged(world);
    await rig.kubernetes({ never_ready: "vmss000002" });
    const kubeconfig = world.file("own-kubeconfig");
    writeFileSync(kubeconfig, readFileSync(rig.withNodes[1], "utf8").replace("kubernetes-ca.pem", path.join(path.dirname(rig.withNodes[1]), "kubernetes-ca.pem")));
    const late = await heal(world, rig, "--confirm", "--nodes-min", "0.02", "--kubeconfig", kubeconfig, "--drain");
    assert.match(late.stderr, /stopped: waiting for nodes took more than 0\.02 min: /);
    renameSync(kubeconfig, `${kubeconfig}.away`);
    const without = await heal(world, rig, "--confirm");
    assert.equal(without.code, 1);
    assert.match(without.stderr, /there is no file \S+own-kubeconfig that can be read \(--kubeconfig\); run \S+ looks at nodes with it: name another file, or go on without looking at them: --without-kubeconfig/);
    assert.deepEqual(taken(rig.seen), GOLDEN.slice(0, 2), "nothing was deleted");
    renameSync(`${kubeconfig}.away`, kubeconfig);
    await rig.kubernetes({ never_ready: "" });
    const done = await heal(world, rig, "--confirm");
    assert.equal(done.code, 0, done.stdout + done.stderr);
    assert.match(done.stdout.toString(), /is taken up, with the api-version \S+, and nodes are looked at with \S+own-kubeconfig\n/);
    assert.match(done.stdout.toString(), /drain +done +the nodes of pool system are cordoned/);
    assert.equal((await rig.sim.control("GET", "kubernetes")).cordoned, 3);
    await assertHealed(rig);
  },

  "a kubeconfig or kubectl that cannot be used is told before anything is changed, in a dry run too": async (world) => {
    const rig = await beginWedged(world);
    const empty = mkdtempSync(world.file("path-"));
    for (const [what, begun, flags, words] of [
      ["no such file", rig, ["--kubeconfig", "/nowhere/kubeconfig"], /there is no file \/nowhere\/kubeconfig that can be read/],
      ["no kubeconfig", rig, ["--kubeconfig", rig.gateway.configFile], /cannot be used with kubectl \(--kubeconfig\): kubectl ended with 1/],
      ["no kubectl", { ...rig, env: { ARMGATE_HEAL_TOKEN: TOKEN, PATH: empty } }, rig.withNodes, /cannot be used with kubectl/],
    ]) {
      const plan = await heal(world, begun, ...flags);
      assert.deepEqual([plan.code, /REFUSED +kubectl/.test(plan.stdout), words.test(plan.stdout)], [1, true, true], `${what}: ${plan.stdout}${plan.stderr}`);
      const refused = await heal(world, begun, "--confirm", ...flags);
      assert.deepEqual([refused.code, words.test(refused.stderr)], [1, true], `${what}: ${refused.stdout}${refused.stderr}`);
    }
    assert.deepEqual(rig.seen.filter(({ method }) => method !== "GET"), []);
    const plan = await heal(world, rig, ...rig.withNodes);
    assert.match(plan.stdout.toString(), /holds +kubectl +kubectl is there and reads /);
  },

  "a drain ends with the run, however that ends, and the way back names the cordoned nodes": async (world) => {
    const { rig, started } = await startDraining(world);
    started.child.kill("SIGKILL");
    await started.exit;
    await waitFor("kubectl's end", async () => processesWith(rig.withNodes[1]).length === 0);
    const undone = await heal(world, rig, "--undo", "--confirm");
    assert.equal(undone.code, 0, undone.stdout + undone.stderr);
    assert.match(undone.stdout.toString(), /undone: .*; its nodes may be cordoned: kubectl uncordon --selector agentpool=system\n/);
  },

  "Ctrl-C while it drains deletes nothing": async (world) => {
    const { rig, started } = await startDraining(world);
    started.child.kill("SIGINT");
    const [code] = await started.exit;
    assert.deepEqual([code, /armgate: interrupted/.test(started.log)], [1, true], started.log);
    assert.match(started.log, /to go back: kubectl uncordon --selector agentpool=system/);
    assert.deepEqual(taken(rig.seen), GOLDEN.slice(0, 2));
  },
};
