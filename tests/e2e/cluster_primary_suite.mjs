// An engine that is not as armgate would have it: two servers that take writes, a role with settings of its own, a commit that no
// standby has, no room for a row.
import assert from "node:assert/strict";
import { startSim } from "./cluster_race.mjs";
import { Cluster, Postgres } from "./engines.mjs";
import { changeConfig, sleep } from "./harness.mjs";
import { PATH, waitFor } from "./scale_set.mjs";

const urlOf = (...servers) => `postgres://armgate@${servers.map(({ port }) => `127.0.0.1:${port}`).join(",")}/postgres?sslmode=disable`;
const patch = (cluster, number, user, seconds = 60) => cluster.ask(number, user, "PATCH", PATH, { body: { tags: { [user]: "1" } }, seconds });
const read = (cluster, number) => cluster.ask(number, "reader", "GET", PATH, { seconds: 15 });
const allLive = (cluster) => cluster.replicas.forEach(({ process }) => assert.equal(process.exited, null, process.log.slice(-2000)));
const tagsAtArm = async (sim) => (await sim.read(PATH.split("?")[0], "2024-07-01")).tags ?? {};

const SETTINGS = ["bytea_output = 'escape'", "default_transaction_isolation = 'serializable'", "idle_session_timeout = '500ms'",
                  "client_min_messages = 'error'", "lock_timeout = '10ms'", "statement_timeout = '300ms'"];
const FULL = `create function armgate.full() returns trigger language plpgsql as $$ begin
  raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$;
  create trigger full_up before insert on armgate.log for each row execute function armgate.full()`;

export const tests = {
  "what an administrator set for the role changes nothing": async (world) => {
    const [sim, postgres] = await Promise.all([startSim(world, ["--operation-ms", "0"]), Postgres.make(world)]);
    const cluster = await Cluster.configure(world, sim, postgres.url);
    for (const setting of SETTINGS) await postgres.sql(`alter role armgate set ${setting}`);
    await Promise.all([0, 1, 2].map((number) => cluster.startReplica(number)));
    for (let round = 0; round < 3; ++round) {
      for (const number of [0, 1, 2]) {
        assert.equal((await patch(cluster, number, `writer-${number}`)).status, 200);
        assert.equal((await read(cluster, (number + 1) % 3)).status, 200);
      }
      await sleep(700);
    }
    allLive(cluster);
  },

  "a commit that no standby has is no record, whatever messages the role gets": async (world) => {
    const [sim, primary] = await Promise.all([startSim(world, ["--operation-ms", "0"]), Postgres.make(world)]);
    const standby = await primary.makeStandby();
    await primary.sql("alter role armgate set client_min_messages = 'error'");
    const cluster = await Cluster.start(world, sim, primary.url, { count: 2, lease: 4 });
    assert.equal((await patch(cluster, 0, "first")).status, 200);
    await standby.kill();
    const waits = patch(cluster, 0, "second");
    for (let second = 0; second < 8; ++second) {
      await sleep(1000);
      await primary.sql("select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'");
    }
    assert.equal((await tagsAtArm(sim)).second, undefined, "a write was sent whose record no standby has");
    await standby.start();
    const answer = await waits;
    assert.ok([200, 503].includes(answer.status), answer.body);
  },

  "an old primary that lives on is left for the one that was promoted": async (world) => {
    const [sim, old] = await Promise.all([startSim(world, ["--operation-ms", "0"]), Postgres.make(world)]);
    const promoted = await old.makeStandby();
    await old.makeStandby();  // so that the old primary goes on taking writes
    const cluster = await Cluster.configure(world, sim, urlOf(old, promoted), { count: 2, lease: 4 });
    changeConfig(cluster.replicas[1], (config) => { config.cluster.engine = urlOf(promoted, old); });
    await Promise.all([0, 1].map((number) => cluster.startReplica(number)));
    for (const number of [0, 1]) assert.equal((await read(cluster, number)).status, 200);
    await promoted.promote();
    // What the new one lacks of the log ends a replica, which is started again and finds the new one.
    const atThePromoted = async (number) => {
      if (cluster.replicas[number].process.exited) await cluster.startReplica(number);
      return /more than one of the cluster's servers takes writes: .* is the primary: stop the other/.test(cluster.replicas[number].process.log);
    };
    for (const number of [0, 1]) await waitFor(`replica ${number} to find the new primary`, () => atThePromoted(number));
    await sleep(1000);
    const headOf = async (server) => (await server.sql("select number, at from armgate.head")).trim();
    const [before, ahead] = [await headOf(old), await headOf(promoted)];
    for (const number of [0, 1]) {
      assert.equal((await read(cluster, number)).status, 200);
      assert.equal((await patch(cluster, number, `after-${number}`)).status, 200);
    }
    assert.equal(await headOf(old), before, "the old primary is used still");
    assert.notEqual(await headOf(promoted), ahead);
    await old.kill();
    await waitFor("that it is over to be told", async () => cluster.replicas.every(({ process }) => process.log.includes("no longer so: more than one of the cluster's servers takes writes")));
  },

  "replicas to which the engine refuses rows are not taken for dead": async (world) => {
    const [sim, postgres] = await Promise.all([startSim(world, ["--operation-ms", "0"]), Postgres.make(world)]);
    const cluster = await Cluster.start(world, sim, postgres.url, { lease: 3 });
    assert.equal((await patch(cluster, 0, "before")).status, 200);
    await postgres.sql(FULL);
    const waiting = [0, 1].map((number) => patch(cluster, number, `writer-${number}`));
    await sleep(10_000);
    assert.equal((await postgres.sql("select count(*) from armgate.replica where dead")).trim(), "0");
    await postgres.sql("drop trigger full_up on armgate.log");
    for (const { status, body } of await Promise.all(waiting)) assert.equal(status, 200, body);
    await sleep(4000);
    assert.equal((await postgres.sql("select count(*) from armgate.replica where dead")).trim(), "0");
    allLive(cluster);
  },
};
