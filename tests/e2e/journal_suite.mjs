// What outlives the process: armgate is killed, and the next one takes up what it finds in the journal.
import assert from "node:assert/strict";
import net from "node:net";
import { chmodSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { once } from "node:events";
import { curl, curlJson, sending } from "./curl.mjs";
import { freePort, run, sleep, withinSeconds } from "./harness.mjs";
import { PATH, SCALE_SET, patchTags, startHeldUpstream, startWithScaleSet, waitFor } from "./scale_set.mjs";
import { client, tagsOf } from "./tools.mjs";

const journalOf = (gateway) => path.join(path.dirname(gateway.configFile), "journal.db");
export const KEPT = { journal: { file: "journal.db" } };  // beside the configuration
const RESTART = `${SCALE_SET}/restart?api-version=2024-07-01`;

async function listens(port) {
  const socket = net.connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

// As when the machine runs out of memory: nothing is said, nothing is finished.
export async function kill(gateway) {
  await sleep(50);  // outcomes are on the disk a moment after the answer; until then they are in doubt
  gateway.process.child.kill("SIGKILL");
  await gateway.process.exit;
}

export async function startAgain(world, gateway) {
  const process = await world.start("armgate", ["run", "--config", gateway.configFile], () => listens(gateway.port));
  return { ...gateway, process };
}

const takesUp = (gateway, { running, in_doubt }) =>
  waitFor("the line of the log", async () => gateway.process.log.includes(`"event":"journal-taken-up","running":${running},"in_doubt":${in_doubt},"dropped":0`));

export async function history(world, gateway, ...words) {
  const asked = await run(path.join(world.bin, "armgate"), ["history", "--config", gateway.configFile, "--output", "json", ...words],
                          { env: { HOME: world.directory } });
  assert.equal(asked.code, 0, asked.stderr);
  return JSON.parse(asked.stdout.toString());
}

export const tests = {
  "an operation is held by the process that comes after the one that started it": async (world) => {
    const { gateway } = await startWithScaleSet(world, "6000", { ...KEPT, listen: { admin: `127.0.0.1:${await freePort()}` } }, ["--exclusivity", "accept"]);
    const begun = Date.now();
    assert.equal((await patchTags(world, gateway, "first", { first: "1" })).status, 200);
    await kill(gateway);
    const next = await startAgain(world, gateway);
    await takesUp(next, { running: 1, in_doubt: 0 });
    assert.deepEqual((await history(world, next)).map(({ method, state, client: who }) => [method, state, who]), [["PATCH", "running", "first"]]);
    const asked = await run(path.join(world.bin, "armgate"), ["status", "--config", next.configFile], { env: { HOME: world.directory } });
    assert.match(asked.stdout.toString(), /^runs +[0-9.]+ s  first \(before the restart\)  PATCH \/subscriptions.*, no answer about it since the restart$/m);
    const second = await patchTags(world, next, "second", { second: "1" });
    assert.equal(second.status, 200);
    assert.ok(Date.now() - begun >= 6000, "the second came before the first's operation had ended");
    assert.deepEqual((await history(world, next)).map(({ state }) => state), ["done", "running"]);
  },

  "without a journal the second write meets the first's operation": async (world) => {
    const { gateway } = await startWithScaleSet(world, "6000", {}, ["--exclusivity", "accept"]);
    const begun = Date.now();
    await patchTags(world, gateway, "first", { first: "1" });
    await kill(gateway);
    const next = await startAgain(world, gateway);
    await patchTags(world, next, "second", { second: "1" });
    assert.ok(Date.now() - begun < 6000, "this test shows what the one before is worth");
  },

  "a restart that was on its way is not carried out twice, and others wait": async (world) => {
    const { upstream } = await startHeldUpstream(world);
    const gateway = await world.startGateway(upstream, { ...KEPT, queue: { wait_max: "1s" } });
    const restart = (through) => curl(world, through, RESTART, { user: "nightly", args: ["--request", "POST", "--data-binary", "", "--max-time", "10"] });
    const lost = restart(gateway);
    await waitFor("the restart at ARM", async () => upstream.seen.length === 1);
    await kill(gateway);
    assert.notEqual((await lost).code, 0);
    const next = await startAgain(world, gateway);
    await takesUp(next, { running: 0, in_doubt: 1 });
    const again = await restart(next);
    assert.equal(again.status, 409);
    assert.equal(JSON.parse(again.body).error.code, "ArmgateOutcomeUnknown");
    const other = await curlJson(world, next, PATH, { user: "other", args: sending("PATCH", { tags: {} }) });
    assert.equal(other.status, 503, "ARM may still take the restart");
    assert.equal(upstream.seen.filter(({ method }) => method !== "GET").length, 1);
    assert.deepEqual((await history(world, next, SCALE_SET)).map(({ method, state }) => [method, state]), [["POST", "no-answer"]]);
  },

  "who read before a crash does not overwrite what somebody else wrote": async (world) => {
    const { sim, gateway } = await startWithScaleSet(world, "0", KEPT);
    const { json: seen } = await curlJson(world, gateway, PATH, { user: "one" });
    const { json: theirs } = await curlJson(world, gateway, PATH, { user: "two" });
    const put = (through, user, body) => curlJson(world, through, PATH, { user, args: sending("PUT", body) });
    assert.equal((await put(gateway, "two", { ...theirs, sku: { capacity: 7 } })).status, 200);
    await kill(gateway);
    const next = await startAgain(world, gateway);
    const stale = { ...seen, tags: { mine: "1" } };
    delete stale.etag;  // most tools drop it
    const refused = await put(next, "one", stale);
    assert.deepEqual([refused.status, refused.json.error.code], [412, "ArmgateStaleWrite"]);
    assert.match(refused.json.error.message, /is not remembered/);
    const { json: fresh } = await curlJson(world, next, PATH, { user: "one" });
    assert.equal((await put(next, "one", { ...fresh, tags: { mine: "1" } })).status, 200);
    const there = await sim.read(SCALE_SET, "2024-07-01");
    assert.deepEqual([there.sku.capacity, there.tags.mine], [7, "1"]);
    assert.equal((await sim.report()).lost_updates, 0);
  },

  "an SDK's operation goes on through the next process": async (world) => {
    const { sim, gateway } = await startWithScaleSet(world, "5000", KEPT);
    const running = client(world, gateway, "named", "js", "addTags", { client: "tool", name: "web", writes: 1 });
    await waitFor("the write at ARM", async () => (await history(world, gateway)).some(({ state }) => state === "running"));
    await kill(gateway);
    await startAgain(world, gateway);
    const told = await running;
    assert.deepEqual(told.errors, []);
    const there = tagsOf(await sim.read(SCALE_SET, "2024-07-01"));
    for (const tag of told.acknowledged) assert.ok(there.has(tag), tag);
    await waitFor("its end in the journal", async () => (await history(world, gateway)).every(({ state }) => state === "done"));
  },

  "a journal that must not be used stops the start, and says what to do": async (world) => {
    const { sim, gateway } = await startWithScaleSet(world, "0", KEPT);
    assert.equal(statSync(journalOf(gateway)).mode & 0o777, 0o600);
    await patchTags(world, gateway, "one", { a: "1" });
    const start = (configFile) => run(path.join(world.bin, "armgate"), ["run", "--config", configFile], { env: { HOME: world.directory }, seconds: 20 });
    const other = await world.configureGateway(sim, { journal: { file: journalOf(gateway) } });
    const second = await start(other.configFile);
    assert.deepEqual([second.code, /belongs to another armgate that runs/.test(second.stderr)], [3, true], second.stderr);
    rmSync(`${journalOf(gateway)}-lock`);
    const third = await start(other.configFile);
    assert.deepEqual([third.code, /belongs to another armgate that runs/.test(third.stderr)], [3, true], third.stderr);
    assert.equal((await history(world, gateway)).length, 1, "people may look");
    gateway.process.child.kill("SIGTERM");
    await withinSeconds(10, "the stop", gateway.process.exit);
    writeFileSync(journalOf(gateway), "x".repeat(10_000));
    const damaged = await start(gateway.configFile);
    assert.deepEqual([damaged.code, /move it away/.test(damaged.stderr)], [1, true], damaged.stderr);
    const none = await world.configureGateway(sim);
    const asked = await run(path.join(world.bin, "armgate"), ["history", "--config", none.configFile], { env: { HOME: world.directory } });
    assert.deepEqual([asked.code, /journal.file is not set/.test(asked.stderr)], [1, true], asked.stderr);
  },

  "a journal that cannot grow refuses writes, and the metric says when it can again though nobody writes": async (world) => {
    const admin = await freePort();
    const { gateway } = await startWithScaleSet(world, "0", { ...KEPT, listen: { admin: `127.0.0.1:${admin}` } });
    const log = `${journalOf(gateway)}-wal`;
    for (let i = 0; statSync(log).size < 65536; ++i) assert.equal((await patchTags(world, gateway, "one", { at: String(i) })).status, 200);
    await sleep(50);  // outcomes are written a moment after the answer
    const limit = (bytes) => run("prlimit", [`--pid=${gateway.process.child.pid}`, `--fsize=${bytes}:unlimited`]);
    const says = async (number) => {
      const asked = await run("curl", ["--silent", `http://127.0.0.1:${admin}/metrics`]);
      return asked.stdout.toString().includes(`\narmgate_journal_writable ${number}\n`);
    };
    assert.ok(await says(1));
    assert.equal((await limit(statSync(log).size)).code, 0);
    const refused = await patchTags(world, gateway, "one", { refused: "1" });
    assert.deepEqual([refused.status, refused.headers["x-armgate-reason"]], [503, "journal-unavailable"]);
    await sleep(1500);
    assert.ok(await says(0));
    assert.equal((await limit("unlimited")).code, 0);
    await waitFor("the metric", () => says(1));
    assert.match(gateway.process.log, /"event":"attention".*cannot be used[^]*"event":"attention".*is written again/);
    assert.equal((await patchTags(world, gateway, "one", { taken: "1" })).status, 200);
  },

  // The kubelet lets the group at each file of a volume with an fsGroup.
  "a journal that a group was let at is made private again by the next start": async (world) => {
    const { gateway } = await startWithScaleSet(world, "0", KEPT);
    await patchTags(world, gateway, "one", { a: "1" });
    await kill(gateway);
    const files = [journalOf(gateway), `${journalOf(gateway)}-wal`, `${journalOf(gateway)}-shm`];
    for (const file of files) chmodSync(file, 0o660);
    const next = await startAgain(world, gateway);
    assert.equal((await patchTags(world, next, "one", { b: "2" })).status, 200);
    for (const file of files) assert.equal(statSync(file).mode & 0o777, 0o600, file);
  },

  "no secret is in the file, and what ended in order leaves nothing to take up": async (world) => {
    const { gateway } = await startWithScaleSet(world, "0", KEPT);
    const patched = await patchTags(world, gateway, "one", { body: "do-not-keep-this" });  // with "Bearer token-of-the-test"
    assert.equal(patched.status, 200);
    gateway.process.child.kill("SIGTERM");
    await withinSeconds(10, "the stop", gateway.process.exit);
    const found = await run("grep", ["-c", "-a", "-E", "do-not-keep|token-of-the|Bearer", journalOf(gateway)]);
    assert.equal(found.stdout.toString().trim(), "0");
    const named = await run("grep", ["-c", "-a", "virtualMachineScaleSets/web", journalOf(gateway)]);
    assert.notEqual(named.stdout.toString().trim(), "0", "the records are in the file itself after an orderly end");
    const next = await startAgain(world, gateway);
    await sleep(200);
    assert.doesNotMatch(next.process.log, /journal-taken-up/);
  },
};
