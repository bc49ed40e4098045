// Requirements K1 to K6 (docs/requirements.md): which refusals of ARM are waited out, how, and which are the client's at once.
import assert from "node:assert/strict";
import { sleep } from "./harness.mjs";
import { Pool } from "./pool.mjs";
import { begin, bodyOf, bothWays, capacityOf, ENDLESS, LOCATION, scaleSetRule, SET, targetOf, whileItRuns } from "./rows.mjs";
import { NETWORK, SCALE_SET } from "./tools.mjs";

// As armsim knows them (sim/error_catalogue.cc).
const PASSING = ["busy-compute", "busy-network", "busy-network-throttled", "busy-hub", "busy-storage", "busy-storage-throttled",
                 "busy-cluster", "busy-cluster-etag", "busy-concurrent-request", "busy-credentials", "busy-deployment", "busy-container-app",
                 "busy-sql", "busy-sql-number", "busy-postgres", "busy-web", "busy-plan", "busy-plan-throttled", "busy-site-throttled",
                 "busy-zone", "busy-resolver", "busy-traffic", "busy-api", "busy-store", "busy-vault", "exclusive-lock",
                 "exclusive-lock-of-a-user", "busy-cognitive", "busy-bus", "busy-redis", "dependency-peering", "dependency-throttled",
                 "dependency-network"];
const FINAL = ["quota", "locked", "unregistered", "wrong-state", "throttled", "throttled-compute", "null", "no-body", "page"];
const EVERY_STATUS = [400, 401, 403, 404, 408, 409, 429, 500, 502, 503, 504].map((status) => `status-${status}`);

const QUICK = { base: "20ms", max: "40ms" };
const quick = (busy = {}) => ({ rules: [scaleSetRule({ retry: { busy: { ...QUICK, ...busy } } })] });
const ifMatch = (record) => record.headers["if-match"];

// What becomes of a PATCH that meets each of the faults, side by side: {fault: [status, sendings]}.
async function meet(world, faults, settings) {
  const { sim, journal, gateway } = await begin(world, settings);
  const pool = new Pool(gateway, { user: "a", connections: 40 });
  const met = await Promise.all(faults.map(async (fault) => {
    const id = `${SCALE_SET.id}-${fault}-end`;
    await sim.make(id, SCALE_SET.version, bodyOf(1));
    await sim.addFaults([{ method: "PATCH", path: `${fault}-end`, kind: fault }]);
    const answer = await pool.ask("PATCH", `${id}?api-version=${SCALE_SET.version}`, { tags: { a: "1" } });
    const sendings = journal.of("PATCH", `${fault}-end`);
    assert.ok(sendings.every(({ body }) => body.equals(sendings[0].body)));
    assert.equal(answer.text, sendings.at(-1).answer.body, "ARM's own words");
    return [fault, [answer.status, sendings.length]];
  }));
  pool.close();
  return Object.fromEntries(met);
}

const pauses = (records) => records.slice(1).map((record, i) => record.at - records[i].endedAt);

export const tests = {
  "K1: what passes by itself is waited out, everything else is the client's at once": async (world) => {
    const errors = (names) => names.map((name) => `error-${name}`);
    const all = errors([...PASSING, ...FINAL]);
    const met = await meet(world, all, { rules: quick() });
    for (const fault of errors(PASSING)) assert.deepEqual(met[fault], [200, 2], fault);
    for (const fault of errors(FINAL)) assert.deepEqual([met[fault][0] >= 400, met[fault][1]], [true, 1], fault);
    const without = await meet(world, all, { config: { mode: "off" } });
    for (const fault of all) assert.deepEqual([without[fault][0] >= 400, without[fault][1]], [true, 1], fault);
  },

  "K1: an operator's own table adds errors and takes them away": async (world) => {
    const errors = [{ class: "busy", status: [409], codes: ["Conflict"], message: { contains_any: ["not in a state that allows this"] } },
                    { class: "final", status: [409], codes: ["DeploymentActive"] }];
    const met = await meet(world, ["error-wrong-state", "error-busy-deployment", "error-busy-compute"], { rules: { ...quick(), errors } });
    assert.deepEqual(met, { "error-wrong-state": [200, 2], "error-busy-deployment": [409, 1], "error-busy-compute": [200, 2] });
  },

  "K2: what is sent again is the same, and only if nothing has changed": async (world) => {
    const id = "00000000-0000-0000-0000-00000000c0de";
    const seen = await bothWays(world, { rules: quick() }, async ({ sim, journal, ask }) => {
      const { headers: { etag } } = await ask("a", "GET", SET);
      await sim.addFaults([{ method: "PUT", kind: "error-busy-compute" }]);
      const { status } = await ask("a", "PUT", SET, bodyOf(2), "--header", `x-ms-client-request-id: ${id}`);
      return { status, etag, sendings: journal.of("PUT") };
    });
    const { status, etag, sendings: [first, second, ...more] } = seen.protected;
    assert.deepEqual([status, more], [200, []]);
    assert.ok(first.body.equals(second.body));
    assert.equal(first.url, second.url);
    assert.deepEqual(first.fields, second.fields, "the token, the id and all else");
    assert.equal(first.headers["x-ms-client-request-id"], id);
    assert.equal(ifMatch(second), etag);
    assert.deepEqual([seen.without.status, seen.without.sendings.length], [409, 1]);
  },

  // While armgate backs off, somebody who goes around it makes a change, or only moves the ETag.
  "K2: between two sendings armgate looks whether something has changed": async (world) => {
    let meanwhile = null;
    const { sim, journal, ask, askArm } = await begin(world, {
      rules: quick(), alter: async ({ method }, answer) => { if (method === "PUT" && answer.status === 409) await askArm("PUT", SET, meanwhile); } });
    for (const [body, status, capacity] of [[bodyOf(1), 200, 2], [bodyOf(7), 412, 7]]) {
      meanwhile = body;
      const { headers: { etag } } = await ask("a", "GET", SET);
      const before = journal.seen.length;
      await sim.addFaults([{ method: "PUT", kind: "error-busy-compute" }]);
      const answer = await ask("a", "PUT", SET, bodyOf(2));
      const since = journal.seen.slice(before);
      assert.equal(answer.status, status);
      assert.equal(await capacityOf(sim), capacity);
      assert.equal(since.filter(({ method }) => method === "PUT").length, status === 200 ? 2 : 1);
      if (status === 200) assert.notEqual(ifMatch(since.at(-1)), etag, "the fresh ETag of the same state");
    }
  },

  "K3: attempts and pauses are bounded, ARM's own pause comes first, and its last refusal is the client's": async (world) => {
    const { sim, journal, ask, askArm } = await begin(world, { rules: quick({ attempts: 4, base: "100ms", factor: 2, max: "150ms" }) });
    await sim.addFaults([{ method: "PATCH", kind: "error-busy-compute", times: 4 }]);
    const exhausted = await ask("a", "PATCH", SET, { tags: { a: "1" } });
    assert.equal(exhausted.status, 409);
    assert.equal(exhausted.headers["x-armgate-attempts"], "4");
    await sim.addFaults([{ method: "PATCH", kind: "error-busy-compute" }]);
    assert.equal(exhausted.body.toString(), (await askArm("PATCH", SET, { tags: { a: "1" } })).body);
    const waited = pauses(journal.of("PATCH"));
    assert.equal(waited.length, 3);
    for (const ms of waited) assert.ok(ms >= 8, `${waited}: a tenth of the bound at least`);

    const comeBack = async (pause) => {
      await sim.addFaults([{ method: "PATCH", kind: "error-busy-compute", retry_after: pause }]);
      const before = journal.seen.length;
      assert.equal((await ask("a", "PATCH", SET, { tags: { a: "2" } })).status, 200);
      return journal.seen.slice(before);
    };
    assert.ok(pauses(await comeBack("1"))[0] >= 990, "it did not wait for so many seconds");
    const date = Math.ceil(Date.now() / 1000) * 1000 + 2000;
    assert.ok((await comeBack(new Date(date).toUTCString()))[1].at >= date - 10, "it did not wait for the date");
    assert.equal((await comeBack("soon")).length, 2);
  },

  "K3: sending again ends at the deadline and at the client's queue timeout": async (world) => {
    const rules = quick({ deadline: "1s", base: "200ms", max: "200ms", attempts: 1000 });
    const { sim, journal, ask } = await begin(world, { rules });
    await sim.addFaults([{ method: "PATCH", kind: "error-busy-compute", times: 1000 }]);
    const late = await ask("a", "PATCH", SET, { tags: { a: "1" } });
    assert.equal(late.status, 409);
    const sendings = journal.of("PATCH");
    assert.ok(sendings.at(-1).at - sendings[0].at < 5000, "it went on after the deadline");
    const impatient = await begin(world, { rules: quick({ base: "200ms", max: "200ms", attempts: 1000 }), config: { queue: { wait_max: "600ms" } } });
    await impatient.sim.addFaults([{ method: "PATCH", kind: "error-busy-compute", times: 1000 }]);
    const busy = await impatient.ask("a", "PATCH", SET, { tags: { a: "1" } });
    assert.equal(busy.status, 503);
    assert.equal(busy.json.error.code, "ArmgateBusy");
    assert.ok(Number(busy.headers["retry-after"]) >= 1);
  },

  "K4: a running operation is waited for, not run against": async (world) => {
    const settings = { args: ["--operation-ms", ENDLESS], config: { operations: { poll_waited: "200ms" } } };
    const seen = await bothWays(world, settings, async (one) => {
      assert.equal((await one.ask("a", "PUT", SET, bodyOf(2))).status, 200);
      const [second] = await whileItRuns(one, [() => one.ask("b", "PATCH", SET, { tags: { b: "1" } })]);
      const writes = one.journal.seen.filter(({ method }) => method !== "GET");
      return { status: second.status, writes: writes.length, conflicts: (await one.sim.report()).conflicts };
    });
    assert.deepEqual(seen, { without: { status: 409, writes: 2, conflicts: 1 }, protected: { status: 200, writes: 2, conflicts: 0 } });
  },

  // Begun around armgate, so it knows nothing of it but what the refusal says: Network's names the operation.
  "K4: an operation that only the refusal names is asked about until it ends": async (world) => {
    const net = targetOf(NETWORK);
    const seen = await bothWays(world, { args: ["--operation-ms", ENDLESS] }, async (one) => {
      await one.sim.make(NETWORK.id, NETWORK.version, LOCATION);
      assert.equal((await one.askArm("PUT", net, { ...LOCATION, tags: { around: "1" } })).status, 200);
      const [answer] = await whileItRuns(one, [() => one.ask("a", "DELETE", net)]);
      return { status: answer.status, reason: answer.headers["x-armgate-reason"], sent: one.journal.of("DELETE").length,
               asked: one.journal.of("GET", "operation").length > 0 };
    });
    assert.deepEqual(seen, { without: { status: 409, reason: undefined, sent: 1, asked: false },
                             protected: { status: 202, reason: "arm-was-busy", sent: 2, asked: true } });
  },

  "K5: 404, 408, 429, 5xx and whatever no entry names are the client's at once": async (world) => {
    const met = await meet(world, EVERY_STATUS, { rules: quick() });
    assert.deepEqual(met, Object.fromEntries(EVERY_STATUS.map((fault) => [fault, [Number(fault.slice(7)), 1]])));
    const { journal, ask } = await begin(world);
    assert.equal((await ask("a", "PATCH", SET.replace("/web?", "/nowhere?"), { tags: {} })).status, 404);
    assert.equal(journal.of("PATCH").length, 1);
  },

  "K6: a PUT, a PATCH and a DELETE that ARM refused before effect go again, a POST never": async (world) => {
    const { sim, journal, ask } = await begin(world, { rules: quick() });
    const expected = { PATCH: [200, 2], PUT: [200, 2], POST: [409, 1], DELETE: [200, 2] };
    for (const [method, [status, sendings]] of Object.entries(expected)) {
      await ask("a", "GET", SET);
      await sim.addFaults([{ method, kind: "error-busy-compute" }]);
      const target = method === "POST" ? SET.replace("/web?", "/web/restart?") : SET;
      const answer = await ask("a", method, target, { PUT: bodyOf(2), PATCH: { tags: { base: "1" } } }[method]);
      assert.equal(answer.status, status, method);
      assert.equal(journal.of(method).length, sendings, method);
    }
  },

  "K6: an action whose answer got lost is not sent again, and its client is told": async (world) => {
    const { sim, journal, ask } = await begin(world);
    const restart = SET.replace("/web?", "/web/restart?");
    await sim.addFaults([{ method: "POST", kind: "drop-after" }]);
    const lost = await ask("a", "POST", restart);
    assert.deepEqual([lost.status, lost.json.error.code, lost.headers["retry-after"]], [409, "ArmgateOutcomeUnknown", undefined]);
    await sleep(100);
    assert.equal((await ask("a", "POST", restart)).status, 409, "the client's own re-send is recognised");
    assert.equal(journal.of("POST").length, 1);
    assert.equal((await sim.report()).actions.restart, 1);
  },
};
