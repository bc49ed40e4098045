// From one armgate with a journal to several (docs/cluster.md): what it had open when it died is the cluster's.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import path from "node:path";
import { makeScaleSet, startSim } from "./cluster_race.mjs";
import { Cluster, Postgres } from "./engines.mjs";
import { run, sleep } from "./harness.mjs";
import { KEPT, kill } from "./journal_suite.mjs";
import { SCALE_SET, waitFor } from "./scale_set.mjs";

const set = (name) => SCALE_SET.replace(/web$/, name);
const target = (name, action = "") => `${set(name)}${action}?api-version=2024-07-01`;
const NRP = "NetworkingInternalOperationError";

// A simulated ARM behind a tap that keeps restarts for itself, one armgate with a journal, and a PostgreSQL without tables.
async function begin(world, simArgs = []) {
  const [sim, postgres] = await Promise.all([startSim(world, ["--operation-ms", "4000", "--exclusivity", "accept", ...simArgs]), Postgres.make(world)]);
  for (const name of ["busy", "doubt", "once", "sick"]) await makeScaleSet(sim, set(name));
  const never = new Promise(() => {});
  const tap = await world.startRecorder((record) => (record.method === "POST" ? never : sim.forward(record)));
  const config = { ...KEPT, sick: { failures: 2 } };
  const gateway = await world.startGateway(tap, config);
  const cluster = await Cluster.configure(world, tap, postgres.url, { count: 2, init: false, admin: true, config: { sick: { failures: 2 } } });
  const alone = Object.assign(new Cluster(), { world, replicas: [gateway] });
  return { sim, tap, gateway, alone, cluster, journal: path.join(path.dirname(gateway.configFile), "journal.db") };
}

const restart = (through, number, headers = {}) => through.ask(number, "nightly", "POST", target("doubt", "/restart"), { headers, seconds: 10 });
const patch = (through, number, user, name, tags, headers = {}) => through.ask(number, user, "PATCH", target(name), { body: { tags }, headers });

async function fail({ sim, alone }) {
  await sim.addFaults([{ method: "PATCH", kind: `fail-later-${NRP}`, times: 1 }]);
  const answer = await patch(alone, 0, "rollout", "sick", { try: "1" }, { "x-sim-operation-ms": "30" });
  const { pathname, search } = new URL(answer.headers["azure-asyncoperation"]);
  await waitFor("the failure", async () => (await alone.ask(0, "rollout", "GET", pathname + search)).json.status === "Failed");
}

export const tests = {
  "what a single armgate had open when it was killed is held, settled and known by replicas": async (world) => {
    const story = await begin(world);
    const { tap, gateway, alone, cluster, journal } = story;
    for (let i = 0; i < 2; ++i) await fail(story);
    await sleep(1000);  // a time has whole seconds, and this one must be after armgate's start
    const once = { "repeatability-request-id": "11111111-2222-4333-8444-555555555555", "repeatability-first-sent": new Date().toUTCString(), "x-sim-operation-ms": "0" };
    assert.equal((await patch(alone, 0, "careful", "once", { named: "1" }, once)).status, 200);
    restart(alone, 0).catch(() => {});
    await waitFor("the restart at ARM", async () => tap.seen.some(({ method }) => method === "POST"));
    const begun = Date.now();
    assert.equal((await patch(alone, 0, "first", "busy", { first: "1" })).status, 200);
    const sent = tap.seen.length;
    await kill(gateway);

    assert.equal((await cluster.command("init", "--lease", "2")).code, 0);
    const imported = await cluster.command("import", journal);
    assert.equal(imported.code, 0, imported.stderr);
    assert.match(imported.stdout.toString(), /: 1 operations that run, 1 writes in doubt, 3 that ended lately; 0 that no rule/);
    const again = await cluster.command("import", journal);
    assert.match(again.stdout.toString(), /was imported before; nothing is done/);
    assert.equal(again.code, 0);
    await Promise.all([0, 1].map((number) => cluster.startReplica(number)));

    const second = patch(cluster, 1, "second", "busy", { second: "1" }).then((answer) => [answer.status, Date.now() - begun]);
    const repeated = await restart(cluster, 0);
    assert.deepEqual([repeated.status, repeated.json?.error?.code], [409, "ArmgateOutcomeUnknown"]);
    const named = await patch(cluster, 1, "careful", "once", { named: "1" }, once);
    assert.deepEqual([named.status, named.headers["x-armgate-replayed"]], [200, "true"]);
    const sick = await cluster.tell(0, "sick", "--output", "json").then(JSON.parse);
    assert.deepEqual(sick.map(({ resource }) => resource.split("/").at(-1)), ["sick"]);
    const [status, took] = await second;
    assert.equal(status, 200);
    assert.ok(took >= 4000, `the second came before the first's operation had ended, after ${took} ms`);
    // The lease of what was in doubt ends when its resource is seen at rest.
    assert.equal((await patch(cluster, 0, "third", "doubt", { third: "1" }, { "x-sim-operation-ms": "0" })).status, 200);
    assert.deepEqual(tap.seen.slice(sent).filter(({ method }) => method === "POST"), [], "the restart went once");
    const history = await cluster.tell(1, "history", "--output", "json").then(JSON.parse);
    assert.equal(history.filter(({ error_code }) => error_code === NRP).length, 2);
  },

  "a replica that joins while a journal is imported does not begin with another hash key": async (world) => {
    const [sim, postgres] = await Promise.all([startSim(world, ["--operation-ms", "0"]), Postgres.make(world)]);
    await makeScaleSet(sim, set("once"));
    const gateway = await world.startGateway(sim, KEPT);
    const alone = Object.assign(new Cluster(), { world, replicas: [gateway] });
    assert.equal((await patch(alone, 0, "first", "once", { first: "1" })).status, 200);
    await kill(gateway);
    const cluster = await Cluster.configure(world, sim, postgres.url, { count: 1 });
    // The import waits between its last look at who has begun and its commit.
    const other = spawn("psql", ["-At", postgres.url], { stdio: ["pipe", "pipe", "inherit"] });
    let said = "";
    other.stdout.on("data", (text) => { said += text; });
    other.stdin.write("begin; lock table armgate.import in share mode; select 'locked';\n");
    await waitFor("the lock", async () => said.includes("locked"));
    const importing = cluster.command("import", path.join(path.dirname(gateway.configFile), "journal.db"));
    const waitUntil = (count) => waitFor(`${count} to wait`, async () => (await postgres.sql("select count(*) from pg_stat_activity where wait_event_type = 'Lock'")).trim() === `${count}`);
    await waitUntil(1);  // the import
    const starting = cluster.startReplica(0).then(() => "it has begun", (error) => String(error));
    await waitUntil(2);
    other.stdin.end("rollback;\n");
    const { code, stderr } = await importing;
    assert.equal(code, 0, stderr);
    assert.match(await starting, /did not get ready/);
    assert.equal((await world.children.at(-1).exit).code, 3, "to be started again");
    assert.match(world.children.at(-1).log, /a journal was imported into the cluster while this replica began/);
    await cluster.startReplica(0);
    assert.equal((await patch(cluster, 0, "first", "once", { second: "1" })).status, 200);
  },

  "an import that cannot be done says why": async (world) => {
    const { gateway, alone, cluster, journal } = await begin(world);
    assert.equal((await patch(alone, 0, "first", "once", { first: "1" }, { "x-sim-operation-ms": "0" })).status, 200);
    const refusal = async (...words) => {
      const done = await cluster.command("import", ...words);
      assert.notEqual(done.code, 0, done.stdout.toString());
      return done.stderr;
    };
    assert.match(await refusal(journal), /no tables of armgate: run armgate cluster init/);
    assert.equal((await cluster.command("init")).code, 0);
    assert.match(await refusal(journal), /journal.db.*another/s, "it is in use");
    await kill(gateway);
    const missing = path.join(path.dirname(journal), "nowhere.db");
    assert.match(await refusal(missing), /there is no such journal/);
    assert.ok(!existsSync(missing));
    const newer = path.join(path.dirname(journal), "newer.db");
    const empty = path.join(path.dirname(journal), "empty.db");
    writeFileSync(empty, "", { mode: 0o600 });
    assert.match(await refusal(empty), /empty.db is empty/);
    const python = `import sqlite3, os
c = sqlite3.connect(${JSON.stringify(journal)}); d = sqlite3.connect(${JSON.stringify(newer)}); c.backup(d); d.execute("PRAGMA user_version = 99"); d.commit()
os.chmod(${JSON.stringify(newer)}, 0o600)`;
    assert.equal((await run("python3", ["-c", python])).code, 0);
    assert.match(await refusal(newer), /newer/);
    assert.match(await refusal(cluster.key), /journal|mode|read/);
    await cluster.startReplica(0);
    await sleep(500);
    assert.match(await refusal(journal), /replicas have begun in this cluster/);
  },
};
