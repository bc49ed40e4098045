// What several armgates as one cost, against one that is alone: a read, a read-modify-write, the hand-over of a lock, and what 1, 2 and
// 3 replicas do together. All on one machine, behind a PostgreSQL with a synchronous standby, against a simulated ARM that answers at
// once. Who is compared goes in turns, so that the machine's other work meets all alike.
//
//   node bench/cluster.mjs --bin build/release/bin [--rounds 5] [--requests 100] [--seconds 3]
import { once } from "node:events";
import { readFileSync } from "node:fs";
import https from "node:https";
import net from "node:net";
import { parseArgs } from "node:util";
import tls from "node:tls";
import { Cluster, Postgres } from "../tests/e2e/engines.mjs";
import { ARM_HOST, World } from "../tests/e2e/harness.mjs";
import { GROUP, SCALE_SET } from "../tests/e2e/scale_set.mjs";

const { values: options } = parseArgs({ options: { bin: { type: "string" }, rounds: { type: "string", default: "5" },
                                                   requests: { type: "string", default: "100" }, seconds: { type: "string", default: "3" } } });
const ROUNDS = Number(options.rounds);
const REQUESTS = Number(options.requests);
const SECONDS = Number(options.seconds);
const CLIENTS = 12;  // of which each has a resource of its own

const setOf = (number) => SCALE_SET.replace(/web$/, `web${number}`);
const targetOf = (number) => `${setOf(number)}?api-version=2024-07-01`;
const now = () => Number(process.hrtime.bigint()) / 1e6;

// A client with one connection, which asks for one resource.
async function connect({ port, caFile }, user, target) {
  const socket = net.connect(port, "127.0.0.1");
  await once(socket, "connect");
  socket.write(`CONNECT ${ARM_HOST}:443 HTTP/1.1\r\nHost: ${ARM_HOST}:443\r\nProxy-Authorization: Basic ${Buffer.from(`${user}:x`).toString("base64")}\r\n\r\n`);
  await once(socket, "data");
  const secure = tls.connect({ socket, servername: ARM_HOST, ca: readFileSync(caFile) });
  await once(secure, "secureConnect");
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1 });
  agent.createConnection = () => secure;
  const ask = (method, body) => new Promise((resolve, reject) => {
    const headers = { host: ARM_HOST, authorization: `Bearer ${user}`, ...(body ? { "content-type": "application/json" } : {}) };
    const request = https.request({ agent, method, path: target, headers }, async (response) => {
      let text = "";
      for await (const piece of response) text += piece;
      response.statusCode < 300 ? resolve(JSON.parse(text)) : reject(new Error(`${response.statusCode} ${text}`));
    });
    request.on("error", reject);
    request.end(body ? JSON.stringify(body) : undefined);
  });
  return { ask, close: () => secure.destroy() };
}

const timed = async (times, what) => {
  const begun = now();
  const result = await what();
  times.push(now() - begun);
  return result;
};

// One client, a read and then a write of what it gave with one tag changed.
async function readAndWrite(gateway, times) {
  const { ask, close } = await connect(gateway, "meter", targetOf(0));
  const own = { read: [], write: [] };
  for (let i = 0; i < REQUESTS; ++i) {
    const read = await timed(own.read, () => ask("GET"));
    await timed(own.write, () => ask("PUT", { ...read, tags: { ...read.tags, turn: String(i) } }));
  }
  close();
  for (const kind of ["read", "write"]) times[kind].push(...own[kind].slice(REQUESTS / 10));
}

// Three clients that always want the same resource: from one's answer to the next one's a lock is handed over and a write is done.
async function handOver(gateways, times) {
  const clients = await Promise.all([0, 1, 2].map((number) => connect(gateways[number % gateways.length], `writer${number}`, targetOf(0))));
  const answers = [];
  await Promise.all(clients.map(async ({ ask, close }, number) => {
    for (let i = 0; i < REQUESTS / 2; ++i) {
      await ask("PATCH", { tags: { [`writer${number}`]: String(i) } });
      answers.push(now());
    }
    close();
  }));
  const all = answers.slice(1).map((at, i) => at - answers[i]);
  times.push(...all.slice(all.length / 10, -all.length / 10));
}

// So many a second, of clients that are spread over the gateways.
// `first`: of their resources, which nobody else writes to.
let turns = 0;
async function throughput(gateways, what, first) {
  const clients = await Promise.all(Array.from({ length: CLIENTS }, (_, number) => connect(gateways[number % gateways.length], `client${number}`, targetOf(first + number))));
  let done = 0;
  const until = now() + SECONDS * 1000;
  await Promise.all(clients.map(async ({ ask, close }) => {
    for (; now() < until; ++done) {
      if (what === "reads") await ask("GET");
      else await ask("PATCH", { tags: { turn: String(++turns) } });
    }
    close();
  }));
  return done / SECONDS;
}

const at = (times, share) => [...times].sort((a, b) => a - b)[Math.floor(times.length * share)];

function tell(what, alone, cluster) {
  const both = (share) => `${at(alone, share).toFixed(2)} -> ${at(cluster, share).toFixed(2)} ms (x ${(at(cluster, share) / at(alone, share)).toFixed(1)})`;
  console.log(`${what}: p50 ${both(0.5)}, p99 ${both(0.99)}, ${alone.length} and ${cluster.length} of them`);
}

async function compareLatency(alone, replicas) {
  const times = () => ({ read: [], write: [], handOver: [] });
  const [one, several] = [times(), times()];
  for (let round = 0; round < ROUNDS; ++round) {
    await readAndWrite(alone, one);
    await readAndWrite(replicas[round % replicas.length], several);
    await handOver([alone], one.handOver);
    await handOver(replicas, several.handOver);
  }
  tell("a read", one.read, several.read);
  tell("a write", one.write, several.write);
  tell("a hand-over, from one replica to another", one.handOver, several.handOver);
}

async function compareThroughput(alone, replicas) {
  for (const what of ["reads", "writes"]) {
    const seen = Array.from({ length: replicas.length + 1 }, () => []);
    for (let round = 0; round < ROUNDS; ++round) {
      for (const [count, rates] of seen.entries()) {
        rates.push(await throughput(count === 0 ? [alone] : replicas.slice(0, count), what, 1 + count * CLIENTS));
      }
    }
    const medians = seen.map((rates) => at(rates, 0.5));
    console.log(`${what} a second, alone and over 1 to ${replicas.length} replicas: ${medians.map((rate) => `${rate.toFixed(0)} (x ${(rate / medians[0]).toFixed(2)})`).join(", ")}`);
  }
}

const world = new World(options.bin);
try {
  const sim = await world.startSim(["--operation-ms", "0"]);
  await sim.make(GROUP, "2024-03-01", { location: "westeurope" });
  for (let number = 0; number <= 4 * CLIENTS; ++number) await sim.make(setOf(number), "2024-07-01", { location: "westeurope", sku: { capacity: 1 } });
  const alone = await world.startGateway(sim, { log: { level: "info" } });
  const primary = await Postgres.make(world);
  await primary.makeStandby();
  const cluster = await Cluster.start(world, sim, primary.url, { lease: 10, config: { log: { level: "info" } } });
  await compareLatency(alone, cluster.replicas);
  await compareThroughput(alone, cluster.replicas);
} finally {
  await world.close();
}
