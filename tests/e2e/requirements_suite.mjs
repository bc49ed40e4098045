// Requirements that a user could hold against armgate from outside, each by one story through the real program against armsim.
import assert from "node:assert/strict";
import { curl, curlJson, sending } from "./curl.mjs";
import { sleep } from "./harness.mjs";
import { startSim } from "./races.mjs";
import { GROUP, NETWORK, SCALE_SET } from "./tools.mjs";

const LOCATION = { location: "westeurope" };
const bodyOf = (capacity) => ({ ...LOCATION, sku: { name: "S", capacity }, tags: { base: "1" } });
const targetOf = ({ id, version }) => `${id}?api-version=${version}`;
const SET = targetOf(SCALE_SET);

async function begin(world, simArgs, config) {
  const sim = await startSim(world, simArgs);
  const gateway = await world.startGateway(sim, config);
  const ask = (user, method, target, body, ...args) => curlJson(world, gateway, target, {
    user, args: [...(body ? sending(method, body) : ["--request", method]), ...args] });
  return { sim, gateway, ask };
}

const capacityOf = async (sim) => (await sim.read(SCALE_SET.id, SCALE_SET.version)).sku.capacity;
const arrived = async (sim) => (await sim.report()).writes;

export const tests = {
  "the ETag is the one that this client was shown, not the newest one": async (world) => {
    const { sim, ask } = await begin(world);
    await ask("a", "GET", SET);
    await ask("b", "GET", SET);
    assert.equal((await ask("b", "PUT", SET, bodyOf(5))).status, 200);
    const late = await ask("a", "PUT", SET, bodyOf(2));
    assert.equal(late.status, 412);
    assert.equal(await capacityOf(sim), 5);
  },

  "an item on a later page of a list gives its ETag too": async (world) => {
    const { sim, ask } = await begin(world, ["--operation-ms", "0", "--page-items", "1"]);
    await sim.make(`${SCALE_SET.id}-second`, SCALE_SET.version, bodyOf(1));
    let page = `${SCALE_SET.id.slice(0, SCALE_SET.id.lastIndexOf("/"))}?api-version=${SCALE_SET.version}`;
    let pages = 0;
    for (; page; ++pages) {
      const { json } = await ask("lister", "GET", page);
      page = json.nextLink?.replace(/^https:\/\/[^/]*/, "");
    }
    assert.equal(pages, 2);
    const second = `${SCALE_SET.id}-second?api-version=${SCALE_SET.version}`;
    await ask("other", "GET", second);
    assert.equal((await ask("other", "PUT", second, bodyOf(7))).status, 200);
    assert.equal((await ask("lister", "PUT", second, bodyOf(2))).status, 412);
  },

  "names have no case, neither for what was read nor for who waits": async (world) => {
    const { sim, ask } = await begin(world, ["--operation-ms", "1500"]);
    const shouted = SET.replace("/resourceGroups/rg/providers/Microsoft.Compute/virtualMachineScaleSets/web",
                                "/RESOURCEGROUPS/RG/providers/MICROSOFT.COMPUTE/VIRTUALMACHINESCALESETS/WEB");
    await ask("a", "GET", shouted);
    await ask("b", "GET", SET);
    assert.equal((await ask("b", "PUT", shouted, bodyOf(5))).status, 200);
    const late = await ask("a", "PUT", SET, bodyOf(2));
    assert.equal(late.status, 412);
    assert.ok(Number(late.headers["x-armgate-waited-ms"]) > 0, "it waited for the same key");
    assert.equal((await sim.report()).overlaps_attempted, 0);
  },

  "what was deleted through armgate can be made again": async (world) => {
    const { ask } = await begin(world);
    await ask("a", "GET", SET);
    assert.ok((await ask("a", "DELETE", SET)).status < 300);
    const again = await ask("a", "PUT", SET, bodyOf(3));
    assert.equal(again.status, 201, JSON.stringify(again.json));
  },

  "reads are answered by ARM, every one": async (world) => {
    const { sim, ask } = await begin(world);
    const before = (await sim.report()).reads;
    for (let i = 0; i < 5; ++i) assert.equal((await ask("a", "GET", SET)).status, 200);
    assert.equal((await sim.report()).reads - before, 5);
  },

  "an error that no rule names passes through at once, whatever its body": async (world) => {
    const { sim, ask } = await begin(world);
    for (const name of ["quota", "locked", "unregistered", "wrong-state", "throttled", "null", "no-body"]) {
      await sim.addFaults([{ method: "PATCH", path: "virtualMachineScaleSets", kind: `error-${name}` }]);
      const before = await arrived(sim);
      const answer = await ask("a", "PATCH", SET, { tags: { [name]: "1" } });
      assert.ok([409, 429].includes(answer.status), `${name}: ${answer.status}`);
      assert.equal(await arrived(sim) - before, 1, name);
    }
    await sim.addFaults([{ method: "PATCH", path: "virtualMachineScaleSets", kind: "error-page" }]);
    const page = await curl(world, (await world.startGateway(sim)), SET, { args: sending("PATCH", { tags: {} }) });
    assert.equal(page.body.toString(), "<html><body>409 Conflict</body></html>");
  },

  "a refusal that passes is waited out for a write and told to whom it happened": async (world) => {
    const { sim, ask } = await begin(world);
    await sim.addFaults([{ method: "PATCH", path: "virtualMachineScaleSets", kind: "error-busy-web" }]);
    const answer = await ask("a", "PATCH", SET, { tags: { a: "1" } });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers["x-armgate-attempts"], "2");
    assert.equal(answer.headers["x-armgate-reason"], "arm-was-busy");
  },

  "a group that never was is not waited for, nor one that was deleted": async (world) => {
    const { sim, ask } = await begin(world);
    const inGroup = (name) => targetOf(NETWORK).replace("/resourceGroups/rg/", `/resourceGroups/${name}/`);
    const groupOf = (name) => `${GROUP.replace(/rg$/, name)}?api-version=2024-03-01`;
    assert.equal((await ask("a", "PUT", groupOf("short"), LOCATION)).status, 201);
    assert.ok((await ask("a", "DELETE", groupOf("short"))).status < 300);
    for (const name of ["typo", "short"]) {
      const before = await arrived(sim);
      const answer = await ask("a", "PUT", inGroup(name), LOCATION);
      assert.equal(answer.status, 404, name);
      assert.equal(answer.json.error.code, "ResourceGroupNotFound");
      assert.equal(await arrived(sim) - before, 1, name);
    }
  },

  "the same request twice under one id is one write": async (world) => {
    const { sim, ask } = await begin(world, ["--operation-ms", "0", "--latency-ms", "400"]);
    await ask("a", "GET", SET);
    const before = await arrived(sim);
    const click = () => ask("a", "PUT", SET, bodyOf(4), "--header", "x-ms-client-request-id: 00000000-0000-0000-0000-00000000c11c");
    const both = await Promise.all([click(), click()]);
    assert.deepEqual(both.map(({ status }) => status), [200, 200]);
    assert.equal(await arrived(sim) - before, 1);
    assert.equal(both.filter(({ headers }) => headers["x-armgate-replayed"]).length, 1);
  },

  "who leaves the queue is not sent, and does not hold up those behind": async (world) => {
    const { sim, ask, gateway } = await begin(world, ["--operation-ms", "3000"]);
    assert.equal((await ask("holder", "PATCH", SET, { tags: { holder: "1" } })).status, 200);
    const left = await curl(world, gateway, SET, { user: "left", args: [...sending("PATCH", { tags: { left: "1" } }), "--max-time", "0.7"] });
    assert.notEqual(left.code, 0, "it gave up");
    const behind = await ask("behind", "PATCH", SET, { tags: { behind: "1" } });
    assert.equal(behind.status, 200);
    await sleep(300);
    assert.deepEqual((await sim.read(SCALE_SET.id, SCALE_SET.version)).tags, { behind: "1" });
    assert.equal((await sim.report()).overlaps_attempted, 0);
  },
};
