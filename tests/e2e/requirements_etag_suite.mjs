// Requirements E1 to E7 (docs/requirements.md): the ETag that goes along, and what becomes of a 412. Each is one story through the real
// program against armsim, told without armgate's protection as well where that shows something else.
import assert from "node:assert/strict";
import { assertConflict, begin, bodyOf, bothWays, capacityOf, LOCATION, scaleSetRule, SET, targetOf } from "./rows.mjs";
import { sleep } from "./harness.mjs";
import { CLUSTER, GROUP, SCALE_SET, SECURITY_GROUP } from "./tools.mjs";

const NSG = targetOf(SECURITY_GROUP);
const ZONE = { id: `${GROUP}/providers/Microsoft.Network/dnsZones/example.com`, version: "2018-05-01" };
const PRIVATE_ZONE = { id: `${GROUP}/providers/Microsoft.Network/privateDnsZones/example.com`, version: "2024-06-01" };
const POOL = { id: `${CLUSTER.id}/agentPools/blue`, version: CLUSTER.version };
const conditionsOf = ({ fields }) => fields.filter(([name]) => /^if-/i.test(name));
const ifMatch = (record) => record.headers["if-match"];

// What a client learns of an ETag from, and the ETag that its next PUT must carry then.
const SOURCES = {
  "the header of a read": {
    at: SCALE_SET, body: bodyOf(2), learn: async (ask, target) => (await ask("a", "GET", target)).headers.etag,
    alter: (answer, json) => { delete json.etag; } },
  "etag in the body of a read": {
    at: SCALE_SET, body: bodyOf(2), learn: async (ask, target) => (await ask("a", "GET", target)).json.etag,
    alter: (answer) => { answer.headers = withoutField(answer.headers, "etag"); } },
  "eTag in the body of a read": {
    at: CLUSTER, body: { ...LOCATION, properties: { dnsPrefix: "d" } }, learn: async (ask, target) => (await ask("a", "GET", target)).json.eTag },
  "properties.eTag in the body of a read": {
    at: POOL, body: { properties: { count: 2 } }, learn: async (ask, target) => (await ask("a", "GET", target)).json.properties.eTag },
  "an ETag without quotes": {
    at: ZONE, body: { ...LOCATION, tags: { a: "1" } }, learn: async (ask, target) => (await ask("a", "GET", target)).headers.etag },
  "an item on the second page of a list": {
    at: SCALE_SET, body: bodyOf(2), learn: async (ask, target) => {
      const list = target.replace(/\/web\?/, "?");
      const first = await ask("a", "GET", list);
      assert.ok(first.json.value.every(({ name }) => name !== "web"), "it is on the first page");
      const second = await ask("a", "GET", first.json.nextLink.replace(/^https:\/\/[^/]*/, ""));
      return second.json.value.find(({ name }) => name === "web").etag;
    } },
  "the answer to the PUT that made it": {
    at: { ...SCALE_SET, id: `${SCALE_SET.id}-made` }, body: bodyOf(2), learn: async (ask, target) => {
      const made = await ask("a", "PUT", target, bodyOf(1));
      assert.equal(made.status, 201);
      return made.json.etag;
    } },
  "the answer to a PATCH": {
    at: SCALE_SET, body: bodyOf(2), learn: async (ask, target) => (await ask("a", "PATCH", target, { tags: { patched: "1" } })).json.etag },
};

const withoutField = (flat, name) => flat.filter((_, i) => flat[i - (i % 2)].toLowerCase() !== name);

// The answer with another body, or other fields.
function edited(answer, edit) {
  const json = JSON.parse(answer.body);
  edit(answer, json);
  return { ...answer, headers: withoutField(answer.headers, "content-length"), body: JSON.stringify(json) };
}

// A client that has learnt of an ETag in one way is held to it after somebody else's change.
async function learnFrom(world, name, { at, body, learn, alter }) {
  const target = targetOf(at);
  const { sim, journal, ask } = await begin(world, {
    args: ["--operation-ms", "0", "--page-items", "1"],
    alter: (record, answer) => (alter && record.method === "GET" && answer.status === 200 ? edited(answer, alter) : answer) });
  await sim.make(ZONE.id, ZONE.version, LOCATION);
  await sim.make(`${SCALE_SET.id}-first`.replace("web-first", "a-first"), SCALE_SET.version, bodyOf(1));
  const etag = await learn(ask, target);
  assert.ok(etag?.length > 0, `${name}: it shows none`);
  await ask("b", "GET", target);
  assert.equal((await ask("b", "PUT", target, { ...body, properties: { ...body.properties, other: 1 } })).status, 200, name);
  const late = await ask("a", "PUT", target, body);
  assert.equal(late.status, 412, `${name}: ${JSON.stringify(late.json)}`);
  assert.equal(ifMatch(journal.of("PUT", at.id).at(-1)), etag, name);
}

export const tests = {
  "E1: a write carries the ETag that its client was shown, byte for byte; who was shown nothing carries none": async (world) => {
    const rules = { rules: [scaleSetRule({ guard: { kind: "etag", methods: ["PUT", "PATCH", "DELETE"] } })] };
    const config = { clients: { reader: { actor: "single" } } };
    const { without, protected: guarded } = await bothWays(world, { rules, config }, async ({ journal, ask }) => {
      const shown = [];
      const show = async (target) => shown.push((await ask("reader", "GET", target)).headers.etag);
      await show(NSG);
      await ask("reader", "PUT", NSG, { ...LOCATION, tags: { a: "1" } });
      for (const [method, body] of [["PUT", bodyOf(2)], ["PATCH", { tags: {} }], ["DELETE"]]) {
        await show(SET);
        assert.ok((await ask("reader", method, SET, body)).status < 300, method);
      }
      // Told once that somebody else has written, it means it.
      const blind = () => ask("stranger", "PUT", NSG, { ...LOCATION, tags: { b: "1" } });
      if ((await blind()).status === 412) await blind();
      const writes = journal.seen.filter(({ method }) => method !== "GET");
      return { shown, sent: writes.map(ifMatch) };
    });
    assert.match(guarded.shown[0], /^W\/"[^"]+"$/);
    assert.match(guarded.shown[1], /^"\d+"$/);
    assert.deepEqual(guarded.sent, [...guarded.shown, undefined]);
    assert.deepEqual(without.sent, [undefined, undefined, undefined, undefined, undefined]);
  },

  "E2: the ETag is the one that this client was shown, not the newest one": async (world) => {
    const seen = await bothWays(world, {}, async ({ sim, ask }) => {
      for (const user of ["a", "b"]) await ask(user, "GET", SET);
      assert.equal((await ask("b", "PUT", SET, bodyOf(5))).status, 200);
      const late = await ask("a", "PUT", SET, bodyOf(2));
      return { status: late.status, capacity: await capacityOf(sim) };
    });
    assert.deepEqual(seen, { without: { status: 200, capacity: 2 }, protected: { status: 412, capacity: 5 } });
  },

  "E3: a client's own precondition and its 412 are left alone, and tried once; an empty one counts as none": async (world) => {
    const { journal, ask, askArm } = await begin(world);
    const { headers: { etag } } = await ask("a", "GET", SET);
    for (const [name, value] of [["if-match", '"999"'], ["IF-NONE-MATCH", "*"], ["If-Match", `W/"7"`], ["If-None-Match", etag]]) {
      const before = journal.seen.length;
      const answer = await ask("a", "PUT", SET, bodyOf(2), "--header", `${name}: ${value}`);
      const direct = await askArm("PUT", SET, bodyOf(2), { [name]: value });
      assert.equal(answer.status, 412);
      assert.equal(answer.body.toString(), direct.body);
      assert.deepEqual(journal.seen.slice(before).map((record) => [record.method, ...conditionsOf(record)]), [["PUT", [name, value]]]);
    }
    assert.equal((await ask("a", "PUT", SET, bodyOf(2), "--header", "If-Match;")).status, 200);
    assert.deepEqual(conditionsOf(journal.seen.at(-1)), [["If-Match", etag]]);
  },

  "E4: an ETag is learnt from wherever ARM shows it": async (world) => {
    await Promise.all(Object.entries(SOURCES).map(([name, source]) => learnFrom(world, name, source)));
  },

  "E4: what an operation's result showed is held against the next write as well": async (world) => {
    const seen = await bothWays(world, { args: ["--operation-ms", "300"] }, async ({ ask, askArm, sim }) => {
      const result = {};
      const others = { nobody: null, "somebody elsewhere": { tags: { base: "1", other: "1" } }, "somebody there": { sku: { capacity: 5 } } };
      for (const [other, change] of Object.entries(others)) {
        const target = targetOf({ ...SCALE_SET, id: `${SCALE_SET.id}-${other.replace(" ", "-")}` });
        const made = await ask("a", "PUT", target, bodyOf(1));
        const monitor = made.headers["azure-asyncoperation"].replace(/^https:\/\/[^/]*/, "");
        while ((await ask("a", "GET", monitor)).json.status !== "Succeeded") await sleep(50);
        const location = made.headers.location?.replace(/^https:\/\/[^/]*/, "");
        const shown = location ? (await ask("a", "GET", location)).json : (await ask("a", "GET", target)).json;
        assert.notEqual(shown.etag, made.json.etag, "the end of the operation moved no ETag: this tests nothing");
        if (change) await askArm("PATCH", target, change, { "x-sim-operation-ms": "0" });
        const { status } = await ask("a", "PUT", target, bodyOf(2));
        const { sku, tags } = JSON.parse((await askArm("GET", target)).body);
        result[other] = [status, sku.capacity, Object.keys(tags).sort().join()];
      }
      return result;
    });
    const nobody = [200, 2, "base"];
    assert.deepEqual(seen.without, { nobody, "somebody elsewhere": nobody, "somebody there": nobody });
    assert.deepEqual(seen.protected, { nobody, "somebody elsewhere": [200, 2, "base,other"], "somebody there": [412, 5, "base"] });
  },

  // ARM answers 202 and shows nothing: what was sent is what the next write is built on, and armgate looks whether it still stands.
  "E5: after a success without an ETag the next write is compared with what the last one asked for": async (world) => {
    const zone = targetOf(PRIVATE_ZONE);
    const seen = await bothWays(world, { args: ["--operation-ms", "100"] }, async ({ journal, ask, askArm, sim }) => {
      assert.equal((await ask("a", "PUT", zone, { ...LOCATION, tags: { a: "1" } })).status, 202);
      await sleep(200);
      const second = await ask("a", "PUT", zone, { ...LOCATION, tags: { a: "2" } });
      const looked = journal.of("GET", "privateDnsZones").length > 0;
      await sleep(200);
      await askArm("PUT", zone, { ...LOCATION, tags: { a: "2", other: "1" } }, { "x-sim-operation-ms": "0" });
      const third = await ask("a", "PUT", zone, { ...LOCATION, tags: { a: "3" } });
      await sleep(200);
      const { tags: kept } = await sim.read(PRIVATE_ZONE.id, PRIVATE_ZONE.version);
      await askArm("PUT", zone, { ...LOCATION, tags: { a: "9" } }, { "x-sim-operation-ms": "0" });
      const fourth = await ask("a", "PUT", zone, { ...LOCATION, tags: { a: "4" } });
      return { second: second.status, looked, third: third.status, merged: third.headers["x-armgate-merged"], kept, fourth: fourth.status };
    });
    assert.deepEqual(seen.protected, { second: 202, looked: true, third: 202, merged: "1", kept: { a: "3", other: "1" }, fourth: 412 });
    assert.deepEqual(seen.without, { second: 202, looked: false, third: 202, merged: undefined, kept: { a: "3" }, fourth: 202 });
  },

  "E6: the end of a client's own operation moves the ETag, and that is no stale write": async (world) => {
    const { ask, askArm, journal } = await begin(world, { args: ["--operation-ms", "300"] });
    await ask("a", "GET", SET);
    const first = await ask("a", "PUT", SET, bodyOf(2));
    const second = await ask("a", "PUT", SET, bodyOf(3));
    assert.deepEqual([first.status, second.status], [200, 200]);
    assert.ok(journal.of("PUT").length >= 2);
    await sleep(400);
    // A client that sends the ETag of its own write's answer itself is refused, for nothing.
    const direct = await askArm("PUT", SET, bodyOf(4), { "if-match": second.json.etag });
    assert.equal(direct.status, 412, "the end of the operation moved no ETag: this tests nothing");
    assert.equal((await ask("a", "PUT", SET, bodyOf(4))).status, 200);
  },

  "E7: after a spurious 412 the write goes again with the fresh ETag": async (world) => {
    const { ask, askArm, journal, sim } = await begin(world);
    const { headers: { etag: first } } = await ask("a", "GET", SET);
    await askArm("PUT", SET, bodyOf(1));  // the same as it is: only the ETag moves
    const { etag: second } = await sim.read(SCALE_SET.id, SCALE_SET.version);
    assert.notEqual(first, second);
    const direct = await askArm("PUT", SET, bodyOf(2), { "if-match": first });
    assert.equal(direct.status, 412);
    const before = journal.seen.length;
    const answer = await ask("a", "PUT", SET, bodyOf(2));
    assert.equal(answer.status, 200);
    assert.deepEqual(journal.seen.slice(before).map((record) => [record.method, ifMatch(record), record.status]),
                     [["PUT", first, 412], ["GET", undefined, 200], ["PUT", second, 200]]);
    assert.equal(answer.headers["x-armgate-reason"], "etag-moved-without-a-change");
  },

  "E7: a 412 for a real change is the client's, and one that never ends is given up": async (world) => {
    let moving = false;
    const { ask, askArm, journal, sim } = await begin(world, {
      alter: async ({ method }) => { if (moving && method === "GET") await askMoved(); } });
    const askMoved = () => askArm("PUT", SET, bodyOf(5));
    await ask("a", "GET", SET);
    await askArm("PUT", SET, bodyOf(5));
    let before = journal.of("PUT").length;
    const late = await ask("a", "PUT", SET, bodyOf(2));
    assertConflict(late, "/sku/capacity");
    assert.equal(journal.of("PUT").length - before, 1);
    assert.equal(await capacityOf(sim), 5);

    // Whatever armgate reads is outdated when its PUT arrives.
    await ask("a", "GET", SET);
    moving = true;
    await askMoved();
    before = journal.of("PUT").length;
    const endless = await ask("a", "PUT", SET, bodyOf(3));
    assert.equal(endless.status, 412);
    assert.equal(journal.of("PUT").length - before, 33, "once, and 32 times more");
    assert.equal(await capacityOf(sim), 5);
  },
};
