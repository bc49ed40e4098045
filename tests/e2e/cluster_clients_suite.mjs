// Real clients that race over three replicas behind a balancer, which leads each of their connections to one that a seed draws.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Balancer } from "./balancer.mjs";
import { startSim } from "./cluster_race.mjs";
import { Cluster, drawn, Postgres } from "./engines.mjs";
import { sleep } from "./harness.mjs";
import { racersOf, single } from "./races.mjs";
import { missing, race, say, SCALE_SET, tagsOf } from "./tools.mjs";

const RACERS = ["js", "python", "go", "curl"].flatMap((kind) => racersOf(kind, 2));
const DONE = ["acknowledged", "found", "done but refused"];
const HARMS = ["lost_updates", "vanished", "overlaps_attempted", "overlaps_accepted", "applied_twice"];

async function startBehindBalancer(world, seed) {
  const [sim, postgres] = await Promise.all([startSim(world, ["--operation-ms", "100", "--retry-after", "0", "--exclusivity", "accept"]), Postgres.make(world)]);
  const config = { ...single(RACERS.map(({ client }) => client)), operations: { poll_first: "200ms", poll_waited: "200ms" } };
  const cluster = await Cluster.start(world, sim, postgres.url, { admin: true, lease: 3, config });
  const balancer = await Balancer.start(world, cluster, { draw: drawn(seed) });
  const [{ configFile, caFile }] = cluster.replicas;
  // For `armgate env`, which tells clients where the proxy is.
  const text = JSON.parse(readFileSync(configFile));
  text.listen.proxy = `127.0.0.1:${balancer.port}`;
  const behind = path.join(path.dirname(configFile), "balancer.json");
  writeFileSync(behind, JSON.stringify(text));
  return { sim, cluster, balancer, gateway: { port: balancer.port, configFile: behind, caFile } };
}

// Each client adds `writes` tags to one scale set, by reading it and writing it back whole, and looks into what goes wrong by reading.
async function raceBehind(world, seed, writes, meanwhile = async () => {}) {
  const { sim, cluster, balancer, gateway } = await startBehindBalancer(world, seed);
  const racing = race(world, gateway, "named", "addTags", RACERS, { name: "web", writes, persist: true, fresh: true, seconds: 150 });
  racing.catch(() => {});
  await meanwhile(sim, cluster);
  const { adds } = await racing;
  await balancer.stop();
  const present = tagsOf(await sim.read(SCALE_SET.id, SCALE_SET.version));
  const report = await sim.report();
  const lost = missing(adds.filter(({ outcome }) => DONE.includes(outcome)).map(({ name }) => name), present);
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

export const tests = {
  "real clients race over three replicas: nothing is lost or done twice": async (world) => {
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
    // What a killed process breaks, where a client does not send it again by itself; and what nobody can know.
    const known = /ArmgateOutcomeUnknown|Armgate\w*Busy|ECONN|ECONNRESET|socket|[Cc]onnection|EOF|reset|Tunnel|proxy|"status":"(000|409|502|503)"/;
    for (const failure of failures) assert.match(JSON.stringify(failure), known);
  },
};
