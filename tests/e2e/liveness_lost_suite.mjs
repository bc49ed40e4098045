// Stories of updates that were acknowledged and lost, or acknowledged and never sent. (B6 is told by liveness_adds_suite.mjs.)
import assert from "node:assert/strict";
import { curlJson, sending } from "./curl.mjs";
import { sleep } from "./harness.mjs";
import { Pool } from "./pool.mjs";
import { begin, bodyOf, capacityOf, LOCATION, SET, targetOf } from "./rows.mjs";
import { CLUSTER, GROUP, NETWORK, OLD_SCALE_SET, once, SCALE_SET, tagsOf, tokenOf } from "./tools.mjs";

const OLD = targetOf(OLD_SCALE_SET);
const AKS = targetOf(CLUSTER);
const POOL = targetOf({ id: `${CLUSTER.id}/agentPools/blue`, version: CLUSTER.version });
const RESOURCE_GROUP = targetOf({ id: GROUP, version: "2021-04-01" });
const LAG_MS = 1000;

export const tests = {
  // The answer's client was gone without TLS's goodbye, and the same bytes come again after another's write.
  "B7: what is acknowledged was sent": async (world) => {
    const { ask, gateway, sim } = await begin(world);
    await sim.make(OLD_SCALE_SET.id, OLD_SCALE_SET.version, bodyOf(1));
    const nightly = () => once(world, gateway, "nightly", "PUT", OLD, bodyOf(3));
    assert.equal(await nightly(), 200);
    await ask("ben", "GET", OLD);
    assert.equal((await ask("ben", "PUT", OLD, bodyOf(9))).status, 200);
    let status = await nightly();
    if (status === 412) status = await nightly();  // another has written since: it may be refused once
    assert.equal(status, 200);
    assert.equal((await sim.read(OLD_SCALE_SET.id, OLD_SCALE_SET.version)).sku.capacity, 3);
  },

  // Nothing but the token tells who it is; its packets come from wherever a load balancer or a second interface sends them.
  "B9: a copy that was read from another address is still what the write was built on": async (world) => {
    for (const [namesake, asked, merged] of [[false, 1, true], [false, 2, false], [true, 1, false]]) {
      const { ask, gateway, sim } = await begin(world);
      const at = (address, ...args) => curlJson(world, gateway, SET, { user: "", token: tokenOf("jvm"), args: ["--interface", address, ...args] });
      await at("127.0.0.2");
      await ask("ben", "GET", SET);
      assert.equal((await ask("ben", "PUT", SET, bodyOf(5))).status, 200);
      if (namesake) await at("127.0.0.3");
      const { status } = await at("127.0.0.3", ...sending("PUT", bodyOf(asked, { base: "1", jvm: "1" })));
      const { sku: { capacity }, tags } = await sim.read(SCALE_SET.id, SCALE_SET.version);
      assert.deepEqual({ namesake, asked, status, capacity, added: "jvm" in tags }, { namesake, asked, status: merged ? 200 : 412, capacity: 5, added: merged });
    }
  },

  // A pool's change leaves the cluster's ETag where it is.
  "B10: an equal ETag is no proof of equal content": async (world) => {
    for (const around of [false, true]) {
      for (const namesake of [false, true]) {
        const { ask, askArm, sim } = await begin(world);
        const { json: copy } = await ask("ann", "GET", AKS);
        const { json: pool } = await ask("ben", "GET", POOL);
        const grown = { ...pool, properties: { ...pool.properties, count: 3 } };
        const answer = around ? await askArm("PUT", POOL, grown) : await ask("ben", "PUT", POOL, grown);
        assert.equal(answer.status, 200);
        assert.equal((await sim.read(CLUSTER.id, CLUSTER.version)).eTag, copy.eTag, "the ETag has moved: this tests nothing");
        if (namesake) await ask("ann", "GET", AKS);
        const { status } = await ask("ann", "PUT", AKS, { ...copy, tags: { ann: "1" } });
        const { tags, properties: { agentPoolProfiles: [{ count }] } } = await sim.read(CLUSTER.id, CLUSTER.version);
        const added = tags !== undefined && "ann" in tags;
        assert.deepEqual({ around, namesake, status, count, added }, { around, namesake, status: namesake ? 412 : 200, count: 3, added: !namesake });
      }
    }
  },

  "B11: a lagging read does not prove that nobody has written": async (world) => {
    const { ask, sim } = await begin(world);
    const group = (tags) => ({ ...LOCATION, tags });
    await sleep(LAG_MS);  // so long ago that a lagging replica knows of it
    for (const user of ["ann", "ben"]) await ask(user, "GET", RESOURCE_GROUP);
    assert.equal((await ask("ben", "PUT", RESOURCE_GROUP, group({ ben: "1" }))).status, 200);
    await sim.addFaults([{ method: "GET", path: "/resourceGroups/rg?", kind: `stale-${LAG_MS}` }]);
    const late = await ask("ann", "PUT", RESOURCE_GROUP, group({ ann: "1" }));
    assert.deepEqual([late.status, late.headers["x-armgate-merged"]], [200, "1"]);
    assert.deepEqual(tagsOf(await sim.read(GROUP, "2021-04-01")), new Set(["ann", "ben"]));
  },

  "B11: a lagging 404 does not make a create of an overwriting": async (world) => {
    const { ask, sim } = await begin(world);
    const target = targetOf({ ...NETWORK, id: `${NETWORK.id}-new` });
    const network = (tags) => ({ ...LOCATION, tags, properties: { addressSpace: { addressPrefixes: ["10.0.0.0/16"] } } });
    assert.equal((await ask("ben", "PUT", target, network({ ben: "1" }))).status, 201);
    await sim.addFaults([{ method: "GET", path: "-new?", kind: "stale-60000" }]);
    assert.equal((await ask("ann", "GET", target)).status, 404);
    assert.equal((await ask("ann", "PUT", target, network({ ann: "1" }))).status, 412);
    assert.deepEqual(tagsOf(await sim.read(`${NETWORK.id}-new`, NETWORK.version)), new Set(["ben"]));
  },

  // A client's own lagging read is a base, and takes nothing from those that are newer.
  "B11: who was shown a lagging state writes nothing back": async (world) => {
    const { ask, sim } = await begin(world);
    await ask("ben", "GET", SET);
    await sleep(LAG_MS);
    assert.equal((await ask("ben", "PUT", SET, bodyOf(5))).status, 200);
    await sim.addFaults([{ method: "GET", path: "/virtualMachineScaleSets/web?", kind: `stale-${LAG_MS}` }]);
    const { json } = await ask("ann", "GET", SET);
    assert.equal(json.sku.capacity, 1, "the read did not lag: this tests nothing");
    assert.equal((await ask("ann", "PUT", SET, { ...json, sku: { ...json.sku, capacity: 2 } })).status, 412);
    const late = await ask("ann", "PUT", SET, { ...json, tags: { ...json.tags, ann: "1" } });
    assert.equal(late.status, 200);
    const { sku, tags } = await sim.read(SCALE_SET.id, SCALE_SET.version);
    assert.deepEqual([sku.capacity, tags.ann], [5, "1"]);
  },

  // The file has never been read from anywhere: what a namesake reads meanwhile is not its base.
  "B12: what is sent again after a 503 does not take a namesake's ETag": async (world) => {
    const config = { queue: { wait_max: "1s" }, operations: { poll_waited: "200ms" } };
    const { ask, sim } = await begin(world, { config });
    const file = bodyOf(2, { file: "1" });
    await ask("ben", "GET", SET);
    assert.equal((await ask("ben", "PUT", SET, bodyOf(5), "--header", "x-sim-operation-ms: 600000")).status, 200);
    assert.equal((await ask("jvm", "PUT", SET, file)).status, 503);
    await sim.finish();
    assert.equal((await ask("jvm", "GET", SET)).status, 200);
    assert.equal((await ask("jvm", "PUT", SET, file)).status, 412);
    assert.equal(await capacityOf(sim), 5);
  },

  "B13: an item of a list is remembered however many lists are read after it": async (world) => {
    const lists = ["Microsoft.Compute/virtualMachineScaleSets", "Microsoft.Network/networkSecurityGroups"].map((type) =>
      targetOf({ id: `${GROUP}/providers/${type}`, version: SCALE_SET.version }));
    for (const [later, merged] of [[lists[0], false], [lists[1], true]]) {  // only the first shows what ben has made of it
      const { ask, gateway, sim } = await begin(world);
      const ann = new Pool(gateway, { user: "ann" });
      const copy = (await ann.ask("GET", lists[0])).json.value.find(({ name }) => name === "web");
      await ask("ben", "GET", SET);
      assert.equal((await ask("ben", "PUT", SET, bodyOf(5))).status, 200);
      for (let i = 0; i < 66; ++i) assert.equal((await ann.ask("GET", later)).status, 200);
      const { status } = await ann.ask("PUT", SET, { ...copy, etag: undefined, tags: { ...copy.tags, ann: "1" } });
      ann.close();
      const { sku: { capacity }, tags } = await sim.read(SCALE_SET.id, SCALE_SET.version);
      assert.deepEqual({ later, status, capacity, added: "ann" in tags }, { later, status: merged ? 200 : 412, capacity: 5, added: merged });
    }
  },
};
