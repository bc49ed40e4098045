// armgate heal, killed with -9 around each of its requests, reads too: it goes on by looking at the cluster, loses no pool, and does
// nothing twice. HEAL_FULL=1 tries each moment of each request; by default each write has all moments, and each read has one.
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, readFileSync, readdirSync } from "node:fs";
import net from "node:net";
import path from "node:path";
import { changeConfig, sleep } from "./harness.mjs";
import { assertHealed, beginBehindTap, clusterOf, GOLDEN, heal, makeCluster, startHeal, taken, wedge } from "./heal.mjs";

// Before sending: armgate gets the connection, and not a byte of the request. After sending: the request is on its way to ARM, which
// takes it. After the answer: that is on its way to the run.
const MOMENTS = ["before sending", "after sending", "after the answer"];
const LANES = 6;
const PACE = ["--poll-s", "0.1"];

// The number of the run's own request, from 0; nothing: armgate's own.
function numberOf({ headers }) {
  const found = /^\d{8}T\d{6}Z-[0-9a-f]{4}-(\d+)$/.exec(headers["x-ms-client-request-id"] ?? "");
  return found ? Number(found[1]) - 1 : undefined;
}

// One gateway and one ARM for all; each run has a cluster, a token and a door to armgate of its own.
class Clusters {
  constructor(world) {
    this.world = world;
    this.byToken = new Map();
    this.made = 0;
  }

  async begin() {
    const tell = (event) => (record) => { this.byToken.get(record.headers.authorization)?.[event]?.(record, numberOf(record)); };
    this.rig = await beginBehindTap(this.world, { operationMs: "60", onRequest: tell("onRequest"), onAnswer: tell("onAnswer") });
    return this;
  }

  async add() {
    const number = ++this.made;
    await makeCluster(this.rig.sim, number);
    await wedge(this.rig.sim, clusterOf(number));
    const token = `token-${number}`;
    const one = { ...this.rig, cluster: clusterOf(number), runs: mkdtempSync(this.world.file("runs-")), env: { ARMGATE_HEAL_TOKEN: token } };
    this.byToken.set(`Bearer ${token}`, one);
    return one;
  }
}

// What a run asks for when nobody kills it: how many requests, and which of them are writes.
async function countRequests(world, clusters) {
  const one = await clusters.add();
  const asked = [];
  one.onRequest = ({ method }, number) => { if (number !== undefined) asked[number] = method; };
  const done = await heal(world, one, "--confirm", ...PACE);
  assert.equal(done.code, 0, done.stdout + done.stderr);
  return asked;
}

// The run's own connections to armgate, one for each request.
async function openDoor(world, one, { onConnection, onAnswer }) {
  let connections = 0;
  const door = net.createServer((client) => {
    const number = connections++;
    if (onConnection(number) === "killed") return client.destroy();
    const upstream = net.connect(one.gateway.port, "127.0.0.1");
    client.pipe(upstream);
    upstream.on("data", (piece) => {
      client.write(piece);
      onAnswer(number);
    });
    upstream.on("end", () => client.end());
    for (const side of [client, upstream]) side.on("error", () => { client.destroy(); upstream.destroy(); });
  });
  door.listen(0, "127.0.0.1");
  await once(door, "listening");
  world.servers.push(Object.assign(door, { closeAllConnections() {} }));
  const configFile = path.join(path.dirname(one.gateway.configFile), `door-${door.address().port}.json`);
  changeConfig(one.gateway, (config) => { config.listen.proxy = `127.0.0.1:${door.address().port}`; }, configFile);
  return { ...one, gateway: { ...one.gateway, configFile } };
}

// How many writes the run has announced in its journal.
function intended(runs) {
  const name = readdirSync(runs).find((entry) => !entry.endsWith(".lock"));
  return name ? readFileSync(path.join(runs, name, "journal.jsonl")).toString().split('"event":"intend"').length - 1 : 0;
}

// `at`: {write: i}, the run's write of this number, or {request: n}. Gives whether it was killed: how often a run looks may vary by one.
async function killAndGoOn(world, clusters, at, moment) {
  const one = await clusters.add();
  let victim = null;
  const kill = () => {
    victim?.child.kill("SIGKILL");
    victim = null;
    return "killed";
  };
  let writes = 0;
  let meant = null;  // what reached ARM
  let answered = false;
  one.onRequest = (record, number) => {
    if (!victim || number === undefined) return;
    const isMeant = at.write === undefined ? number === at.request : record.method !== "GET" && writes++ === at.write;
    if (!isMeant) return;
    meant = record;
    if (moment === "after sending") kill();
  };
  one.onAnswer = (record) => { answered ||= record === meant; };
  const isTurn = (number) => (at.write === undefined ? number === at.request : intended(one.runs) === at.write + 1);
  const viaDoor = await openDoor(world, one, {
    onConnection: (number) => (victim && moment === "before sending" && isTurn(number) ? kill() : "passes"),
    onAnswer: () => { if (victim && answered && moment === "after the answer") kill(); },
  });
  const started = victim = startHeal(world, viaDoor, "--confirm", ...PACE);
  const [code, signal] = await started.exit;
  victim = null;
  const what = `${JSON.stringify(at)}, ${moment}`;
  assert.ok(signal === "SIGKILL" || code === 0, `${what}: ${code}\n${started.log}`);
  await sleep(50);
  if (signal === "SIGKILL") {
    const done = await heal(world, one, "--confirm", ...PACE);
    assert.equal(done.code, 0, `${what}: ${done.stdout}${done.stderr}`);
  }
  assert.deepEqual(taken(one.seen, one.cluster), GOLDEN, what);
  await assertHealed(one);
  return signal === "SIGKILL";
}

async function killAtEach(world, moment) {
  const clusters = await new Clusters(world).begin();
  const asked = await countRequests(world, clusters);
  const own = MOMENTS.indexOf(moment);
  const reads = [...asked.keys()].filter((number) => process.env.HEAL_FULL === "1" || number % MOMENTS.length === own);
  const cases = [...GOLDEN.keys()].map((write) => ({ write })).concat(reads.map((request) => ({ request })));
  let killed = 0;
  let next = 0;
  const lane = async () => {
    while (next < cases.length) {
      const at = cases[next++];
      const was = await killAndGoOn(world, clusters, at, moment);
      assert.ok(was || at.write === undefined, `${JSON.stringify(at)} was not met`);
      killed += was ? 1 : 0;
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  console.log(`        ${moment}: killed ${killed} times (a run asks ${asked.length} times, ${GOLDEN.length} of these are writes), 0 pools lost, 0 writes taken twice`);
  assert.ok(killed >= 0.9 * cases.length, `${killed} of ${cases.length}`);
}

export const tests = Object.fromEntries(MOMENTS.map((moment) => [
  `killed with -9 ${moment}, at each of its requests, it goes on, loses no pool and does nothing twice`, (world) => killAtEach(world, moment)]));
