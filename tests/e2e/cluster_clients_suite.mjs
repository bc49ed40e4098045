// Real clients that race over three replicas behind a balancer, which leads each of their connections to one that a seed draws.
import assert from "node:assert/strict";
import path from "node:path";
import { Balancer } from "./balancer.mjs";
import { HARMS, startSim } from "./cluster_race.mjs";
import { Cluster, drawn, Postgres } from "./engines.mjs";
import { changeConfig, sleep } from "./harness.mjs";
import { racersOf, single } from "./races.mjs";
import { missing, race, say, SCALE_SET, tagsOf } from "./tools.mjs";

const RACERS = ["js", "python", "go", "curl"].flatMap((kind) => racersOf(kind, 2));
const DONE = ["acknowledged", "found", "done but refused"];

const SIM_ARGS = ["--operation-ms", "100", "--retry-after", "0", "--url-escapes", "none", "--exclusivity", "accept"];
const settingsOf = (writes) => ({ name: "web", writes, persist: true, fresh: true, seconds: 150 });

const lostOf = async (sim, adds) => missing(adds.filter(({ outcome }) => DONE.includes(outcome)).map(({ name }) => name),
                                            tagsOf(await sim.read(SCALE_SET.id, SCALE_SET.version)));

async function startBehindBalancer(world, seed) {
  const [sim, postgres] = await Promise.all([startSim(world, SIM_ARGS), Postgres.make(world)]);
  const config = { ...single(RACERS.map(({ client }) => client)), operations: { poll_first: "200ms", poll_waited: "200ms" } };
  const cluster = await Cluster.start(world, sim, postgres.url, { admin: true, lease: 3, config });
  const balancer = await Balancer.start(world, cluster, { draw: drawn(seed) });
  const [{ configFile, caFile }] = cluster.replicas;
  // For `armgate env`, which tells clients where the proxy is.
  const behind = path.join(path.dirname(configFile), "balancer.json");
  changeConfig({ configFile }, (config) => { config.listen.proxy = `127.0.0.1:${balancer.port}`; }, behind);
  return { sim, cluster, balancer, gateway: { port: balancer.port, configFile: behind, caFile } };
}

// Each client adds `writes` tags to one scale set, by reading it and writing it back whole, and looks into what goes wrong by reading.
async function raceBehind(world, seed, writes, meanwhile = async () => {}) {
  const { sim, cluster, balancer, gateway } = await startBehindBalancer(world, seed);
  const racing = race(world, gateway, "named", "addTags", RACERS, settingsOf(writes));
  racing.catch(() => {});
  await meanwhile(sim, cluster);
  const { adds } = await racing;
  await balancer.stop();
  const report = await sim.report();
  const lost = await lostOf(sim, adds);
  const sum = (member) => adds.reduce((total, add) => total + add[member], 0);
  const failures = adds.flatMap(({ unsure }) => unsure);
  say(`${adds.length} adds of ${RACERS.length} clients, ${lost.length} lost, ${report.applied_twice} twice, ${sum("refused")} refused ` +
      `(${sum("undeserved")} without a change by others), ${failures.length} other failures; ${balancer.led.join(", ")} connections, ${balancer.refused} refused`);
  assert.deepEqual(adds.filter(({ outcome }) => !DONE.includes(outcome)), []);
  assert.equal(adds.length, RACERS.length * writes);
  assert.deepEqual(lost, [], "done and lost");
  for (const harm of HARMS) assert.equal(report[harm], 0, `${harm}\n${report.findings.join("\n")}`);
  assert.ok(balancer.led.every((count) => count >= RACERS.length), `connections: ${balancer.led}`);
  return { adds, failures, balancer };
}

// What a killed process breaks, where a client does not send it again by itself. The clients' programs each have their way to say so.
function isBrokenConnection(failure) {
  if (typeof failure === "string") return /EOF|connection reset|broken pipe|connection refused/.test(failure) && !/StatusCode=[1-9]/.test(failure);
  return failure.status === 0 || failure.status === "000";
}

// It was at ARM when the replica died that it came through.
const isOutcomeUnknown = (failure) => /ArmgateOutcomeUnknown/.test(JSON.stringify(failure)) || failure.status === "409";

// The same without protection: else the race would be no test.
async function assertLosesUnprotected(world) {
  const sim = await startSim(world, SIM_ARGS);
  const gateway = await world.startGateway(sim, { mode: "off" });
  const { adds } = await race(world, gateway, "named", "addTags", RACERS, settingsOf(2));
  assert.notEqual((await lostOf(sim, adds)).length, 0, "nothing was lost even without protection");
}

export const tests = {
  "real clients race over three replicas: nothing is lost or done twice": async (world) => {
    await assertLosesUnprotected(world);
    const { adds, failures } = await raceBehind(world, 1, 4);
    assert.deepEqual(failures, [], "412 is the only refusal");
    assert.deepEqual(adds.filter(({ outcome }) => outcome !== "acknowledged"), []);
  },

  "real clients race over three replicas, one of which is killed: nothing is lost or done twice": async (world) => {
    const { failures } = await raceBehind(world, 2, 5, async (sim, cluster) => {
      // In the middle of it.
      while (tagsOf(await sim.read(SCALE_SET.id, SCALE_SET.version)).size < 8) await sleep(50);
      await cluster.kill(1);
      await sleep(4000);
      await cluster.startReplica(1);
    });
    for (const failure of failures) say(JSON.stringify(failure));
    assert.deepEqual(failures.filter((failure) => !isBrokenConnection(failure) && !isOutcomeUnknown(failure)), []);
  },
};
