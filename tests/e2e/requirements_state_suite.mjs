// Requirements E8 to E14 (docs/requirements.md): what is kept of resources that come and go, what they are called, and what is told.
import assert from "node:assert/strict";
import { curl, sending } from "./curl.mjs";
import { sleep } from "./harness.mjs";
import { begin, bodyOf, bothWays, capacityOf, ENDLESS, LOCATION, scaleSetRule, SET, targetOf, whileItRuns } from "./rows.mjs";
import { CLUSTER, NETWORK, SCALE_SET, SECURITY_GROUP } from "./tools.mjs";

const NET = targetOf(NETWORK);
const AKS = targetOf(CLUSTER);
const NSG = targetOf(SECURITY_GROUP);
const MACHINE = targetOf({ ...SCALE_SET, id: `${SCALE_SET.id}/virtualMachines/0` });
const ifMatch = (record) => record.headers["if-match"];
const HOP_BY_HOP = new Set(["via", "connection", "keep-alive", "transfer-encoding"]);
const endToEnd = (fields) => fields.filter(([name]) => !HOP_BY_HOP.has(name.toLowerCase()));

async function waitForLine(gateway, fits) {
  for (let tries = 0; tries < 100; ++tries) {
    const lines = gateway.process.log.split("\n").filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
    const found = lines.find(fits);
    if (found) return found;
    await sleep(50);
  }
  return assert.fail("the log has no such line");
}

export const tests = {
  // An autoscaler of the size 3 that it has seen asks for 4, while somebody has made it 5.
  "E8: a goal from an outdated view shrinks nothing, and nothing is answered in ARM's place": async (world) => {
    const seen = await bothWays(world, {}, async ({ sim, ask, askArm }) => {
      await ask("autoscaler", "GET", SET);
      await askArm("PUT", SET, bodyOf(5));
      const grown = await ask("autoscaler", "PUT", SET, bodyOf(4));
      return { status: grown.status, capacity: await capacityOf(sim) };
    });
    assert.deepEqual(seen, { without: { status: 200, capacity: 4 }, protected: { status: 412, capacity: 5 } });
  },

  // Who does not know of the delete is refused: its write would bring back what somebody meant to be gone.
  "E9: what was deleted, through armgate or around it, can be made again": async (world) => {
    const { ask, askArm, journal } = await begin(world);
    for (const [target, body] of [[SET, bodyOf(3)], [AKS, { ...LOCATION, properties: { dnsPrefix: "d" } }]]) {
      for (const user of ["a", "b"]) await ask(user, "GET", target);
      assert.ok((await ask("a", "DELETE", target)).status < 300);
      assert.equal((await ask("b", "PUT", target, body)).status, 412);
      assert.equal((await ask("a", "PUT", target, body)).status, 201);
      assert.equal(ifMatch(journal.of("PUT").at(-1)), undefined, "with an ETag of the old one ARM would have refused it");

      await ask("a", "GET", target);
      await askArm("DELETE", target);
      const unaware = await ask("a", "PUT", target, body);
      assert.equal(unaware.status, 412);
      assert.match(unaware.json.error.message, /no such resource|not found/);
      assert.equal((await ask("a", "GET", target)).status, 404);
      assert.equal((await ask("a", "PUT", target, body)).status, 201);
    }
  },

  "E10: the change of a child is a change of its parent": async (world) => {
    const seen = await bothWays(world, {}, async ({ sim, ask }) => {
      await sim.make(NETWORK.id, NETWORK.version, { ...LOCATION, properties: { subnets: [] } });
      const result = {};
      for (const [parent, child, body] of [[NETWORK, "subnets/new", {}], [CLUSTER, "agentPools/new", { count: 1 }]]) {
        const { json } = await ask("a", "GET", targetOf(parent));
        assert.equal((await ask("b", "PUT", targetOf({ ...parent, id: `${parent.id}/${child}` }), { properties: body })).status, 201);
        const late = await ask("a", "PUT", targetOf(parent), { ...json, tags: { late: "1" }, etag: undefined, eTag: undefined });
        const { tags, properties: { subnets, agentPoolProfiles } } = await sim.read(parent.id, parent.version);
        result[child] = [late.status, tags?.late, (subnets ?? agentPoolProfiles).map(({ name }) => name).includes("new")];
      }
      return result;
    });
    assert.deepEqual(seen, { without: { "subnets/new": [200, "1", false], "agentPools/new": [200, "1", false] },
                             protected: { "subnets/new": [200, "1", true], "agentPools/new": [200, "1", true] } });
  },

  // Later than its own answer, and although nothing about the set has changed, a machine's change moves the set's ETag.
  "E10: a parent's ETag that moves after the write of a child is no stale write": async (world) => {
    const { ask, askArm, journal } = await begin(world, { args: ["--operation-ms", "200"] });
    const { headers: { etag } } = await ask("a", "GET", SET);
    assert.ok((await ask("a", "PUT", MACHINE, { ...LOCATION, properties: { protectionPolicy: { protectFromScaleIn: true } } })).status < 300);
    await sleep(400);
    const direct = await askArm("PUT", SET, bodyOf(2), { "if-match": etag });
    assert.equal(direct.status, 412, "the ETag did not move: this tests nothing");
    assert.equal((await ask("a", "PUT", SET, bodyOf(2))).status, 200);
    assert.notEqual(ifMatch(journal.of("PUT", "/web?").at(-1)), etag);
  },

  "E11: names have no case, no escapes, no slash at the end, and no api-version, neither for what was read nor for who waits": async (world) => {
    const one = await begin(world, { args: ["--operation-ms", "0"], config: { operations: { poll_waited: "200ms" } } });
    const { sim, ask, journal } = one;
    const spellings = [
      SET.replace("/resourceGroups/rg/providers/Microsoft.Compute/virtualMachineScaleSets/web",
                  "/RESOURCEGROUPS/RG/providers/MICROSOFT.COMPUTE/VIRTUALMACHINESCALESETS/WEB"),
      SET.replace("/web?", "/w%65b?"), SET.replace("/web?", "/web/?"), SET.replace("2024-07-01", "2024-11-01")];
    const { headers: { etag } } = await ask("other", "GET", SET);
    await Promise.all(spellings.map((spelling, i) => ask(`user-${i}`, "GET", spelling)));
    assert.equal((await ask("other", "PUT", SET, bodyOf(5), "--header", `x-sim-operation-ms: ${ENDLESS}`)).status, 200);
    // Each is held to what it was shown under another spelling, and waits for the operation that the first PUT began.
    const late = await whileItRuns(one, spellings.map((_, i) => () => ask(`user-${i}`, "PUT", SET, bodyOf(2))));
    for (const [i, answer] of late.entries()) {
      assert.equal(answer.status, 412, spellings[i]);
      assert.ok(Number(answer.headers["x-armgate-waited-ms"]) > 0, spellings[i]);
    }
    assert.deepEqual(journal.of("PUT").slice(-spellings.length).map(ifMatch), spellings.map(() => etag));
    assert.equal(await capacityOf(sim), 5);
  },

  "E11: an action is one on the resource before it": async (world) => {
    const seen = await bothWays(world, { args: ["--operation-ms", ENDLESS], config: { operations: { poll_waited: "200ms" } } }, async (one) => {
      assert.equal((await one.ask("a", "PATCH", SET, { tags: { a: "1" } })).status, 200);
      const [restarted] = await whileItRuns(one, [() => one.ask("b", "POST", SET.replace("/web?", "/Web/Restart?"))]);
      return { status: restarted.status, waited: Number(restarted.headers["x-armgate-waited-ms"] ?? 0) > 0 };
    });
    assert.deepEqual(seen, { without: { status: 409, waited: false }, protected: { status: 202, waited: true } });
  },

  "E12: switched off, wholly or for a type, armgate changes no byte": async (world) => {
    const rules = { rules: [scaleSetRule({ mode: "off" })] };
    for (const settings of [{ config: { mode: "off" } }, { config: { mode: "observe" } }, { rules }]) {
      const { ask, gateway, journal } = await begin(world, settings);
      const read = await ask("a", "GET", SET);
      const args = sending("PUT", read.json, "X-Ms-Odd-Case: kept");
      const through = await curl(world, gateway, SET, { user: "a", args });
      await curl(world, gateway, SET, { direct: true, caFile: journal.caFile, args: [...args, "--connect-to", `::127.0.0.1:${journal.port}`] });
      const [sent, direct] = journal.of("PUT");
      assert.deepEqual(endToEnd(sent.fields), endToEnd(direct.fields));
      assert.deepEqual([sent.url, sent.body], [direct.url, direct.body]);
      assert.deepEqual(Object.keys(through.headers).filter((name) => name.startsWith("x-armgate")), []);
      // Off for one type leaves the others guarded.
      await ask("a", "GET", NSG);
      await ask("a", "PUT", NSG, { ...LOCATION, tags: { a: "1" } });
      assert.equal(ifMatch(journal.of("PUT", "networkSecurityGroups").at(-1)) !== undefined, "rules" in settings);
    }
  },

  "E12: api-versions that know no ETags are sent none": async (world) => {
    const { ask, journal } = await begin(world);
    const old = SET.replace("2024-07-01", "2023-09-01");
    for (const [target, has] of [[old, false], [SET, true]]) {
      await ask("a", "GET", target);
      assert.equal((await ask("a", "PUT", target, bodyOf(2, { [target.slice(-10)]: "1" }))).status, 200);
      assert.equal(ifMatch(journal.of("PUT").at(-1)) !== undefined, has, target);
    }
  },

  "E13: reads are answered by ARM, every one": async (world) => {
    const { ask, journal } = await begin(world);
    for (let i = 0; i < 5; ++i) {
      const answer = await ask("a", "GET", SET);
      assert.equal(answer.status, 200);
      assert.ok(journal.seen.at(-1).answer.headers.includes(answer.headers["x-ms-request-id"]), "this very answer is ARM's");
    }
    assert.equal(journal.of("GET").length, 5);
  },

  "E13: a write that ARM refuses leaves what is known as it was": async (world) => {
    const { sim, ask, journal } = await begin(world);
    const { headers: { etag } } = await ask("a", "GET", SET);
    await sim.addFaults([{ method: "PUT", kind: "error-quota" }]);
    assert.equal((await ask("a", "PUT", SET, bodyOf(2))).status, 409);
    assert.equal((await ask("a", "PUT", SET, bodyOf(3))).status, 200);
    assert.deepEqual(journal.of("PUT").map(ifMatch), [etag, etag]);
  },

  "E14: the log has ARM's own words and what was done about them": async (world) => {
    const rules = { rules: [scaleSetRule({ retry: { busy: { base: "50ms" } } })] };
    const { sim, gateway, ask, askArm } = await begin(world, { rules });
    await sim.addFaults([{ method: "PATCH", kind: "error-busy-compute" }, { method: "DELETE", kind: "error-quota" }]);
    assert.equal((await ask("retried", "PATCH", SET, { tags: { a: "1" } })).status, 200);
    assert.equal((await ask("passed-on", "DELETE", SET)).status, 409);
    await ask("refused", "GET", SET);
    await askArm("PUT", SET, bodyOf(5));
    assert.equal((await ask("refused", "PUT", SET, bodyOf(2))).status, 412);
    for (const [client, code, message, reason] of [
      ["retried", "ConflictingConcurrentWriteNotAllowed", /interrupted by a conflicting concurrent write/, "arm-was-busy"],
      ["passed-on", "OperationNotAllowed", /^$/, undefined],  // nothing was done about it
      ["refused", "PreconditionFailed", /Etag provided in if-match header/, "conflict"]]) {
      const line = await waitForLine(gateway, (one) => one.client === client && one.status !== undefined && one.method !== "GET");
      assert.deepEqual([line.upstream_code, line.reason], [code, reason], client);
      assert.match(line.upstream_message ?? "", message, client);
    }
  },
};
