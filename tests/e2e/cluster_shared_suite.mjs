// What a client began at one replica of a cluster goes on at the others: its operation, its place in the queue.
import assert from "node:assert/strict";
import { startSim } from "./cluster_race.mjs";
import { Cluster, Postgres } from "./engines.mjs";
import { sleep } from "./harness.mjs";
import { ownRules, scaleSetRule } from "./rows.mjs";
import { PATH, SCALE_SET, waitFor } from "./scale_set.mjs";

const BUSY = "AnotherOperationInProgress";
const OWN = /\/armgate-operations\/[0-9a-f]{32}/;
const rulesOf = (world) => [ownRules(world, { rules: [scaleSetRule({ retry: { operation: { attempts: 3, base: "200ms", max: "1s" } } })] }), "shipped"];

async function begin(world, { simArgs = ["--operation-ms", "1000"], ...options } = {}) {
  const [sim, postgres] = await Promise.all([startSim(world, simArgs), Postgres.make(world)]);
  const tap = await world.startRecorder((record) => sim.forward(record));
  return { sim, tap, cluster: await Cluster.start(world, tap, postgres.url, options) };
}

const fail = (sim, code = BUSY, times = 1) => sim.addFaults([{ method: "PUT", path: "virtualMachineScaleSets", kind: `fail-later-${code}`, times }]);
const puts = ({ tap }) => tap.seen.filter(({ method }) => method === "PUT").length;

// Reads and writes at the first replica; gives the target of the operation URL.
async function write({ cluster }) {
  const { etag, ...mine } = (await cluster.ask(0, "one", "GET", PATH)).json;
  const answer = await cluster.ask(0, "one", "PUT", PATH, { body: { ...mine, tags: { ...mine.tags, own: "1" } } });
  assert.ok(answer.headers["azure-asyncoperation"], JSON.stringify(answer));
  const url = new URL(answer.headers["azure-asyncoperation"]);
  assert.match(url.pathname, OWN);
  return url.pathname + url.search;
}

// Polls at the other replicas in turn.
async function follow({ cluster }, target) {
  let status;
  let polls = 0;
  await waitFor("the operation's end", async () => {
    const answer = await cluster.ask(1 + (polls++ % 2), "one", "GET", target);
    status = answer.json;
    assert.equal(answer.status, 200, answer.body);
    return status.status !== "InProgress";
  });
  return status;
}

export const tests = {
  "a body that is read again and again stands in the log once, and who begins later has it": async (world) => {
    const [sim, postgres] = await Promise.all([startSim(world), Postgres.make(world)]);
    const cluster = await Cluster.start(world, sim, postgres.url);
    const wide = await cluster.ask(0, "one", "PUT", PATH, { body: { location: "westeurope", sku: { capacity: 1 }, tags: { wide: "x".repeat(20_000) } } });
    assert.equal(wide.status, 200, wide.body);
    const inLog = async () => Number(await postgres.sql("select coalesce(sum(octet_length(events)), 0) from armgate.log"));
    const before = await inLog();
    const reads = [];
    for (let i = 0; i < 30; ++i) reads.push(await cluster.ask(i % 3, `reader-${i % 5}`, "GET", PATH));
    assert.ok(reads.every(({ status }) => status === 200));
    const told = await inLog() - before;
    assert.ok(told < 45_000, `30 reads of 20 KB added ${told} bytes`);

    await cluster.kill(1);
    await cluster.startReplica(1);
    const { body, json } = reads[0];
    const other = await cluster.ask(0, "other", "PATCH", PATH, { body: { tags: { other: "1" } } });
    assert.equal(other.status, 200, other.body);
    // Built on what was there before: the two can only be put together by who knows its body.
    const mine = await cluster.ask(1, "reader-0", "PUT", PATH, { body: { ...json, tags: { ...json.tags, mine: "1" } } });
    assert.equal(mine.status, 200, `${mine.body} on ${body.length} bytes`);
    const { tags } = await sim.read(SCALE_SET, "2024-07-01");
    assert.deepEqual([tags.mine, tags.other], ["1", "1"]);
  },

  "a write whose operation fails goes again, and its client hears of one operation at whichever replica": async (world) => {
    const story = await begin(world, { config: { rules: rulesOf(world) } });
    await fail(story.sim, BUSY, 2);
    assert.equal((await follow(story, await write(story))).status, "Succeeded");
    assert.equal(puts(story), 3);
    assert.equal((await story.sim.read(PATH.split("?")[0], "2024-07-01")).tags.own, "1");
    assert.equal((await story.sim.report()).lost_updates, 0);
    assert.equal(story.tap.seen.filter(({ url }) => OWN.test(url)).length, 0, "ARM never sees the URL");
  },

  "a final failure is told at every replica, and that of a replica that died": async (world) => {
    const story = await begin(world, { config: { rules: rulesOf(world) } });
    await fail(story.sim, "QuotaExceeded");
    const final = await follow(story, await write(story));
    assert.deepEqual([final.status, final.error.code], ["Failed", "QuotaExceeded"]);
    await fail(story.sim, BUSY);
    const target = await write(story);
    await story.cluster.kill(0);
    const left = await follow(story, target);
    assert.deepEqual([left.status, left.error.code], ["Failed", BUSY], "its body died with it");
    assert.equal(puts(story), 2);
  },

  "who was told to come again has its place at another replica": async (world) => {
    const { cluster } = await begin(world, { simArgs: ["--operation-ms", "6000", "--exclusivity", "accept"], config: { queue: { wait_max: "2s" } } });
    const patch = (number, user) => cluster.ask(number, user, "PATCH", PATH, { body: { tags: { [user]: "1" } }, headers: { "x-sim-operation-ms": user === "first" ? "6000" : "0" } });
    assert.equal((await patch(0, "first")).status, 200);
    const sentAway = await patch(1, "early");
    assert.equal(sentAway.status, 503, sentAway.body);
    const order = [];
    const come = async (number, user) => {
      let answer;
      do answer = await patch(number, user);
      while (answer.status === 503);
      order.push(user);
      return answer;
    };
    const late = come(0, "late");
    await sleep(800);
    const early = await come(2, "early");
    await late;
    assert.equal(early.status, 200);
    assert.deepEqual(order, ["early", "late"]);
  },

  "a resource is in one lease for a run, whichever replica is asked": async (world) => {
    const { cluster } = await begin(world, { admin: true, simArgs: ["--operation-ms", "0"] });
    const take = (number, client) => cluster.askAdmin(number, "POST", "/leases", { client, purpose: "a repair", resources: [SCALE_SET] });
    const renew = (number, { json }) => cluster.askAdmin(number, "POST", `/leases/${json.lease}`);
    const isHeld = async (number, taken) => (await renew(number, taken)).json?.state === "held";
    const assertLetsIn = async (user, numbers) => {
      for (const number of numbers) {
        const answer = await cluster.ask(number, user, "PATCH", PATH, { body: { tags: { [user]: "1" } }, seconds: 10 });
        assert.equal(answer.status, 200, answer.body);
      }
    };
    const first = await take(0, "first");
    assert.equal(first.status, 201, first.text);
    await waitFor("the lease to be held", () => isHeld(0, first));
    await waitFor("the others to know", async () => (await take(1, "second")).status === 409);
    const refused = await take(2, "second");
    assert.equal(refused.status, 409);
    assert.match(refused.text, /is in a lease of first since \d+ s \(a repair\)/);
    await assertLetsIn("first", [1, 2, 0]);
    assert.match(await cluster.tell(1, "status"), /LEASE/, "each replica shows it");

    await cluster.kill(0);
    let second;
    await waitFor("the lease of a dead replica to be over", async () => (second = await take(1, "second")).status === 201);
    await waitFor("the next lease to be held", () => isHeld(1, second));
    await assertLetsIn("second", [1, 2]);
    await cluster.askAdmin(1, "DELETE", `/leases/${second.json.lease}`);
    await waitFor("it to be given back", async () => !(await cluster.tell(2, "status")).includes("LEASE"));

    // At the same moment.
    const asked = [[1, "third"], [2, "fourth"]];
    const answers = await Promise.all(asked.map(([number, client]) => take(number, client)));
    assert.ok(answers.some(({ status }) => status === 201));
    const held = [];
    await waitFor("one of them to be held and the other one to be over", async () => {
      for (const [i, answer] of answers.entries()) {
        const state = answer.status === 201 ? await renew(asked[i][0], answer) : answer;
        held[i] = state.status === 200 ? state.json.state : "over";
      }
      return [...held].sort().join() === "held,over";
    });
    const winner = held.indexOf("held");
    const [elsewhere, loser] = asked[1 - winner];
    assert.match((await take(elsewhere, loser)).text, new RegExp(`is in a lease of ${asked[winner][1]} `));
    await assertLetsIn(asked[winner][1], [1, 2]);
  },
};
