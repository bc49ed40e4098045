// What the engine of a cluster does, and what is said of it: a primary that is silent, a standby that is lost, a role that may see little.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { startSim } from "./cluster_race.mjs";
import { Cluster, Postgres } from "./engines.mjs";
import { run, sleep } from "./harness.mjs";
import { PATH, waitFor } from "./scale_set.mjs";

const APPENDERS_LOCK = "select pg_advisory_xact_lock(27428886952375397)";
const WAIT_FOR_LOCK = "select count(*) from pg_stat_activity where wait_event = 'advisory'";
const WAIT_FOR_TABLE = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and wait_event = 'relation'";
const BACKENDS = "select count(*) from pg_stat_activity where application_name = 'armgate'";

// A client of the engine that keeps a lock until it is told to end.
async function takeLock(postgres, statements) {
  const holder = spawn("psql", ["-At", postgres.url], { stdio: ["pipe", "pipe", "inherit"] });
  let said = "";
  holder.stdout.on("data", (text) => { said += text; });
  holder.stdin.write(`begin; ${statements}; select 'locked';\n`);
  await waitFor("the lock", async () => said.includes("locked"));
  return (more = "commit") => holder.stdin.end(`${more};\n`);
}

// Who starts from now on is stopped when it asks for the first rows, and not before, when it asks where they begin and has that planned.
async function stopAtRows(postgres) {
  const lock = () => takeLock(postgres, "lock table armgate.log in access exclusive mode");
  const waiting = (count) => waitFor(`${count} to wait`, async () => (await postgres.sql(WAIT_FOR_TABLE)).trim() === `${count}`);
  let letGo = await lock();
  return async () => {
    for (const _ of ["where they begin", "the plan"]) {
      await waiting(1);
      const next = lock();
      await waiting(2);
      letGo();
      letGo = await next;
    }
    await waiting(1);
    return letGo;
  };
}

const addRows = (count) => `with head as (update armgate.head set number = number + ${count} returning number)
  insert into armgate.log select number - ${count} + n, clock_timestamp(), 0, -n, '{}', false, '' from head, generate_series(1, ${count}) n`;

async function startWithStandby(world, options = {}) {
  const [sim, primary] = await Promise.all([startSim(world, ["--operation-ms", "0"]), Postgres.make(world)]);
  const standby = await primary.makeStandby();
  const url = `postgres://armgate@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/postgres?sslmode=disable`;
  return { sim, primary, standby, cluster: await Cluster.start(world, sim, url, options) };
}

const patchAt = (cluster, number, user) => cluster.ask(number, user, "PATCH", PATH, { body: { tags: { [user]: "1" } }, seconds: 30 });

const readsAt = (cluster, number) => cluster.ask(number, "reader", "GET", PATH, { seconds: 15 }).then(({ status }) => status).catch(({ message }) => message);
const saidBy = (cluster, number, text) => waitFor(`replica ${number} to say ${text}`, async () => cluster.replicas[number].process.log.includes(text));

// To be started again, each with that in its log.
async function allEnd(cluster, why) {
  for (const { process } of cluster.replicas) {
    assert.deepEqual(await process.exit, { code: 75, signal: null });
    assert.match(process.log, why);
  }
}

export const tests = {
  "a standby that is promoted while the old primary is silent is found": async (world) => {
    const { primary, standby, cluster } = await startWithStandby(world);
    assert.equal(await readsAt(cluster, 0), 200);
    primary.freeze();
    await sleep(500);
    await standby.promote();
    const begun = Date.now();
    while (!(await Promise.all([0, 1, 2].map((number) => readsAt(cluster, number)))).every((status) => status === 200)) {
      assert.ok(Date.now() - begun < 25_000, "no replica has found the new primary");
      await sleep(500);
    }
    const status = await cluster.command("status");
    assert.equal(status.code, 0, status.stderr.toString());
    // Nobody stands by the new one: the promise is weaker, and all say so.
    for (const number of [0, 1, 2]) await saidBy(cluster, number, "no synchronous standby (synchronous_standby_names)");
    for (const { process } of cluster.replicas) assert.equal(process.exited, null, "a replica ended");
    primary.thaw();
  },

  "a lost standby costs each replica one connection, and its return ends the wait": async (world) => {
    const { primary, standby, cluster } = await startWithStandby(world);
    assert.equal(await readsAt(cluster, 0), 200);
    await standby.kill();
    let most = 0;
    for (const begun = Date.now(); Date.now() - begun < 25_000; await sleep(400)) most = Math.max(most, Number(await primary.sql(BACKENDS)));
    // One that waits, and one that asks whether it does.
    assert.ok(most <= 6, `${most} connections`);
    assert.match(cluster.replicas.map(({ process }) => process.log).join(""), /no answer in time; until it answers again no write is sent/);
    await assert.rejects(cluster.startReplica(0), "a replica starts though nothing can be recorded");
    assert.match(cluster.world.children.at(-1).log, /no synchronous standby is connected/);
    await standby.start();
    await waitFor("reads at all", async () => (await Promise.all([0, 1, 2].map((number) => readsAt(cluster, number)))).every((status) => status === 200));
    assert.equal(Number(await primary.sql(BACKENDS)), 3);
  },

  "that the guarantee is gone, and that it is back, is said while all run": async (world) => {
    const { primary, cluster } = await startWithStandby(world);
    const says = "has no synchronous standby (synchronous_standby_names)";
    assert.ok(!cluster.replicas[0].process.log.includes(says));
    await primary.sql("alter system set synchronous_standby_names = ''");
    await primary.sql("select pg_reload_conf()");
    for (const number of [0, 1, 2]) await saidBy(cluster, number, says);
    await primary.sql("alter system set synchronous_standby_names = '*'");
    await primary.sql("select pg_reload_conf()");
    await saidBy(cluster, 0, "no longer so: the cluster's engine has no synchronous standby");
  },

  "a replica that cannot read a row of the log ends, and does not start with it": async (world) => {
    const [sim, postgres] = await Promise.all([startSim(world), Postgres.make(world)]);
    const cluster = await Cluster.start(world, sim, postgres.url, { count: 2 });
    assert.equal(await readsAt(cluster, 0), 200);
    await postgres.sql("with head as (update armgate.head set number = number + 1 returning number) insert into armgate.log select number, clock_timestamp(), 1, -1, '{}', false, 'x' from head");
    await allEnd(cluster, /armgate ends, to be started again: row \d+ of the cluster's log cannot be opened/);
    await assert.rejects(cluster.startReplica(0), "a replica starts though it cannot know what others were told");
  },

  "a replica that finds rows of the log missing ends, and begins with those that are left": async (world) => {
    const [sim, postgres] = await Promise.all([startSim(world), Postgres.make(world)]);
    const cluster = await Cluster.start(world, sim, postgres.url, { count: 2 });
    assert.equal(await readsAt(cluster, 0), 200);
    await postgres.sql("with head as (update armgate.head set number = number + 2 returning number) insert into armgate.log select number, clock_timestamp(), 1, -1, '{}', false, '' from head");
    await allEnd(cluster, /armgate ends, to be started again: rows (\d+) to \1 of the cluster's log are gone/);
    await assert.rejects(cluster.startReplica(0), "a replica starts though it cannot know what became of what it read of");
    assert.match(world.children.at(-1).log, /of the cluster's log are gone/);
    await postgres.sql("delete from armgate.log where number < (select number from armgate.log where batch = -1)");
    await cluster.startReplica(0);
    assert.equal(await readsAt(cluster, 0), 200);
  },

  "a replica that is stopped while it starts does not keep the rows of the log": async (world) => {
    const [sim, postgres] = await Promise.all([startSim(world), Postgres.make(world)]);
    const cluster = await Cluster.start(world, sim, postgres.url, { count: 2 });
    await cluster.kill(1);
    const letGo = await takeLock(postgres, "select pg_advisory_xact_lock(27428886952375398)");  // as who deletes rows
    const started = cluster.startReplica(1).then(() => null, (error) => error);
    await waitFor("it to start", async () => (await postgres.sql(WAIT_FOR_LOCK)).trim() === "1");
    const starting = world.children.at(-1);
    starting.child.kill("SIGSTOP");
    letGo();
    const keepers = "select count(*) from pg_locks where locktype = 'advisory' and mode = 'ShareLock' and granted";
    await waitFor("it to keep them", async () => (await postgres.sql(keepers)).trim() === "1");
    for (const begun = Date.now(); (await postgres.sql(keepers)).trim() !== "0"; await sleep(200)) assert.ok(Date.now() - begun < 20_000, "it keeps them");
    starting.child.kill("SIGCONT");
    assert.ok(await started, "it has started all the same");
    assert.deepEqual(await starting.exit, { code: 3, signal: null }, starting.log);
    // And who has started is not bounded so.
    await cluster.startReplica(1);
    await sleep(12_000);
    for (const { process } of cluster.replicas) assert.equal(process.exited, null, process.log);
    assert.equal(await readsAt(cluster, 1), 200);
  },

  "where commits are slow replicas take turns, and none is taken for dead": async (world) => {
    const [sim, postgres] = await Promise.all([startSim(world), Postgres.make(world)]);
    const cluster = await Cluster.start(world, sim, postgres.url);
    // In the lock's queue nobody has the row of head.
    const letGo = await takeLock(postgres, APPENDERS_LOCK);
    await waitFor("all to queue", async () => (await postgres.sql(WAIT_FOR_LOCK)).trim() === "3");
    await postgres.sql("select number from armgate.head for update nowait");
    letGo();
    await postgres.sql("create function armgate.slow() returns trigger language plpgsql as $$ begin perform pg_sleep(0.5); return null; end $$; create constraint trigger slow after update on armgate.head deferrable initially deferred for each row execute function armgate.slow()");
    await sleep(20_000);  // it took 6 s before they queued
    for (const { process } of cluster.replicas) assert.equal(process.exited, null, process.log.slice(-2000));
  },

  "a replica under load asks the engine for its time as often as one that is idle": async (world) => {
    const [sim, postgres] = await Promise.all([startSim(world, ["--operation-ms", "0"]), Postgres.make(world)]);
    const cluster = await Cluster.start(world, sim, postgres.url, { count: 1 });
    const until = Date.now() + 6000;
    const read = async (user) => {
      while (Date.now() < until) assert.equal((await cluster.ask(0, user, "GET", PATH)).status, 200);
    };
    const load = Promise.all(["one", "two", "three", "four"].map(read));
    await sleep(500);
    await postgres.sql("alter system set log_statement = 'all'");
    await postgres.sql("select pg_reload_conf()");
    await load;
    const count = (statement) => postgres.process.log.split(statement).length - 1;
    const [asked, appended] = [count("(extract(epoch from clock_timestamp()) * 1000000)"), count("armgate.append(")];
    assert.ok(appended > 100, `${appended} appends are no load`);
    assert.ok(asked >= 15, `asked ${asked} times in 5 s, with a lease of 2 s`);
  },

  "a replica that stops reading while it appends keeps nobody else from it": async (world) => {
    const [sim, postgres] = await Promise.all([startSim(world, ["--operation-ms", "0"]), Postgres.make(world)]);
    const cluster = await Cluster.start(world, sim, postgres.url, { lease: 10 });
    assert.equal(await readsAt(cluster, 1), 200);
    const letGo = await takeLock(postgres, APPENDERS_LOCK);
    await waitFor("all to queue", async () => (await postgres.sql(WAIT_FOR_LOCK)).trim() === "3");
    const stopped = cluster.replicas[0].process;
    stopped.child.kill("SIGSTOP");
    letGo(`${addRows(100_000)}; commit`);  // more than fits into the way to it
    for (const begun = Date.now(); Date.now() - begun < 8000; await sleep(500)) {
      for (const number of [1, 2]) assert.equal(await readsAt(cluster, number), 200);
    }
    stopped.child.kill("SIGCONT");
    await waitFor("the first to go on", async () => (await readsAt(cluster, 0)) === 200);
  },

  "a replica that stops reading what is told is given up by the engine": async (world) => {
    const [sim, postgres] = await Promise.all([startSim(world), Postgres.make(world)]);
    const cluster = await Cluster.configure(world, sim, postgres.url, { count: 1 });
    await postgres.sql(addRows(500));
    await postgres.sql("update armgate.log set dead = array_fill(999999, array[2500])");  // 9 MB at once
    const atRows = await stopAtRows(postgres);
    const starting = cluster.startReplica(0).catch(() => {});
    const letGo = await atRows();
    const { child } = world.children.findLast(({ name }) => name === "armgate");
    child.kill("SIGSTOP");
    letGo();
    await waitFor("its process to wait for it", async () => (await postgres.sql("select count(*) from pg_stat_activity where wait_event = 'ClientWrite'")).trim() === "1");
    await waitFor("the engine to give it up", async () => (await postgres.sql(BACKENDS)).trim() === "0");
    child.kill("SIGKILL");
    await starting;
  },

  "an engine that has lost rows is found out also by who was answered late when it connected again": async (world) => {
    const [sim, postgres] = await Promise.all([startSim(world), Postgres.make(world)]);
    const cluster = await Cluster.start(world, sim, postgres.url, { count: 1, lease: 60 });
    assert.equal(await readsAt(cluster, 0), 200);
    const { process } = cluster.replicas[0];
    const letGo = await takeLock(postgres, "lock table armgate.head in access exclusive mode");
    await postgres.sql("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'armgate'");
    await waitFor("it to ask", async () => (await postgres.sql(WAIT_FOR_TABLE)).trim() === "1");
    await sleep(6000);
    letGo("delete from armgate.log where number = (select number from armgate.head); update armgate.head set number = number - 1; commit");
    assert.deepEqual(await process.exit, { code: 75, signal: null });
    assert.match(process.log, /engine has lost rows of the log that it had acknowledged/);
  },

  "old rows are deleted some thousands at a time": async (world) => {
    const [sim, postgres] = await Promise.all([startSim(world), Postgres.make(world)]);
    const cluster = await Cluster.configure(world, sim, postgres.url, { count: 1 });
    await postgres.sql("insert into armgate.log select n, clock_timestamp() - interval '2 days', 0, -n, '{}', false, '' from generate_series(1, 9000) n; update armgate.head set number = 9000");
    const starting = cluster.startReplica(0);
    const seen = new Set();
    await waitFor("them to be deleted", async () => {
      seen.add(Number(await postgres.sql("select count(*) from armgate.log where number <= 9000")));
      return seen.has(0);
    });
    await starting;
    assert.ok(seen.size > 2, `rows that were left: ${[...seen]}`);
    assert.equal(await readsAt(cluster, 0), 200);
  },

  "rows that a starting replica is at are not deleted before it has read them": async (world) => {
    const [sim, postgres] = await Promise.all([startSim(world), Postgres.make(world)]);
    const cluster = await Cluster.configure(world, sim, postgres.url, { count: 2, lease: 30 });
    await postgres.sql(addRows(9000));
    await postgres.sql("update armgate.log set at = at - interval '2 days'");
    const atRows = await stopAtRows(postgres);
    const starting = cluster.startReplica(0);
    const letGo = await atRows();
    const { child } = world.children.findLast(({ name }) => name === "armgate");
    child.kill("SIGSTOP");
    letGo();
    await cluster.startReplica(1);
    await sleep(3000);  // it deletes 2,000 in each fifth of a second
    child.kill("SIGCONT");
    await starting;
    for (const number of [0, 1]) assert.equal(await readsAt(cluster, number), 200);
    await waitFor("the rows to be deleted", async () => Number(await postgres.sql("select count(*) from armgate.log where number <= 9000")) === 0);
  },

  "a cluster in trouble is seen by whoever watches": async (world) => {
    const { primary, cluster } = await startWithStandby(world, { count: 2, admin: true });
    const text = (await cluster.askAdmin(0, "GET", "/metrics")).text;
    assert.match(text, /^armgate_cluster_synchronous_standbys 1$/m);
    const good = (await cluster.askAdmin(1, "GET", "/status")).json.cluster;
    assert.deepEqual([good.ready, good.engine_up, good.synchronous_standbys, good.warnings], [true, true, 1, []]);
    assert.match(await cluster.tell(0, "status"), /one of 2 replicas that live, lease good for /);
    await primary.kill();
    await waitFor("/readyz to fall", async () => (await cluster.askAdmin(0, "GET", "/readyz")).status === 503);
    assert.match((await cluster.askAdmin(0, "GET", "/readyz")).text, /apart/);
    const away = (await cluster.askAdmin(0, "GET", "/metrics")).text;
    // That no disk is full is said, too.
    for (const line of ["armgate_ready 0", "armgate_cluster_engine_up 0", "armgate_cluster_lease_seconds 0", "armgate_journal_writable 1"]) assert.ok(away.includes(`\n${line}\n`), line);
    const status = (await cluster.askAdmin(0, "GET", "/status")).json;
    assert.deepEqual([status.journal_writable, status.cluster.engine_up], [true, false]);
    const said = await cluster.tell(0, "status");
    assert.match(said, /engine does not answer[^]*it is not ready/);
    assert.doesNotMatch(said, /journal/);
    const doctor = await cluster.run(0, "doctor");
    assert.equal(doctor.code, 1);
    assert.match(doctor.stdout.toString(), /the cluster's engine does not answer/);
    assert.doesNotMatch(doctor.stdout.toString(), /journal/);
  },

  "what waits at a replica that the others took for dead is told to come again before that ends": async (world) => {
    const [sim, postgres] = await Promise.all([startSim(world, ["--operation-ms", "60000", "--exclusivity", "accept"]), Postgres.make(world)]);
    const cluster = await Cluster.start(world, sim, postgres.url);
    assert.equal((await patchAt(cluster, 1, "first")).status, 200);
    const waiting = patchAt(cluster, 0, "waiting");
    waiting.catch(() => {});
    await sleep(1000);
    const { process } = cluster.replicas[0];
    process.child.kill("SIGSTOP");
    await sleep(4000);
    process.child.kill("SIGCONT");
    assert.deepEqual(await process.exit, { code: 75, signal: null });
    const told = await waiting;
    assert.equal(told.status, 503, told.body);
    assert.ok(Number(told.headers["retry-after"]) >= 1);
  },

  "an ordinary role is not told of standbys, and hears no false alarm": async (world) => {
    const { primary, cluster } = await startWithStandby(world, { count: 1 });
    await primary.sql("create role app login");
    await primary.sql("create database gate owner app");
    const url = `postgres://app@127.0.0.1:${primary.port}/gate?sslmode=disable`;
    const other = await Cluster.configure(world, { port: cluster.replicas[0].port }, url, { count: 1, init: false }).catch((error) => error);
    assert.ok(other instanceof Cluster, String(other));
    const made = await other.command("init");
    assert.equal(made.code, 0, made.stderr.toString());
    assert.match(made.stderr.toString(), /cannot be told without pg_monitor/);
    assert.doesNotMatch(made.stderr.toString(), /no synchronous standby is connected/);
    assert.equal(JSON.parse((await other.command("status", "--output", "json")).stdout).synchronous_standbys, null);
    await primary.sql("grant pg_monitor to app");
    assert.doesNotMatch((await other.command("status")).stderr.toString(), /pg_monitor|standby/);
  },

  "a start that is refused for a while ends with 3, to be tried again, and with 1 if somebody must do something": async (world) => {
    const [sim, postgres] = await Promise.all([startSim(world), Postgres.make(world)]);
    const cluster = await Cluster.configure(world, sim, postgres.url, { count: 1 });
    const endsWith = async (code, said) => {
      const before = world.children.length;
      await cluster.startReplica(0).catch(() => {});
      const { exit, log } = world.children.slice(before).find(({ name }) => name === "armgate");
      assert.deepEqual(await exit, { code, signal: null }, log);
      assert.match(log, said);
    };
    await postgres.sql("alter database postgres set default_transaction_read_only = on");
    await endsWith(3, /the cluster's engine is a standby/);
    await run("psql", ["-At", "-c", "set transaction_read_only = off; alter database postgres reset default_transaction_read_only", postgres.url]);
    const refuse = (state) => postgres.sql(`create or replace function armgate.refuse() returns trigger language plpgsql as $$ begin raise exception 'not now' using errcode = '${state}'; end $$`);
    await refuse("25006");
    await postgres.sql("create trigger refuse before insert on armgate.replica for each row execute function armgate.refuse()");
    for (const [state, code] of [["25006", 3], ["53100", 3], ["57P01", 3], ["42501", 1]]) {
      await refuse(state);
      await endsWith(code, /the cluster's engine: not now/);
    }
    await postgres.sql("drop trigger refuse on armgate.replica; drop schema armgate cascade");
    await endsWith(1, /run armgate cluster init/);
  },

  "armgate check and cluster status say what armgate run would refuse": async (world) => {
    const [sim, postgres] = await Promise.all([startSim(world), Postgres.make(world)]);
    const cluster = await Cluster.configure(world, sim, postgres.url, { count: 1, init: false });
    const [{ configFile }] = cluster.replicas;
    const good = JSON.parse(readFileSync(configFile));
    const check = () => run(path.join(world.bin, "armgate"), ["check", "--config", configFile], { env: { HOME: world.directory } });
    const before = await cluster.command("status");
    assert.notEqual(before.code, 0);
    assert.match(before.stderr.toString(), /no tables of armgate: run armgate cluster init/);
    assert.equal(before.stdout.toString(), "");
    assert.equal((await cluster.command("init")).code, 0);
    assert.equal((await cluster.command("status")).code, 0);
    const { code, stdout, stderr } = await check();
    assert.equal(code, 0, `${stdout}${stderr}`);
    for (const [spoil, said] of [[(c) => { delete c.cluster.experimental; }, /cluster.engine is experimental/],
                                 [(c) => { c.journal = { file: world.file("j.db") }; }, /journal.file and cluster.engine exclude each other/]]) {
      const text = structuredClone(good);
      spoil(text);
      writeFileSync(configFile, JSON.stringify(text));
      for (const done of [await check(), await cluster.command("status")]) {
        assert.equal(done.code, 1);
        assert.match(`${done.stdout}${done.stderr}`, said);
      }
    }
  },

  "armgate cluster status shows who lives first, and who is long gone is forgotten": async (world) => {
    const [sim, postgres] = await Promise.all([startSim(world), Postgres.make(world)]);
    const cluster = await Cluster.start(world, sim, postgres.url, { count: 1, lease: 10 });
    const bury = (ago) => postgres.sql(`insert into armgate.replica(name, program, alive_until, dead) select 'gone', 'x', now() - interval '${ago}', true from generate_series(1, 110)`);
    await bury("1 hour");
    await bury("2 days");
    const { replicas } = JSON.parse((await cluster.command("status", "--output", "json")).stdout);
    assert.equal(replicas.length, 100);
    assert.deepEqual([replicas[0].name, replicas[0].state], ["replica-0", "alive"]);
    cluster.replicas[0].process.child.kill("SIGTERM");
    await cluster.replicas[0].process.exit;
    await cluster.startReplica(0);
    await waitFor("those of two days ago to be forgotten", async () => (await postgres.sql("select count(*) from armgate.replica where name = 'gone'")).trim() === "110");
  },
};
