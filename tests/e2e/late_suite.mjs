// Operations that fail after ARM has taken their writes: behind a URL of armgate's own they go again, as far as nothing was done.
import assert from "node:assert/strict";
import path from "node:path";
import { run, sleep } from "./harness.mjs";
import { begin, scaleSetRule, SET } from "./rows.mjs";
import { waitFor } from "./scale_set.mjs";
import { client, SCALE_SET, tagsOf } from "./tools.mjs";

const BUSY = "AnotherOperationInProgress";
const RULES = { rules: [scaleSetRule({ retry: { operation: { attempts: 3, base: "200ms", max: "1s" } } })] };
const KEPT = { journal: { file: "journal.db" } };
const OWN = /\/armgate-operations\/[0-9a-f]{32}/;

const start = (world, { rules = RULES, config, operationMs = "300" } = {}) => begin(world, { args: ["--operation-ms", operationMs], rules, config });
const fail = (sim, kind = "fail-later", code = BUSY, times = 1) => sim.addFaults([{ method: "PUT", path: "virtualMachineScaleSets", kind: `${kind}-${code}`, times }]);
const putsOf = ({ journal }) => journal.of("PUT");

async function write({ ask }, user, tags) {
  const { json: seen } = await ask(user, "GET", SET);
  const { etag, ...mine } = seen;
  return ask(user, "PUT", SET, { ...mine, tags: { ...mine.tags, ...tags } });
}

const targetOf = (answer) => { const url = new URL(answer.headers["azure-asyncoperation"]); return url.pathname + url.search; };

async function follow({ ask }, user, target) {
  let status;
  await waitFor("the operation's end", async () => {
    status = (await ask(user, "GET", target)).json;
    return status.status !== "InProgress";
  });
  return status;
}

// As when the machine runs out of memory.
async function killAndStart(world, story) {
  await sleep(100);
  story.gateway.process.child.kill("SIGKILL");
  await story.gateway.process.exit;
  story.gateway = Object.assign(story.gateway, await world.runGateway(story.gateway));
}

const sdkWrites = (world, story, kind) => client(world, story.gateway, "named", kind, "addTags", { client: `tool-${kind}`, name: "web", writes: 1, seconds: 60 });

async function anSdkSeesOneOperation(world, kind) {
  const story = await start(world);
  await fail(story.sim, "fail-later", BUSY, 2);
  const told = await sdkWrites(world, story, kind);
  assert.deepEqual([told.acknowledged.length, told.errors], [1, []], JSON.stringify(told));
  const puts = putsOf(story);
  assert.equal(puts.length, 3, "two operations failed");
  assert.deepEqual(puts.map(({ body }) => body), puts.map(() => puts[0].body));
  assert.ok(puts.every(({ headers }) => headers["if-match"]), "each with the ETag of what was there");
  assert.ok(tagsOf(await story.sim.read(SCALE_SET.id, SCALE_SET.version)).has(told.acknowledged[0]));
  assert.equal((await story.sim.report()).lost_updates, 0);
  assert.equal(story.journal.of("GET", "armgate-operations").length, 0, "ARM never sees the URL");
}

export const tests = {
  "the SDK for JavaScript sees one operation that succeeds, however often it went": (world) => anSdkSeesOneOperation(world, "js"),
  "the SDK for Python sees one operation that succeeds, however often it went": (world) => anSdkSeesOneOperation(world, "python"),
  "the SDK for Go sees one operation that succeeds, however often it went": (world) => anSdkSeesOneOperation(world, "go"),

  "without the rule's key the SDK is told the failure": async (world) => {
    const story = await start(world, { rules: { rules: [scaleSetRule()] } });
    await fail(story.sim);
    const told = await sdkWrites(world, story, "js");
    assert.equal(told.acknowledged.length, 0, "this test shows what those before are worth");
    assert.match(JSON.stringify(told.errors), new RegExp(BUSY));
    assert.equal(putsOf(story).length, 1);
  },

  "a partial effect and a final error are told as they are": async (world) => {
    for (const [kind, code] of [["fail-partly", BUSY], ["fail-later", "QuotaExceeded"]]) {
      const story = await start(world);
      await fail(story.sim, kind, code);
      const answer = await write(story, "one", { a: "1" });
      assert.match(answer.headers["azure-asyncoperation"], OWN);
      assert.equal(answer.headers["x-armgate-reason"], "own-operation-url");
      const status = await follow(story, "one", targetOf(answer));
      assert.deepEqual([status.status, status.error.code], ["Failed", code]);
      assert.equal(putsOf(story).length, 1, `${kind} ${code}`);
    }
  },

  "who reads what a failed operation left and asks for the same again is sent": async (world) => {
    const story = await start(world, { rules: { rules: [scaleSetRule()] } });
    await fail(story.sim, "fail-later", "QuotaExceeded", 2);
    for (const end of ["Failed", "Failed", "Succeeded"]) {
      const answer = await write(story, "one", { a: "1" });
      assert.match(String(answer.status), /^20[01]$/, answer.body);
      assert.equal((await follow(story, "one", targetOf(answer))).status, end);
    }
    assert.equal(putsOf(story).length, 3);
    assert.equal((await story.sim.report()).lost_updates, 0);
  },

  "others wait until the last sending has ended, and nothing of theirs is lost": async (world) => {
    const story = await start(world, { operationMs: "600" });
    await fail(story.sim);
    const answer = await write(story, "one", { one: "1" });
    const other = write(story, "two", { two: "1" });
    assert.equal((await follow(story, "one", targetOf(answer))).status, "Succeeded");
    assert.equal((await other).status, 200, "merged with it");
    const tags = tagsOf(await story.sim.read(SCALE_SET.id, SCALE_SET.version));
    for (const tag of ["one", "two"]) assert.ok(tags.has(tag), tag);
    assert.equal((await story.sim.report()).lost_updates, 0);
  },

  "around armgate ARM knows no such operation": async (world) => {
    const story = await start(world);
    const target = targetOf(await write(story, "one", { a: "1" }));
    assert.equal((await story.askArm("GET", target)).status, 404);
    assert.equal((await follow(story, "one", target)).status, "Succeeded");
  },

  "killed while it runs: the next process follows it, sends nothing again, and tells ARM's last word": async (world) => {
    const story = await start(world, { config: KEPT, operationMs: "2000" });
    await fail(story.sim);
    const target = targetOf(await write(story, "one", { a: "1" }));
    assert.equal((await story.ask("one", "GET", target)).json.status, "InProgress");
    await killAndStart(world, story);
    const status = await follow(story, "one", target);
    assert.deepEqual([status.status, status.error.code], ["Failed", BUSY], "its body is gone");
    await killAndStart(world, story);
    const word = await story.ask("one", "GET", target);
    assert.deepEqual([word.json.status, word.json.error.code, word.headers["x-armgate-reason"]], ["Failed", BUSY, "last-word"]);
    assert.equal(putsOf(story).length, 1);
  },

  "killed after it was sent again: the URL stands for the newest sending": async (world) => {
    const story = await start(world, { config: KEPT, operationMs: "2000" });
    await fail(story.sim);
    const target = targetOf(await write(story, "one", { a: "1" }));
    await waitFor("the second sending", async () => {
      await story.ask("one", "GET", target);
      return putsOf(story).length === 2;
    });
    await killAndStart(world, story);
    assert.equal((await follow(story, "one", target)).status, "Succeeded");
    assert.equal(putsOf(story).length, 2);
    await waitFor("both ends in the journal", async () => {
      const told = await run(path.join(world.bin, "armgate"), ["history", "--config", story.gateway.configFile, "--output", "json"], { env: { HOME: world.directory } });
      return JSON.parse(told.stdout.toString()).map(({ state }) => state).sort().join() === "done,failed";
    });
  },
};
