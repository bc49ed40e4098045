// What several armgates as one cost: a read and a read-modify-write through one armgate that is alone, and through one replica of three
// behind a PostgreSQL with a synchronous standby. One client, one connection, one request after the other, against a simulated ARM.
//
//   node bench/cluster.mjs --bin build/release/bin [--requests 300]
import { once } from "node:events";
import { readFileSync } from "node:fs";
import https from "node:https";
import net from "node:net";
import tls from "node:tls";
import { parseArgs } from "node:util";
import { Cluster, Postgres } from "../tests/e2e/engines.mjs";
import { ARM_HOST, World } from "../tests/e2e/harness.mjs";
import { GROUP, PATH, SCALE_SET } from "../tests/e2e/scale_set.mjs";

const { values: options } = parseArgs({ options: { bin: { type: "string" }, requests: { type: "string", default: "300" } } });

async function connect({ port, caFile }) {
  const socket = net.connect(port, "127.0.0.1");
  await once(socket, "connect");
  socket.write(`CONNECT ${ARM_HOST}:443 HTTP/1.1\r\nHost: ${ARM_HOST}:443\r\nProxy-Authorization: Basic ${Buffer.from("meter:x").toString("base64")}\r\n\r\n`);
  await once(socket, "data");
  const secure = tls.connect({ socket, servername: ARM_HOST, ca: readFileSync(caFile) });
  await once(secure, "secureConnect");
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1 });
  agent.createConnection = () => secure;
  const ask = (method, body) => new Promise((resolve, reject) => {
    const headers = { host: ARM_HOST, authorization: "Bearer meter", ...(body ? { "content-type": "application/json" } : {}) };
    const request = https.request({ agent, method, path: PATH, headers }, async (response) => {
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
  const begun = process.hrtime.bigint();
  const result = await what();
  times.push(Number(process.hrtime.bigint() - begun) / 1e6);
  return result;
};

function row(name, times) {
  const sorted = times.slice(times.length / 10).sort((a, b) => a - b);
  const at = (share) => sorted[Math.floor(sorted.length * share)].toFixed(2).padStart(8);
  console.log(`${name.padEnd(34)} p50 ${at(0.5)} ms   p99 ${at(0.99)} ms`);
}

async function measure(name, gateway) {
  const { ask, close } = await connect(gateway);
  const reads = [];
  const writes = [];
  for (let i = 0; i < Number(options.requests); ++i) {
    const read = await timed(reads, () => ask("GET"));
    await timed(writes, () => ask("PUT", { ...read, tags: { ...read.tags, turn: String(i) } }));
  }
  close();
  row(`${name}: read`, reads);
  row(`${name}: write`, writes);
}

const world = new World(options.bin);
try {
  const sim = await world.startSim(["--operation-ms", "0"]);
  await sim.make(GROUP, "2024-03-01", { location: "westeurope" });
  await sim.make(SCALE_SET, "2024-07-01", { location: "westeurope", sku: { capacity: 1 } });
  const alone = await world.startGateway(sim);
  await measure("alone", alone);
  const primary = await Postgres.make(world);
  await primary.makeStandby();
  const cluster = await Cluster.start(world, sim, primary.url, { lease: 10 });
  await measure("one replica of three", cluster.replicas[0]);
  await measure("alone, again", alone);
} finally {
  await world.close();
}
