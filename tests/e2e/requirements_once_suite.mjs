// Requirements U4 and U5 (docs/requirements.md): what is asked for once is carried out once, whatever dies in between, and where
// nobody knows, nothing is done.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { curlJson, sending } from "./curl.mjs";
import { sleep } from "./harness.mjs";
import { history, KEPT, kill, startAgain } from "./journal_suite.mjs";
import { begin, bodyOf, bothWays, ENDLESS, scaleSetRule, SET } from "./rows.mjs";

const RESTART = SET.replace("?", "/restart?");
const AT_ONCE = ["--operation-ms", "0"];

// The headers of a request that its client has named. Dates have whole seconds: the one of a process's first second may be older than it.
const named = (id, firstSent) => ["--header", `Repeatability-Request-ID: ${id}`, "--header", `Repeatability-First-Sent: ${firstSent.toUTCString()}`];
async function nameNow(id) {
  await sleep(2100);  // a gateway takes connections up to a second before it has begun, if the machine is busy
  return named(id, new Date());
}

// Asks the process that came after the one that was killed.
async function killedAfter(world, one) {
  await kill(one.gateway);
  const gateway = await startAgain(world, one.gateway);
  const ask = (user, method, target, body, ...more) => curlJson(world, gateway, target, {
    user, args: [...(body ? sending(method, body) : ["--request", method]), ...more] });
  return { ...one, gateway, ask };
}

export const tests = {
  "U4: what may have been carried out before all that is known is not carried out": async (world) => {
    const { ask, journal } = await begin(world, { args: AT_ONCE });
    const answer = await ask("a", "POST", RESTART, undefined, ...named("r1", new Date(Date.now() - 60_000)));
    assert.deepEqual([answer.status, answer.json.error.code, answer.headers["x-armgate-reason"], answer.headers["repeatability-result"]],
                     [409, "ArmgateOutcomeUnknown", "first-sent-before-memory", "rejected"]);
    assert.equal(journal.of("POST").length, 0);
    assert.equal((await ask("a", "POST", RESTART, undefined, ...await nameNow("r2"))).headers["repeatability-result"], "accepted");
  },

  "U4: while what is there cannot be read, nothing is decided, and then it is": async (world) => {
    let fails = false;
    const one = await begin(world, { args: AT_ONCE, config: KEPT, alter: ({ method }, answer) =>
      (fails && method === "GET" ? { status: 503, headers: ["Retry-After", "60"], body: "{}" } : answer) });
    const name = await nameNow("r1");
    const first = await one.ask("a", "PUT", SET, bodyOf(3), ...name);
    assert.equal(first.status, 200);
    const { ask, journal } = await killedAfter(world, one);
    fails = true;
    const early = await ask("a", "PUT", SET, bodyOf(3), ...name);
    assert.deepEqual([early.status, early.headers["x-armgate-reason"]], [503, "verify-failed"]);
    fails = false;
    const again = await ask("a", "PUT", SET, bodyOf(3), ...name);
    assert.deepEqual([again.status, again.headers["x-armgate-replayed"], again.json.sku.capacity], [200, "true", 3]);
    assert.equal(journal.of("PUT").length, 1);
  },

  "U5: the same request twice under one id is one write": async (world) => {
    const seen = await bothWays(world, { args: [...AT_ONCE, "--latency-ms", "400"] }, async ({ ask, journal }) => {
      const click = () => ask("a", "PATCH", SET, { tags: { click: "1" } }, "--header", "x-ms-client-request-id: 00000000-0000-0000-0000-00000000c11c");
      const both = await Promise.all([click(), click()]);
      const replayed = both.filter(({ headers }) => headers["x-armgate-replayed"]).length;
      return { statuses: both.map(({ status }) => status), sent: journal.of("PATCH").length, replayed };
    });
    assert.deepEqual(seen, { without: { statuses: [200, 200], sent: 2, replayed: 0 }, protected: { statuses: [200, 200], sent: 1, replayed: 1 } });
  },

  "U5: a request that its client has named is carried out once, also if its answer had come": async (world) => {
    const seen = await bothWays(world, { args: AT_ONCE }, async ({ ask, journal }) => {
      const name = await nameNow("r1");
      const ids = [];
      for (let i = 0; i < 3; ++i) ids.push((await ask("a", "POST", RESTART, undefined, ...name)).headers["x-armgate-replayed"]);
      return { sent: journal.of("POST").length, replayed: ids.filter(Boolean).length };
    });
    assert.deepEqual(seen, { without: { sent: 3, replayed: 0 }, protected: { sent: 1, replayed: 2 } });
  },

  "U5: killed between the answer and its repetition, armgate tells what is recorded and carries nothing out": async (world) => {
    const one = await begin(world, { args: ["--operation-ms", ENDLESS], config: KEPT });
    const put = await nameNow("put");
    const made = await one.ask("a", "PUT", SET, bodyOf(4, { note: "kept-in-memory" }), ...put);
    assert.equal(made.status, 200);
    assert.match(made.headers["azure-asyncoperation"], /^https:/);
    const next = await killedAfter(world, one);
    const again = await next.ask("a", "PUT", SET, bodyOf(4, { note: "kept-in-memory" }), ...put);
    assert.deepEqual([again.status, again.headers.etag, again.headers["azure-asyncoperation"], again.headers["x-armgate-reason"], again.json.sku.capacity],
                     [200, made.headers.etag, made.headers["azure-asyncoperation"], "answered-as-recorded", 4]);
    assert.equal(next.journal.of("PUT").length, 1);
    const other = await next.ask("a", "PUT", SET, bodyOf(5), ...put);
    assert.deepEqual([other.status, other.json.error.code], [400, "ArmgateBadRepeatability"]);
    await kill(next.gateway);
    assert.deepEqual((await history(world, next.gateway)).map(({ method, replays }) => [method, replays]), [["PUT", 1]]);
    const file = readFileSync(path.join(path.dirname(next.gateway.configFile), "journal.db")).toString("latin1") +
                 readFileSync(path.join(path.dirname(next.gateway.configFile), "journal.db-wal")).toString("latin1");
    for (const secret of ["kept-in-memory", "token-of-the-test"]) assert.ok(!file.includes(secret), secret);
  },

  "U5: killed, it knows an action and a delete as well; without names they run again": async (world) => {
    const one = await begin(world, { args: AT_ONCE, config: KEPT });
    const [action, removal] = [await nameNow("action"), await nameNow("removal")];
    const restarted = await one.ask("a", "POST", RESTART, undefined, ...action);
    await one.ask("a", "POST", RESTART);
    await one.ask("a", "DELETE", SET, undefined, ...removal);
    const next = await killedAfter(world, one);
    const again = await next.ask("a", "POST", RESTART, undefined, ...action);
    // What an action said with 200 is not kept; that it has nothing to say is.
    const told = restarted.status === 200 ? [409, "recorded-answer-not-at-hand"] : [restarted.status, "answered-as-recorded"];
    assert.deepEqual([again.status, again.headers["x-armgate-reason"]], told);
    await next.askArm("PUT", SET, bodyOf(9));
    await next.ask("a", "DELETE", SET, undefined, ...removal);
    assert.equal(next.journal.of("DELETE").length, 1, "what somebody made since must stay");
    assert.equal(next.journal.of("POST").length, 2);
    await next.ask("a", "POST", RESTART);
    assert.equal(next.journal.of("POST").length, 3, "this shows what a name is worth");
  },

  "U5: killed after its operation had failed, it says so under its name, and what only a rule calls one request goes again": async (world) => {
    const rules = { rules: [scaleSetRule({ once: { window: "10m" } })] };
    const one = await begin(world, { args: ["--operation-ms", "300"], rules, config: KEPT });
    const fails = (sim) => sim.addFaults([{ method: "PUT", path: "virtualMachineScaleSets", kind: "fail-later-QuotaExceeded", times: 1 }]);
    for (const name of [await nameNow("put"), []]) {
      await fails(one.sim);
      const made = await one.ask("a", "PUT", SET, bodyOf(4), ...name);
      const operation = made.headers["azure-asyncoperation"].replace("https://management.azure.com", "");
      const status = async () => (await one.ask("a", "GET", operation)).json.status;
      for (let now = await status(); now !== "Failed"; now = await status()) await sleep(100);
      const next = await killedAfter(world, one);
      const again = await next.ask("a", "PUT", SET, bodyOf(4), ...name);
      if (name.length > 0)
        assert.deepEqual([again.status, again.json.error.code, again.headers["x-armgate-reason"]], [409, "ArmgateOperationFailed", "recorded-operation-failed"]);
      else
        assert.deepEqual([again.status, again.headers["x-armgate-replayed"]], [made.status, undefined]);
      Object.assign(one, next);
    }
    assert.equal(one.journal.of("PUT").length, 3, "the one without a name was sent twice");
  },

  "U5: where a rule says so, a double click is one request, until something else is accepted": async (world) => {
    const rules = { rules: [scaleSetRule({ once: { window: "10m" } })] };
    const { ask, journal } = await begin(world, { args: AT_ONCE, rules });
    const clicks = () => Promise.all([0, 1].map(() => ask("a", "POST", RESTART)));
    const replayed = (answers) => answers.filter(({ headers }) => headers["x-armgate-replayed"]).length;
    assert.equal(replayed(await clicks()), 1);
    assert.equal(replayed(await clicks()), 2);
    assert.equal(journal.of("POST").length, 1);
    assert.equal((await ask("b", "PATCH", SET, { tags: { b: "1" } })).status, 200);
    assert.equal(replayed([await ask("a", "POST", RESTART)]), 0);
    assert.equal(journal.of("POST").length, 2);
  },

  "U5: a rule holds over a restart": async (world) => {
    const rules = { rules: [scaleSetRule({ once: { window: "10m" } })] };
    const one = await begin(world, { args: AT_ONCE, rules, config: KEPT });
    assert.equal((await one.ask("a", "PUT", SET, bodyOf(4))).status, 200);
    const next = await killedAfter(world, one);
    const again = await next.ask("a", "PUT", SET, bodyOf(4));
    assert.deepEqual([again.status, again.headers["x-armgate-replayed"], again.json.sku.capacity], [200, "true", 4]);
    assert.equal(next.journal.of("PUT").length, 1);
  },

  "U5: one actor that forgot its operation joins it; of others nobody knows what they mean": async (world) => {
    for (const [actor, statuses, sent] of [["single", [200, 200], 1], ["unknown", [200, 503], 1]]) {
      const config = { clients: { a: { actor } }, queue: { wait_max: "1s" } };
      const rules = { rules: [scaleSetRule()] };
      const { ask, journal } = await begin(world, { args: ["--operation-ms", ENDLESS], rules, config });
      const first = await ask("a", "PUT", SET, bodyOf(4));
      const again = await ask("a", "PUT", SET, bodyOf(4));
      assert.deepEqual([[first.status, again.status], journal.of("PUT").length], [statuses, sent], actor);
      if (actor === "single") assert.equal(again.headers["azure-asyncoperation"], first.headers["azure-asyncoperation"]);
    }
  },
};
