// Requirements N1 to N4 (docs/requirements.md): what ARM does not find although it was made a moment ago.
import assert from "node:assert/strict";
import { curl, sending } from "./curl.mjs";
import { sleep } from "./harness.mjs";
import { begin, bothWays, LOCATION } from "./rows.mjs";
import { CLUSTER, GROUP, NETWORK } from "./tools.mjs";

const groupOf = (name) => `${GROUP.replace(/rg$/, name)}?api-version=2024-03-01`;
const inGroup = ({ id, version }, name) => `${id.replace("/resourceGroups/rg/", `/resourceGroups/${name}/`)}?api-version=${version}`;
const make = (ask, name) => ask("a", "PUT", groupOf(name), LOCATION);

// The shipped entry, but for its pauses.
const often = (visibility = {}) => ({ errors: [{
  class: "propagation", evidence: "group", status: [404], codes: ["ResourceGroupNotFound"],
  header: { name: "x-ms-failure-cause", value: "gateway", if_absent: "matches" }, visibility: { every: "200ms", ...visibility } }] });

// Nothing in a group is known for so long after the group was made.
const lagging = (ms) => ({ args: ["--operation-ms", "0", "--group-lag-ms", String(ms)], empty: true });

export const tests = {
  "N1: a write to a group that was made a moment ago is tried until the group is visible": async (world) => {
    const seen = await bothWays(world, { ...lagging(0), rules: often() }, async ({ ask, journal, sim }) => {
      assert.equal((await make(ask, "fresh")).status, 201);
      await sim.addFaults([{ method: "PUT", path: "/fresh/", kind: "error-no-group", times: 3 }]);
      const { status, headers } = await ask("a", "PUT", inGroup(NETWORK, "fresh"), LOCATION);
      return { status, reason: headers["x-armgate-reason"], tries: journal.of("PUT", "/fresh/").length };
    });
    assert.deepEqual(seen, { without: { status: 404, reason: undefined, tries: 1 },
                             protected: { status: 201, reason: "waited-for-the-group-to-appear", tries: 4 } });
  },

  "N1: without evidence that there is such a group the 404 is the client's at once": async (world) => {
    const { ask, askArm, journal } = await begin(world, { ...lagging(60_000), rules: often() });
    await askArm("PUT", groupOf("around"), LOCATION);  // nobody made it through armgate
    await sleep(100);
    for (const name of ["typo", "around"]) {
      const answer = await ask("a", "PUT", inGroup(NETWORK, name), LOCATION);
      assert.deepEqual([answer.status, answer.json.error.code], [404, "ResourceGroupNotFound"], name);
      assert.equal(journal.of("PUT", `/${name}/`).length, 1, name);
    }
    const late = await begin(world, { ...lagging(60_000), rules: often({ window: "1s" }) });
    await make(late.ask, "old");
    await sleep(1100);
    assert.equal((await late.ask("a", "PUT", inGroup(NETWORK, "old"), LOCATION)).status, 404);
    assert.equal(late.journal.of("PUT", "/old/").length, 1);
  },

  "N2: twelve tries, and ARM's own 404": async (world) => {
    const { ask, journal } = await begin(world, { ...lagging(600_000), rules: often() });
    await make(ask, "never");
    const answer = await ask("a", "PUT", inGroup(NETWORK, "never"), LOCATION);
    const tries = journal.of("PUT", "/never/");
    const last = tries.at(-1);
    assert.equal(tries.length, 12);
    assert.deepEqual([answer.status, answer.json.error.code], [404, "ResourceGroupNotFound"]);
    assert.ok(last.answer.headers.includes(answer.headers["x-ms-request-id"]), "the answer is that of the last try");
    const pauses = tries.slice(1).map(({ at }, i) => at - tries[i].endedAt);
    assert.ok(Math.min(...pauses) >= 190, `${pauses}`);
  },

  "N2: there is no pause after the last try": async (world) => {
    const { ask, journal } = await begin(world, { ...lagging(600_000), rules: often({ every: "10s", tries: 1 }) });
    await make(ask, "never");
    assert.equal((await ask("a", "PUT", inGroup(NETWORK, "never"), LOCATION)).status, 404);
    assert.ok(Date.now() - journal.of("PUT", "/never/")[0].endedAt < 9000);
  },

  "N2: a client that may not wait so long comes back, and its tries are counted on": async (world) => {
    const { ask, journal } = await begin(world, { ...lagging(600_000), rules: often({ tries: 6 }), config: { queue: { wait_max: "500ms" } } });
    await make(ask, "never");
    const statuses = [];
    do {
      statuses.push((await ask("a", "PUT", inGroup(NETWORK, "never"), LOCATION)).status);
    } while (statuses.at(-1) === 503 && statuses.length < 20);
    assert.ok(statuses.length > 1, "it was not told to come back: this tests nothing");
    assert.equal(statuses.at(-1), 404);
    assert.equal(journal.of("PUT", "/never/").length, 6);
  },

  // Two front ends, one of which does not know the group at first.
  "N3: a group's creation is answered when three reads in a row have shown it": async (world) => {
    const groups = { name: "own-groups", match: { types: ["Microsoft.Resources/resourceGroups"] }, guard: { kind: "verify" },
                     shown: { consecutive: 3, every: "100ms" } };
    const knows = [true, false, true, true, false];
    const { ask, journal } = await begin(world, { ...lagging(0), rules: { rules: [groups] }, alter: ({ method }, answer) => {
      if (method !== "GET" || (knows.shift() ?? true)) return answer;
      return { status: 404, headers: ["content-type", "application/json"], body: '{"error":{"code":"ResourceGroupNotFound","message":"m"}}' };
    } });
    const answer = await make(ask, "fresh");
    assert.equal(answer.status, 201);
    assert.equal(answer.headers["x-armgate-reason"], "waited-until-reads-show-it");
    assert.deepEqual(journal.seen.map(({ method, status }) => `${method} ${status}`),
                     ["PUT 201", ...[200, 404, 200, 200, 404, 200, 200, 200].map((status) => `GET ${status}`)]);
    assert.equal((await make(ask, "fresh")).status, 200, "what is there is answered at once");
    assert.equal(journal.of("PUT").length, 2);
  },

  "N4: a group whose delete went through armgate is not waited for": async (world) => {
    const { ask, journal } = await begin(world, { rules: often() });
    assert.equal((await make(ask, "short")).status, 201);
    assert.ok((await ask("a", "DELETE", groupOf("short"))).status < 300);
    const answer = await ask("a", "PUT", inGroup(NETWORK, "short"), LOCATION);
    assert.deepEqual([answer.status, answer.json.error.code], [404, "ResourceGroupNotFound"]);
    assert.equal(journal.of("PUT", "/short/").length, 1);
  },

  "N4: a missing leaf, and a look whether something is there, are answered at once": async (world) => {
    const fresh = inGroup(NETWORK, "fresh");
    const missing = inGroup({ ...NETWORK, id: `${NETWORK.id}-missing` }, "fresh");
    for (const [ms, cases] of [[60_000, [["GET", fresh], ["HEAD", fresh], ["DELETE", fresh]]],
                               [0, [["GET", missing], ["HEAD", missing], ["PATCH", missing]]]]) {
      const { ask, gateway, journal } = await begin(world, { ...lagging(ms), rules: often() });
      await make(ask, "fresh");
      for (const [method, target] of cases) {
        const before = journal.seen.length;
        const args = { HEAD: ["--head"], PATCH: sending("PATCH", { tags: {} }) }[method] ?? ["--request", method];
        const answer = await curl(world, gateway, target, { user: "a", args });
        assert.equal(answer.status, 404, `${method} ${target}`);
        assert.equal(journal.seen.length - before, 1, `${method} ${target}`);
      }
    }
  },

  // What the group's own GET says proves nothing about who writes into it: the write itself is tried.
  "N4: that the group itself is visible does not end the wait, the write's success does": async (world) => {
    const { ask, journal, sim } = await begin(world, { ...lagging(0), rules: often({ tries: 100 }) });
    await make(ask, "fresh");
    assert.equal((await ask("b", "GET", groupOf("fresh"))).status, 200, "the group is there to see");
    await sim.addFaults([{ method: "PUT", path: "/fresh/", kind: "error-no-group", times: 5 }]);
    assert.equal((await ask("a", "PUT", inGroup(CLUSTER, "fresh"), { ...LOCATION, properties: { dnsPrefix: "d" } })).status, 201);
    assert.equal(journal.of("PUT", "/fresh/").length, 6);
    assert.equal(journal.of("GET", "managedClusters").length, 0);
  },
};
