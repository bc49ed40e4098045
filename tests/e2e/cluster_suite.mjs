// Several armgates in front of one ARM and behind one PostgreSQL (docs/cluster.md). Each request goes to a replica that is drawn by
// seed: what one of them was told, the others must know.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { runRounds } from "./cluster_rounds.mjs";
import { assertNothingLost, declared, race, startSim, withTag } from "./cluster_race.mjs";
import { Cluster, Postgres } from "./engines.mjs";
import { sleep } from "./harness.mjs";
import { ownRules, scaleSetRule } from "./rows.mjs";
import { PATH, SCALE_SET, startHeldUpstream, waitFor } from "./scale_set.mjs";

const RESTART = `${SCALE_SET}/restart?api-version=2024-07-01`;

async function startAll(world, { simArgs, ...options } = {}) {
  const [sim, postgres] = await Promise.all([startSim(world, simArgs), Postgres.make(world)]);
  return { sim, postgres, cluster: await Cluster.start(world, sim, postgres.url, options) };
}

const tagsOf = async (sim) => (await sim.read(SCALE_SET, "2024-07-01")).tags;

// So many writes of each of four clients, then the judgement.
async function assertRaceLosesNothing(cluster, sim, seed, writes, meanwhile = async () => {}) {
  const racing = race(cluster, seed, { isOver: (write) => write === writes });
  await meanwhile();
  const told = await racing;
  await assertNothingLost(sim, told);
  assert.equal(told.acknowledged.length, 4 * writes);
}

export const tests = {
  "what was read through one replica is what a write through another is built on": async (world) => {
    const { sim, cluster } = await startAll(world);
    const read = await cluster.ask(0, "reader", "GET", PATH);
    assert.equal((await cluster.ask(1, "other", "GET", PATH)).status, 200);
    const others = await cluster.ask(2, "other", "PUT", PATH, { body: { ...read.json, sku: { capacity: 2 } } });
    assert.equal(others.status, 200, others.body);
    const stale = await cluster.ask(1, "reader", "PUT", PATH, { body: { ...read.json, sku: { capacity: 3 } } });
    assert.equal(stale.status, 412, "the write undoes what it has not seen");
    const again = await cluster.ask(0, "reader", "GET", PATH);
    const fresh = await cluster.ask(2, "reader", "PUT", PATH, { body: { ...again.json, sku: { capacity: 3 } } });
    assert.equal(fresh.status, 200, fresh.body);
    assert.equal((await sim.report()).lost_updates, 0);
  },

  "a race over three replicas loses nothing, also when one of them is killed": async (world) => {
    const { sim, cluster } = await startAll(world);
    await assertRaceLosesNothing(cluster, sim, 1, 4, async () => {
      await sleep(700);
      await cluster.kill(1);
      await sleep(500);
      await cluster.startReplica(1);
    });
  },

  "who asks at another replica waits until the operation has ended": async (world) => {
    const { cluster } = await startAll(world, { simArgs: ["--operation-ms", "1500", "--exclusivity", "accept"] });
    const begun = Date.now();
    const patch = (number, user) => cluster.ask(number, user, "PATCH", PATH, { body: { tags: { [user]: "1" } } });
    assert.equal((await patch(0, "first")).status, 200);
    const order = [];
    const later = [];
    for (const [number, user] of [[1, "second"], [2, "third"], [0, "fourth"]]) {
      later.push(patch(number, user).then((answer) => order.push([user, answer.status])));
      await sleep(400);
    }
    await Promise.all(later);
    assert.deepEqual(order, [["second", 200], ["third", 200], ["fourth", 200]]);
    assert.ok(Date.now() - begun >= 4500, "somebody went while another's operation ran");
  },

  "armgate unlock lets go of what another replica has": async (world) => {
    const { cluster } = await startAll(world, { admin: true, simArgs: ["--operation-ms", "60000", "--exclusivity", "accept"] });
    const held = await cluster.ask(0, "slow", "PUT", PATH, { body: withTag((await cluster.ask(0, "slow", "GET", PATH)).json, "slow") });
    assert.equal(held.status, 200, held.body);
    const begun = Date.now();
    const next = cluster.ask(2, "next", "PATCH", PATH, { body: { tags: { next: "1" } } });
    await sleep(500);
    assert.match(await cluster.tell(1, "unlock", SCALE_SET), /another replica has it, and was told/);
    assert.equal((await next).status, 200);
    assert.ok(Date.now() - begun < 20_000, "who waited went on when the operation ended");
    await assert.rejects(cluster.tell(1, "unlock", "/subscriptions/s/resourceGroups/none"), /no operation holds/);
  },

  "the operation of a replica that died is held by another": async (world) => {
    const { cluster } = await startAll(world, { simArgs: ["--operation-ms", "5000", "--exclusivity", "accept"] });
    const begun = Date.now();
    assert.equal((await cluster.ask(0, "first", "PATCH", PATH, { body: { tags: { first: "1" } } })).status, 200);
    await cluster.kill(0);
    const second = await cluster.ask(1, "second", "PATCH", PATH, { body: { tags: { second: "1" } } });
    assert.equal(second.status, 200, second.body);
    assert.ok(Date.now() - begun >= 5000, "the second came before the first's operation had ended");
  },

  "an action that a dead replica had sent is not carried out again by another": async (world) => {
    const { upstream, release } = await startHeldUpstream(world);
    const postgres = await Postgres.make(world);
    const cluster = await Cluster.start(world, upstream, postgres.url);
    const restart = (number) => cluster.ask(number, "nightly", "POST", RESTART, { seconds: 8 });
    const first = restart(0).catch(() => "broken");
    await waitFor("the restart at ARM", async () => upstream.seen.length === 1);
    await cluster.kill(0);
    assert.equal(await first, "broken");
    await sleep(3000);
    const again = await restart(1);
    release();
    assert.equal(again.status, 409, again.body);
    assert.equal(again.json.error.code, "ArmgateOutcomeUnknown");
    assert.equal(upstream.seen.filter(({ method }) => method === "POST").length, 1);
  },

  "a re-send that meets another replica gets the answer that got lost": async (world) => {
    const { sim, cluster } = await startAll(world, { simArgs: ["--latency-ms", "800", "--operation-ms", "0"] });
    const body = { location: "westeurope", sku: { capacity: 7 } };
    const headers = { "x-ms-client-request-id": "11111111-2222-3333-4444-555555555555", ...declared("twin", "once") };
    const send = (replica, seconds) => cluster.ask(replica, "twin", "PUT", PATH, { body, headers, seconds });
    await assert.rejects(send(0, 0.4), "its client waits for less than ARM takes");
    const again = await send(1, 30);
    assert.equal(again.status, 200, again.body);
    assert.equal(again.json.sku.capacity, 7);
    assert.equal((await sim.report()).applied_twice, 0);
  },

  "a replica that was paused for longer than its lease ends, and what waited for it goes on": async (world) => {
    const { sim, cluster } = await startAll(world);
    const { process } = cluster.replicas[0];
    process.child.kill("SIGSTOP");
    await sleep(4000);
    const other = await cluster.ask(1, "other", "PATCH", PATH, { body: { tags: { base: "1", other: "1" } } });
    assert.equal(other.status, 200, other.body);
    process.child.kill("SIGCONT");
    assert.deepEqual(await process.exit, { code: 75, signal: null });
    assert.match(process.log, /silent for too long/);
    await cluster.startReplica(0);
    await assertRaceLosesNothing(cluster, sim, 2, 2);
  },

  "while the engine is away writes are told to come again, and go when it is back": async (world) => {
    const { sim, postgres, cluster } = await startAll(world, { config: { queue: { wait_max: "2s" } } });
    const read = await cluster.ask(0, "patient", "GET", PATH);
    await postgres.kill();
    const begun = Date.now();
    const refused = await cluster.ask(1, "patient", "PUT", PATH, { body: withTag(read.json, "late") });
    assert.equal(refused.status, 503, refused.body);
    assert.ok(Number(refused.headers["retry-after"]) >= 1);
    assert.ok(Date.now() - begun < 10_000);
    assert.equal((await tagsOf(sim)).late, undefined);
    const unread = await cluster.ask(2, "patient", "GET", PATH);
    assert.equal(unread.status, 503, "what nobody else would know of was shown");
    assert.ok(Number(unread.headers["retry-after"]) >= 1);
    await postgres.start();
    await waitFor("the write to go", async () => {
      const answer = await cluster.ask(2, "patient", "PUT", PATH, { body: withTag(read.json, "late") });
      assert.ok([200, 503].includes(answer.status), `${answer.status} ${answer.body}`);
      return answer.status === 200;
    });
    assert.equal((await tagsOf(sim)).late, "1");
    for (const { process } of cluster.replicas) assert.equal(process.exited, null, "a replica ended because the engine was away");
  },

  "with when_away fenced only writes with a precondition of their own pass while the engine is away": async (world) => {
    const { sim, postgres, cluster } = await startAll(world, { more: { when_away: "fenced" }, config: { queue: { wait_max: "4s" } }, simArgs: ["--operation-ms", "0"] });
    const [read, others] = [await cluster.ask(0, "fencer", "GET", PATH), await cluster.ask(1, "other", "GET", PATH)];
    const put = (number, user, body, headers = {}, path = PATH) => cluster.ask(number, user, "PUT", path, { body, headers });
    const tagged = (name) => withTag(read.json, name);
    const before = await put(0, "fencer", tagged("recorded"), { "if-match": read.json.etag });
    assert.deepEqual([before.status, before.headers["x-armgate-reason"]], [200, undefined], "it is recorded while the engine is there");
    await postgres.kill();
    const fenced = await put(2, "fencer", withTag(before.json, "fenced"), { "if-match": before.json.etag });
    assert.deepEqual([fenced.status, fenced.headers["x-armgate-reason"]], [200, "sent-without-a-record"], fenced.body);
    assert.equal((await tagsOf(sim)).fenced, "1");
    const stale = await put(1, "fencer", tagged("stale"), { "if-match": read.json.etag });
    assert.deepEqual([stale.status, stale.headers["x-armgate-reason"]], [412, "sent-without-a-record"], "ARM has refused it");
    const made = await put(1, "fencer", { location: "westeurope", sku: { capacity: 1 } }, { "if-none-match": "*" }, PATH.replace("web?", "new?"));
    assert.equal(made.status, 201, made.body);
    for (const headers of [{}, { "if-match": "*" }, { "if-match": fenced.json.etag, "repeatability-request-id": "11111111-2222-4333-8444-555555555555", "repeatability-first-sent": new Date().toUTCString() }])
      assert.equal((await put(0, "fencer", tagged("refused"), headers)).status, 503, JSON.stringify(headers));
    assert.equal((await cluster.ask(2, "fencer", "GET", PATH)).status, 503, "nor are reads shown");

    await postgres.start();
    await waitFor("reads to be shown", async () => (await Promise.all([0, 1, 2].map((number) => cluster.ask(number, "third", "GET", PATH)))).every(({ status }) => status === 200));
    // Both are built on what was there before: refused, or put together with what was written since.
    for (const [user, body] of [["other", withTag(others.json, "late")], ["fencer", tagged("late")]]) {
      const late = await put(0, user, body);
      assert.ok([200, 412].includes(late.status), late.body);
      const { recorded, fenced: kept } = await tagsOf(sim);
      assert.deepEqual([recorded, kept], ["1", "1"], `${user}'s ${late.status} has undone what was written meanwhile`);
    }
    const again = await cluster.ask(2, "fencer", "GET", PATH);
    assert.equal((await put(1, "fencer", withTag(again.json, "again"))).status, 200);
    const report = await sim.report();
    assert.equal(report.lost_updates, 0, report.findings.join("\n"));
  },

  // Many more of them: node tests/e2e/cluster_soak.mjs.
  "races outlive kills, pauses and promotions": async (world) => {
    const done = await runRounds(world, { seed: 1, rounds: 2 });
    assert.equal(done.promotions, 2);
    assert.ok(done.kills >= 2);
  },

  "a lease for a run keeps others away at all replicas, and lets its client in at all": async (world) => {
    const { cluster } = await startAll(world, { admin: true, simArgs: ["--operation-ms", "0"] });
    const ask = (...what) => cluster.askAdmin(0, ...what);
    const taken = await ask("POST", "/leases", { client: "repair", purpose: "a repair", resources: [SCALE_SET] });
    assert.equal(taken.status, 201);
    await waitFor("the lease to be held", async () => (await ask("POST", `/leases/${taken.json.lease}`)).json.state === "held");
    const patch = (number, user) => cluster.ask(number, user, "PATCH", PATH, { body: { tags: { [user]: "1" } } });
    const order = [];
    const other = patch(1, "other").then(({ status }) => order.push(["other", status]));
    await sleep(500);
    for (const number of [2, 0]) order.push(["repair", (await patch(number, "repair")).status]);
    assert.deepEqual(order, [["repair", 200], ["repair", 200]]);
    assert.equal((await ask("DELETE", `/leases/${taken.json.lease}`)).status, 200);
    await other;
    assert.deepEqual(order.at(-1), ["other", 200]);
  },

  "operations that fail at several replicas make a resource sick at all, and one probe goes": async (world) => {
    const rules = { rules: [scaleSetRule({ breaker: { mode: "protect", probe_every: "4s" } })] };
    const config = { rules: [ownRules(world, rules), "shipped"], sick: { failures: 6 } };
    const { sim, cluster } = await startAll(world, { admin: true, config });
    const patch = (number, tags) => cluster.ask(number, "rollout", "PATCH", PATH, { body: { tags } });
    const failing = (times) => sim.addFaults([{ method: "PATCH", kind: "fail-later-NetworkingInternalOperationError", times }]);
    // Polled at two replicas: at the one that sent it, and at another.
    const follow = async (number, answer) => {
      const { pathname, search } = new URL(answer.headers["azure-asyncoperation"]);
      for (const at of [number, (number + 1) % 3]) {
        await waitFor("the operation's end", async () => (await cluster.ask(at, "rollout", "GET", pathname + search)).json.status === "Failed");
      }
    };
    const told = (number, ...words) => cluster.tell(number, ...words, "--output", "json").then(JSON.parse);
    await failing(6);
    for (let number = 0; number < 6; ++number) {
      const answer = await patch(number % 3, { [`try-${number}`]: "1" });
      assert.equal(answer.status, 200, answer.body);
      await follow(number % 3, answer);
    }
    for (const number of [0, 1, 2]) {
      await waitFor(`replica ${number} to know`, async () => (await told(number, "sick")).length === 1);
      const [sick] = await told(number, "sick");
      assert.match(sick.why, /^6 operations have failed with NetworkingInternalOperationError$/);
      const history = await told(number, "history");
      assert.deepEqual(history.map(({ state, result }) => [state, result]), Array(6).fill(["failed", "Failed"]));
      const { writes } = await told(number, "blame", SCALE_SET);
      assert.deepEqual(writes.map(({ changed }) => changed), Array.from({ length: 6 }, (_, i) => [`/tags/try-${i}`]));
    }
    const refused = await Promise.all([0, 1, 2].map((number) => patch(number, { more: "1" })));
    assert.deepEqual(refused.map(({ status, json }) => [status, json.error.code]), Array(3).fill([412, "ArmgateResourceSick"]));
    const failures = await Promise.all(cluster.replicas.map(({ admin }) => fetch(`http://127.0.0.1:${admin}/status`).then((status) => status.json())));
    assert.equal(failures.reduce((sum, { results }) => sum + results.failed, 0), 6, "each operation counts once in all");
    assert.deepEqual(failures.map((status) => status.failures.length), [6, 6, 6]);

    await failing(1);
    await sleep(4000);
    const probes = await Promise.all([0, 1, 2, 0, 1, 2].map((number) => patch(number, { probe: "1" })));
    assert.deepEqual(probes.map(({ status }) => status).sort(), [200, 412, 412, 412, 412, 412]);
  },

  "nothing readable is in the engine": async (world) => {
    const { postgres, cluster } = await startAll(world, { count: 1 });
    const read = await cluster.ask(0, "secretive", "GET", PATH);
    assert.equal((await cluster.ask(0, "secretive", "PUT", PATH, { body: withTag(read.json, "tag-that-is-secret") })).status, 200);
    const held = await postgres.sql("select encode(events, 'escape') from armgate.log");
    assert.ok(held.length > 1000);
    for (const word of ["tag-that-is-secret", "token-of-secretive", "westeurope", "virtualMachineScaleSets"]) assert.ok(!held.includes(word), word);
  },

  "a replica that cannot be one of the cluster says why": async (world) => {
    const [sim, postgres] = await Promise.all([startSim(world), Postgres.make(world)]);
    const cluster = await Cluster.configure(world, sim, postgres.url, { count: 1, init: false });
    const refusal = async () => {
      await assert.rejects(cluster.startReplica(0));
      return cluster.world.children.at(-1).log;
    };
    assert.match(await refusal(), /no tables of armgate: run armgate cluster init/);
    const made = await cluster.command("init");
    assert.equal(made.code, 0, made.stderr);
    assert.match(made.stderr, /no synchronous standby/);
    assert.match((await cluster.command("init")).stderr, /there already, of version 5/);
    await postgres.sql("drop table armgate.import; alter table armgate.meta drop hash_key; alter table armgate.replica drop configured; alter table armgate.replica drop rules; drop table armgate.rules; update armgate.meta set version = 1");
    assert.match(await refusal(), /of version 1, this armgate's of 5: run armgate cluster upgrade/);
    assert.match((await cluster.command("upgrade")).stdout.toString(), /were of version 1 and are of 5/);

    await cluster.startReplica(0);
    const { process } = cluster.replicas[0];
    assert.match(process.log, /no synchronous standby/);
    const status = await cluster.command("status", "--output", "json");
    assert.deepEqual(JSON.parse(status.stdout).replicas.map(({ name, state }) => [name, state]), [["replica-0", "alive"]]);
    process.child.kill("SIGTERM");
    await process.exit;
    assert.match((await cluster.command("status")).stdout.toString(), /left +replica-0/);

    await postgres.sql("update armgate.meta set version = 7");
    assert.match(await refusal(), /of version 7, which this armgate \(5\) does not know/);
    await postgres.sql("drop table armgate.rules; alter table armgate.replica drop rules; update armgate.meta set version = 2");
    assert.match(await refusal(), /of version 2, this armgate's of 5: run armgate cluster upgrade/);
    assert.equal((await cluster.command("upgrade")).code, 0);
    writeFileSync(cluster.key, `${"another key ".repeat(5)}\n`);
    assert.match(await refusal(), /cluster.key_file holds another key/);
    writeFileSync(cluster.key, "short\n");
    assert.match(await refusal(), /32 at least/);
  },
};
