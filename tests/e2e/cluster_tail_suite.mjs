// An engine that is another after a failover: it lost the end of the log, its clock is behind, and what else may have become of the newest row.
import assert from "node:assert/strict";
import { startSim } from "./cluster_race.mjs";
import { Cluster, Postgres } from "./engines.mjs";
import { sleep } from "./harness.mjs";
import { PATH } from "./scale_set.mjs";

async function startTwo(world) {
  const [sim, postgres] = await Promise.all([startSim(world, ["--operation-ms", "0"]), Postgres.make(world)]);
  const cluster = await Cluster.start(world, sim, postgres.url, { count: 2, lease: 60 });
  for (const number of [0, 1]) assert.equal((await cluster.ask(number, "reader", "GET", PATH)).status, 200);
  await sleep(2000);  // until both have read what the other told
  return { postgres, cluster };
}

const CONNECTIONS = "from pg_stat_activity where application_name = 'armgate'";

// As at a failover: the engine is another, and connections break.
async function becomeAnother(postgres, statement) {
  await postgres.sql(`${statement}; select pg_terminate_backend(pid) ${CONNECTIONS}`);
}

async function assertAllEnd(cluster) {
  for (const { process } of cluster.replicas) {
    assert.deepEqual(await process.exit, { code: 75, signal: null });
    assert.match(process.log, /engine has lost rows of the log that it had acknowledged/);
  }
}

const NEWEST = "number = (select number from armgate.head)";

export const tests = {
  "an engine that lost rows is found out though others have written as many again": async (world) => {
    const { postgres, cluster } = await startTwo(world);
    await becomeAnother(postgres, `update armgate.log set replica = 4711, batch = 1, dead = '{}', events = '' where ${NEWEST}`);
    await assertAllEnd(cluster);
  },

  "an engine that lost rows is found out though others have written more": async (world) => {
    const { postgres, cluster } = await startTwo(world);
    await becomeAnother(postgres, `update armgate.log set batch = batch + 1000, at = at + interval '1 second' where ${NEWEST};
      with head as (update armgate.head set number = number + 1 returning number)
      insert into armgate.log select number, clock_timestamp(), 4711, 1, '{}', false, '' from head`);
    await assertAllEnd(cluster);
  },

  "a newest row that was deleted for its age is no lost row": async (world) => {
    const { postgres, cluster } = await startTwo(world);
    const old = await postgres.sql(`select string_agg(pid::text, ',') ${CONNECTIONS}`);
    await becomeAnother(postgres, "delete from armgate.log");
    for (const begun = Date.now(); (await postgres.sql(`select count(*) ${CONNECTIONS} and pid not in (${old.trim()})`)).trim() !== "2"; await sleep(100)) {
      assert.ok(Date.now() - begun < 20_000, "they do not connect again");
    }
    for (const number of [0, 1]) assert.equal((await cluster.ask(number, "reader", "GET", PATH)).status, 200);
    for (const { process } of cluster.replicas) assert.equal(process.exited, null, process.log.slice(-2000));
  },

  "replicas start although the engine's clock is behind by more than a lease": async (world) => {
    const [sim, postgres] = await Promise.all([startSim(world, ["--operation-ms", "0"]), Postgres.make(world)]);
    const cluster = await Cluster.start(world, sim, postgres.url, { count: 2 });
    await postgres.sql("with head as (update armgate.head set at = at + interval '1 hour') update armgate.replica set alive_until = alive_until + interval '1 hour'");
    await cluster.kill(1);
    await cluster.startReplica(1);
    await sleep(4000);  // each appends every second
    for (const { process } of cluster.replicas) assert.equal(process.exited, null, process.log.slice(-2000));
    assert.equal((await cluster.ask(1, "reader", "GET", PATH)).status, 200);
  },
};
