// What ARM takes of one principal, shared by clients that all want more (budgets.fair): the real armgate in front of armsim's token buckets,
// beside one without. docs/monitoring.md has the table that this prints.
import assert from "node:assert/strict";
import { sleep } from "./harness.mjs";
import { Pool } from "./pool.mjs";
import { GROUP, PATH, SCALE_SET, startWithScaleSet } from "./scale_set.mjs";
import { say } from "./tools.mjs";

const EACH_SECOND = 50;
const BUCKET = 60;
// `atOnce` requests of each are always there, but for the portal's, which come one in each `everyMs`.
const CROWDS = [
  { client: "controller", atOnce: 110, requests: 260 },
  { client: "pipeline", atOnce: 55, requests: 260 },
  { client: "scripts", atOnce: 25, requests: 260 },
  { client: "portal", atOnce: 20, requests: 60, everyMs: 250 },
];
// The bucket is used up, and everybody still has something to ask.
const FROM_MS = 5000;
const UNTIL_MS = 12_000;

const startGate = (world, fair, limits) =>
  startWithScaleSet(world, 0, { budgets: { fair } }, ["--latency-ms", "20", "60", ...limits]);

// Every request until it is answered with something else than "come again". Gives how many were answered while all were at it.
async function ask(pool, { atOnce, requests, everyMs = 0 }, began) {
  let begun = 0;
  let inTime = 0;
  const worker = async () => {
    while (begun < requests) {
      const number = begun++;
      if (everyMs > 0) await sleep(Math.max(0, began + number * everyMs - Date.now()));
      const answer = await pool.insist("GET", PATH);
      assert.equal(answer.status, 200, answer.text);
      const at = Date.now() - began;
      inTime += at >= FROM_MS && at < UNTIL_MS ? 1 : 0;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return inTime * 1000 / (UNTIL_MS - FROM_MS);
}

async function storm(world, fair) {
  const { sim, gateway } = await startGate(world, fair, ["--reads", BUCKET, EACH_SECOND]);
  const pools = CROWDS.map(({ client, atOnce }) => new Pool(gateway, { user: client, connections: atOnce }));
  const began = Date.now();
  const rates = await Promise.all(CROWDS.map((crowd, i) => ask(pools[i], crowd, began)));
  const seconds = (Date.now() - began) / 1000;
  for (const pool of pools) pool.close();
  return { rates, seconds, throttled: (await sim.report()).throttled };
}

// What max-min fairness gives each of `wanted` of `total`.
function maxMin(wanted, total) {
  const parts = new Map();
  let left = total;
  for (const [i, want] of [...wanted.entries()].sort(([, a], [, b]) => a - b)) {
    parts.set(i, Math.min(want, left / (wanted.length - parts.size)));
    left -= parts.get(i);
  }
  return wanted.map((_, i) => parts.get(i));
}

export const tests = {
  "clients that share a budget get max-min fair shares of it, and a tenth of the 429s, in no more time": async (world) => {
    const [without, fair] = await Promise.all([storm(world, "off"), storm(world, "on")]);
    const parts = maxMin(CROWDS.map(({ everyMs, atOnce }) => (everyMs ? 1000 / everyMs : atOnce * 1000)), EACH_SECOND);
    const row = (name, ...cells) => say(name.padEnd(12) + cells.map((cell) => String(cell).padStart(10)).join(""));
    row("client", "max-min", "without", "with");
    CROWDS.forEach(({ client }, i) => row(client, parts[i].toFixed(1), without.rates[i].toFixed(1), fair.rates[i].toFixed(1)));
    row("429", "", without.throttled, fair.throttled);
    row("seconds", "", without.seconds.toFixed(1), fair.seconds.toFixed(1));
    CROWDS.forEach(({ client }, i) =>
      assert.ok(Math.abs(fair.rates[i] - parts[i]) <= 0.1 * parts[i], `${client} got ${fair.rates[i].toFixed(2)} a second of ${parts[i].toFixed(2)}`));
    assert.ok(without.throttled > 500, "or this shows nothing");
    assert.ok(fair.throttled * 10 <= without.throttled, `${fair.throttled} of ${without.throttled}`);
    assert.ok(fair.seconds <= 1.1 * without.seconds, `${fair.seconds} s, ${without.seconds} s without`);
  },

  "of one client's reads lists come last, and its writes do not wait for either": async (world) => {
    const { gateway } = await startGate(world, "on", ["--reads", "8", "4"]);
    const pool = new Pool(gateway, { user: "portal", connections: 60 });
    const list = `${GROUP}/providers/Microsoft.Compute/virtualMachineScaleSets?api-version=2024-07-01`;
    await Promise.all(Array.from({ length: 8 }, () => pool.insist("GET", PATH)));
    const ended = [];
    const timed = async (kind, method, path, body) => {
      const answer = await pool.insist(method, path, body);
      assert.equal(answer.status, 200, answer.text);
      ended.push(kind);
    };
    const lists = Array.from({ length: 10 }, () => timed("list", "GET", list));
    await sleep(200);  // the lists stand in line
    const served = ended.length;  // more of them on a slow machine
    const reads = Array.from({ length: 10 }, () => timed("read", "GET", PATH));
    const write = timed("write", "PATCH", `${SCALE_SET}?api-version=2024-07-01`, { tags: { a: "1" } });
    await Promise.all([...lists, ...reads, write]);
    const places = (kind) => ended.flatMap((one, i) => (one === kind ? [i] : []));
    const average = (kind) => places(kind).reduce((sum, place) => sum + place, 0) / places(kind).length;
    say(`in the order of their ends: ${ended.map((kind) => kind[0]).join("")}`);
    assert.ok(places("write")[0] <= served + 3, ended.join(" "));
    const waiting = places("list").filter((place) => place >= served);
    assert.ok(average("read") + 5 <= waiting.reduce((sum, place) => sum + place, 0) / waiting.length, ended.join(" "));
    assert.ok(pool.waited.some(({ reason }) => reason === "waited-for-its-share"), "or nobody waited");
    pool.close();
  },
};
