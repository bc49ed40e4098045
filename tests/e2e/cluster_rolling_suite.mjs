// A cluster behind a balancer of connections that asks /readyz, as a Service in Kubernetes does: what its clients see of a rolling restart.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { Balancer } from "./balancer.mjs";
import { makeScaleSet, startSim } from "./cluster_race.mjs";
import { Cluster, drawn, Postgres } from "./engines.mjs";
import { sleep } from "./harness.mjs";
import { PATH, SCALE_SET, waitFor } from "./scale_set.mjs";

const CLIENTS = [0, 1, 2, 3, 4, 5];
const pathOf = (number) => PATH.replace("/web?", `/web-${number}?`);

// Each client has a resource of its own, and each request a connection of its own. What is not answered, or not well, is kept.
async function work(behind, client, isOver, seen) {
  const draw = drawn(client + 1);
  for (let number = 0; !isOver(); ++number) {
    const what = draw(3) === 0 ? ["PATCH", { body: { tags: { base: "1", [`c${client}`]: String(number) } } }] : ["GET", {}];
    const answer = await behind.ask(behind.replicas.length - 1, `client-${client}`, what[0], pathOf(client), { ...what[1], seconds: 30 })
      .catch((error) => ({ status: 0, body: String(error) }));
    seen.requests += 1;
    if (answer.status !== 200) seen.bad.push(`${what[0]} ${answer.status} ${answer.body}`);
    await sleep(draw(40));
  }
}

export const tests = {
  "a replica that is configured otherwise than the others is told of, until it is not": async (world) => {
    const [sim, postgres] = await Promise.all([startSim(world), Postgres.make(world)]);
    const cluster = await Cluster.configure(world, sim, postgres.url, { count: 2 });
    const { configFile } = cluster.replicas[1];
    const alike = readFileSync(configFile);
    writeFileSync(configFile, JSON.stringify({ ...JSON.parse(alike), mode: "observe", clients: { ci: { actor: "single" } } }));
    await cluster.startReplica(0);
    await cluster.startReplica(1);
    const logs = cluster.replicas.map(({ process }) => process);
    const odd = /replica replica-1 \(\d+\) is configured otherwise than replica-0 \(\d+\): clients, mode \(\\*"observe\\*" and not \\*"protect\\*"\)/;
    await waitFor("the first replica tells of the second", () => odd.test(logs[0].log));
    assert.match(logs[1].log, /replica replica-0 \(\d+\) is configured otherwise than replica-1/, "it joined later and says so at once");
    assert.match((await cluster.command("status")).stderr.toString(), odd);
    // The mode can be changed at run time; clients' entries cannot.
    writeFileSync(configFile, JSON.stringify({ ...JSON.parse(alike), clients: { ci: { actor: "single" } } }));
    logs[1].child.kill("SIGHUP");
    await waitFor("the mode is the same now", () => /than replica-0 \(\d+\): clients\./.test(logs[0].log));
    writeFileSync(configFile, alike);
    logs[1].child.kill("SIGTERM");
    await logs[1].exit;
    await cluster.startReplica(1);
    await waitFor("nothing differs", () => /no longer so: replica replica-1 \(\d+\) is configured otherwise than replica-0 \(\d+\): clients\./.test(logs[0].log));
    assert.doesNotMatch((await cluster.command("status")).stderr.toString(), /configured otherwise/);
  },

  "clients see nothing of a rolling restart of three replicas behind a balancer": async (world) => {
    const [sim, postgres] = await Promise.all([startSim(world, ["--operation-ms", "200", "--latency-ms", "20", "20"]), Postgres.make(world)]);
    for (const number of CLIENTS) await makeScaleSet(sim, SCALE_SET.replace(/web$/, `web-${number}`));
    const cluster = await Cluster.start(world, sim, postgres.url, { admin: true, lease: 10, config: { drain_delay: "2s", log: { level: "info" } } });
    const balancer = await Balancer.start(world, cluster);
    const behind = Object.assign(new Cluster(), { world, replicas: [...cluster.replicas, { port: balancer.port, caFile: cluster.replicas[0].caFile }] });
    const seen = { requests: 0, bad: [] };
    let over = false;
    const working = Promise.all(CLIENTS.map((client) => work(behind, client, () => over, seen)));
    await sleep(1000);
    for (const number of [0, 1, 2]) {
      const { process } = cluster.replicas[number];
      const begun = Date.now();
      process.child.kill("SIGTERM");
      assert.deepEqual(await process.exit, { code: 0, signal: null });
      assert.ok(Date.now() - begun >= 2000, "it did not wait for the balancer");
      await cluster.startReplica(number);
      await sleep(1500);
    }
    over = true;
    await working;
    await balancer.stop();
    console.log(`        ${seen.requests} requests, ${seen.bad.length} not well, ${balancer.refused} connections refused; led ${balancer.led.join(", ")}`);
    assert.deepEqual(seen.bad, []);
    assert.equal(balancer.refused, 0);
    assert.ok(seen.requests > 100 && balancer.led.every((count) => count > 10));
    const report = await sim.report();
    for (const harm of ["lost_updates", "vanished", "applied_twice"]) assert.equal(report[harm], 0, `${harm}: ${report.findings.join("\n")}`);
  },
};
