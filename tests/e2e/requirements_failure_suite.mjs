// Requirements W1 to W3 (docs/requirements.md): operations that ARM takes and that fail later; what is remembered of them, who did it,
// and what is kept from a resource that is sick of it.
import assert from "node:assert/strict";
import path from "node:path";
import { freePort, run, withinSeconds } from "./harness.mjs";
import { begin, scaleSetRule, SET } from "./rows.mjs";
import { waitFor } from "./scale_set.mjs";
import { client } from "./tools.mjs";

const NRP = "NetworkingInternalOperationError";
const FAILURES = 10;  // sick.failures as shipped

async function start(world, { config = {}, rules } = {}) {
  const admin = `127.0.0.1:${await freePort()}`;
  return { admin, ...(await begin(world, { args: ["--operation-ms", "30"], rules, config: { listen: { admin }, ...config } })) };
}

async function armgate(world, gateway, command, ...words) {
  const asked = await run(path.join(world.bin, "armgate"), [command, "--config", gateway.configFile, ...words], { env: { HOME: world.directory } });
  assert.equal(asked.code, 0, asked.stderr);
  return asked.stdout.toString();
}
const told = async (world, gateway, command, ...words) => JSON.parse(await armgate(world, gateway, command, "--output", "json", ...words));

const failLater = (sim, code, times, kind = "fail-later") => sim.addFaults([{ method: "PATCH", kind: `${kind}-${code}`, times }]);
const patch = ({ ask }, user, tags, ...more) => ask(user, "PATCH", SET, { tags }, ...more);

// Polls the operation until its end, as SDKs do.
async function follow({ ask }, user, answer) {
  const url = new URL(answer.headers["azure-asyncoperation"]);
  let status;
  await waitFor("the operation's end", async () => {
    status = (await ask(user, "GET", url.pathname + url.search)).json;
    return status.status !== "InProgress";
  });
  return { status, url: url.pathname + url.search };
}

async function failTimes(world, { story, times, code = NRP, kind }) {
  await failLater(story.sim, code, times, kind);
  for (let i = 0; i < times; ++i) {
    const answer = await patch(story, "rollout", { try: "again" });
    assert.equal(answer.status, 200, JSON.stringify(answer.json));
    assert.equal((await follow(story, "rollout", answer)).status.status, "Failed");
  }
}

const sickIn = async (world, story) => (await told(world, story.gateway, "sick")).map(({ resource }) => resource.split("/").at(-1));

async function counted({ admin }, event) {
  const metrics = await (await fetch(`http://${admin}/metrics`)).text();
  return Number(new RegExp(`\\{[^}]*"${event}"[^}]*\\} (\\d+)`).exec(metrics)?.[1]);
}

export const tests = {
  "W1: operations that fail in the same way make a resource sick, others do not": async (world) => {
    const story = await start(world);
    await failTimes(world, { story, times: FAILURES - 1 });
    await failTimes(world, { story, times: FAILURES - 1, code: "QuotaExceeded" });
    await story.sim.addFaults([{ method: "PATCH", kind: "status-400", times: 3 }]);
    for (let i = 0; i < 3; ++i) assert.equal((await patch(story, "rollout", { try: "again" })).status, 400);
    assert.deepEqual(await sickIn(world, story), [], "nine of each, and what was never taken does not count");
    await failTimes(world, { story, times: 1 });
    const [sick] = await told(world, story.gateway, "sick");
    assert.match(sick.why, new RegExp(`^10 operations have failed with ${NRP}$`));
    assert.match(await armgate(world, story.gateway, "status"), new RegExp(`sick since .*${NRP}`));
    const metrics = await (await fetch(`http://${story.admin}/metrics`)).text();
    assert.match(metrics, new RegExp(`armgate_operation_results_total\\{type="microsoft.compute/virtualmachinescalesets",result="Failed",code="${NRP}"\\} 10`));
    const well = await patch(story, "rollout", { try: "well" });
    await follow(story, "rollout", well);
    assert.deepEqual(await sickIn(world, story), [], "a success makes it well");
  },

  "W2: an operation that failed counts once, however often it is polled, and is not said to be done": async (world) => {
    const story = await start(world, { config: { journal: { file: "journal.db" } } });
    await failLater(story.sim, NRP, 1);
    const answer = await patch(story, "rollout", { hidden: "do-not-tell" }, "--user-agent", "deploy/1.0 (linux)");
    const { url } = await follow(story, "rollout", answer);
    for (let i = 0; i < 50; ++i) assert.equal((await story.ask("rollout", "GET", url)).json.status, "Failed");
    const { results } = await (await fetch(`http://${story.admin}/status`)).json();
    assert.deepEqual(results, { canceled: 0, failed: 1, succeeded: 0, unknown: 0 });
    await waitFor("the end in the journal", async () => (await told(world, story.gateway, "history"))[0].state === "failed");
    const [write] = await told(world, story.gateway, "history");
    assert.deepEqual([write.result, write.error_code, write.status, write.operation_id], ["Failed", NRP, 200, url.split("?")[0].split("/").at(-1)]);
    assert.match(await armgate(world, story.gateway, "history"), new RegExp(`PATCH +200  failed .*${NRP}`));
    const blame = await armgate(world, story.gateway, "blame", SET.split("?")[0]);
    assert.match(blame, new RegExp(`PATCH +failed ${NRP}  rollout \\(deploy/1.0 \\(linux\\)\\)  /tags/hidden`));
    assert.doesNotMatch(blame, /do-not-tell/, "names, never values");
    story.gateway.process.child.kill("SIGTERM");
    await withinSeconds(10, "the stop", story.gateway.process.exit);
    assert.equal((await told(world, story.gateway, "history"))[0].result, "Failed", "the journal tells after the service's end, too");
  },

  "W2: without a journal the commands tell what the service remembers": async (world) => {
    const story = await start(world);
    const { json: seen } = await story.ask("tf", "GET", SET);
    const { etag, ...mine } = seen;
    assert.equal((await story.ask("tf", "PUT", SET, { ...mine, sku: { ...mine.sku, capacity: 7 } })).status, 200);
    await failLater(story.sim, NRP, 1);
    await follow(story, "rollout", await patch(story, "rollout", { a: "1" }));
    const writes = await told(world, story.gateway, "history");
    assert.deepEqual(writes.map(({ method, state, client }) => [method, state, client]), [["PUT", "done", "tf"], ["PATCH", "failed", "rollout"]]);
    const { writes: blamed } = await told(world, story.gateway, "blame", SET.split("?")[0]);
    assert.deepEqual(blamed.map(({ changed }) => changed), [["/sku/capacity"], ["/tags/a"]]);
    const none = await run(path.join(world.bin, "armgate"), ["history", "--config", (await world.configureGateway(story.sim)).configFile], { env: { HOME: world.directory } });
    assert.deepEqual([none.code, /journal.file is not set/.test(none.stderr)], [1, true], none.stderr);
  },

  "W3: writes are kept from a sick resource; reads, deletes and what repairs it go": async (world) => {
    const story = await start(world, { rules: { rules: [scaleSetRule({ breaker: { mode: "protect" } })] } });
    await failTimes(world, { story, times: FAILURES, kind: "fail-partly" });
    const reached = story.journal.of("PATCH").length;
    for (const user of ["rollout", "other"]) {
      const refused = await patch(story, user, { try: "again" });
      assert.deepEqual([refused.status, refused.json.error.code, refused.headers["x-armgate-reason"]], [412, "ArmgateResourceSick", "resource-sick"]);
      assert.match(refused.json.error.message, new RegExp(`10 operations on it have failed with ${NRP} since 20`));
    }
    assert.equal(story.journal.of("PATCH").length, reached, "ARM sees no storm");
    assert.equal((await story.ask("other", "GET", SET)).json.properties.provisioningState, "Failed");
    const repair = await patch(story, "other", { repaired: "yes" });
    assert.equal(repair.status, 200, "another write, to what is seen to have failed");
    await follow(story, "other", repair);
    assert.equal((await patch(story, "rollout", { try: "again" })).status, 200, "its success has made the resource well");
  },

  // go-autorest sends a PUT that got 409 again at once.
  "W3: a client that sends 409s again is told once": async (world) => {
    const story = await start(world, { rules: { rules: [scaleSetRule({ breaker: { mode: "protect" } })] } });
    await failTimes(world, { story, times: FAILURES });
    const asked = async (name) => {
      const before = await counted(story, "resource_sick");
      const told = await client(world, story.gateway, "named", "go", "changeOnce", { client: name, name: "web" });
      return { told, refused: await counted(story, "resource_sick") - before };
    };
    const { told, refused } = await asked("go-0");
    assert.match(told.shown, /StatusCode=412.*ArmgateResourceSick.*10 operations on it have failed/s);
    assert.deepEqual([told.refused, refused], [1, 1]);
    assert.equal(story.journal.of("PUT").length, 0, "ARM sees nothing of it");
    // What 409 would have done.
    let sent = 0;
    const other = await begin(world, { config: { mode: "off" }, alter: ({ method }, answer) =>
      (method !== "PUT" ? answer : (sent += 1, { status: 409, headers: ["Content-Type", "application/json"], body: JSON.stringify({ error: { code: "Conflict", message: "no" } }) })) });
    await client(world, other.gateway, "named", "go", "changeOnce", { client: "go-1", name: "web" });
    assert.ok(sent > 1, `go-autorest has sent it ${sent} times`);
  },

  "W3: a delete goes, and a probe goes each so often": async (world) => {
    const story = await start(world, { rules: { rules: [scaleSetRule({ breaker: { mode: "protect", probe_every: "2s" } })] } });
    await failTimes(world, { story, times: FAILURES });
    assert.equal((await patch(story, "rollout", { try: "again" })).status, 412);
    await failLater(story.sim, NRP, 1);
    let probe;
    await waitFor("the probe", async () => (probe = await patch(story, "rollout", { try: "again" })).status === 200);
    await follow(story, "rollout", probe);
    assert.equal((await patch(story, "rollout", { try: "again" })).status, 412, "it has failed as well");
    assert.equal((await story.ask("other", "DELETE", SET)).status, 202);
  },

  "W3: in observe nothing is kept away, and it is told": async (world) => {
    const story = await start(world, { rules: { rules: [scaleSetRule({ breaker: { mode: "observe" } })] } });
    await failTimes(world, { story, times: FAILURES });
    assert.equal((await patch(story, "rollout", { try: "again" })).status, 200);
    await waitFor("the line of the log", async () => /"event":"would","kind":"sick","client":"rollout".*10 operations/.test(story.gateway.process.log));
  },
};
