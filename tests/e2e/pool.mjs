// A tool that keeps a pool of connections to ARM, directly or through armgate, and treats ARM as the Terraform provider does: it
// sends again what was throttled or met a 5xx, waits for its operations, and takes every other error for a failure.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import https from "node:https";
import net from "node:net";
import tls from "node:tls";
import { ARM_HOST, sleep } from "./harness.mjs";

const POLL_MS = 50;
const RESENDS_MAX = 30;

// Keeps connections that lead through a proxy.
class TunnelAgent extends https.Agent {
  constructor(gateway, user, options) {
    super(options);
    Object.assign(this, { gateway, user });
  }

  createConnection(_, done) {
    this.tunnel().then((stream) => done(null, stream), done);
  }

  async tunnel() {
    const socket = net.connect(this.gateway.port, "127.0.0.1");
    const name = Buffer.from(`${this.user}:x`).toString("base64");
    socket.write(`CONNECT ${ARM_HOST}:443 HTTP/1.1\r\nHost: ${ARM_HOST}:443\r\nProxy-Authorization: Basic ${name}\r\n\r\n`);
    const [answer] = await once(socket, "data");
    if (!answer.toString().startsWith("HTTP/1.1 200")) throw new Error(`CONNECT: ${answer}`);
    const stream = tls.connect({ socket, servername: ARM_HOST, ca: readFileSync(this.gateway.caFile) });
    await once(stream, "secureConnect");
    return stream;
  }
}

export class Pool {
  // `through` is a gateway, or a sim to go there directly.
  constructor(through, { user = "terraform", connections = 10 } = {}) {
    const kept = { keepAlive: true, maxSockets: connections };
    this.agent = "configFile" in through ? new TunnelAgent(through, user, kept)
      : new https.Agent({ ...kept, host: "127.0.0.1", port: through.port, servername: ARM_HOST, ca: readFileSync(through.caFile) });
    this.direct = "configFile" in through ? {} : { host: "127.0.0.1", port: through.port };
    this.failures = [];
    this.resends = 0;  // of requests that were throttled or met a 5xx
    this.waited = [];  // what armgate says that it kept waiting: {what, ms, reason}
  }

  close() {
    this.agent.destroy();
  }

  // One request and its answer.
  async ask(method, path, body, more = {}) {
    const text = body === undefined ? "" : JSON.stringify(body);
    const headers = { host: ARM_HOST, authorization: "Bearer one-service-principal", ...more,
                      ...(text ? { "content-type": "application/json", "content-length": Buffer.byteLength(text) } : {}) };
    const started = Date.now();
    const answer = await new Promise((resolve, reject) => {
      const request = https.request({ host: ARM_HOST, ...this.direct, agent: this.agent, method, path, headers }, async (response) => {
        const pieces = [];
        for await (const piece of response) pieces.push(piece);
        resolve({ status: response.statusCode, headers: response.headers, text: Buffer.concat(pieces).toString() });
      });
      request.on("error", reject);
      request.end(text);
    });
    const waited = Number(answer.headers["x-armgate-waited-ms"] ?? 0);
    if (waited > 0) this.waited.push({ what: `${method} ${path}`, ms: waited, reason: answer.headers["x-armgate-reason"] });
    return { ...answer, ms: Date.now() - started, json: answer.text.startsWith("{") ? JSON.parse(answer.text) : null };
  }

  // A request that is sent again when ARM, or armgate, says so.
  async insist(method, path, body) {
    for (let tries = 0; ; ++tries) {
      const answer = await this.ask(method, path, body);
      const again = [408, 429, 500, 502, 503, 504].includes(answer.status) && tries < RESENDS_MAX;
      if (!again) return answer;
      this.resends += 1;
      await sleep(1000 * Number(answer.headers["retry-after"] ?? 1));
    }
  }

  // A write, answered; finish() follows it to its end. That gives true if it succeeded; else the failure is noted.
  async begin(method, { id, version }, body) {
    const path = `${id}?api-version=${version}`;
    const answer = await this.insist(method, path, body);
    const finish = async () => {
      const failed = answer.status >= 400 ? answer : await this.follow(method, path, answer);
      if (failed) this.failures.push(`${method} ${id}: ${failed.status} ${failed.text} ${failed.headers["x-armgate-reason"] ?? ""}`);
      return !failed;
    };
    return { finish };
  }

  async write(method, resource, body) {
    const begun = await this.begin(method, resource, body);
    return begun.finish();
  }

  // Waits for what a write began. Gives the answer that tells of a failure, or null.
  async follow(method, path, { headers, json }) {
    const url = headers["azure-asyncoperation"];
    if (method === "DELETE") {  // the provider looks whether it is gone, whatever the answer said
      while ((await this.insist("GET", path)).status !== 404) await sleep(POLL_MS);
      return null;
    }
    if (url) {
      const target = url.slice(url.indexOf("/", "https://".length));
      for (;;) {
        const poll = await this.insist("GET", target);
        if (poll.json?.status === "Succeeded") return null;
        if (poll.status >= 400 || ["Failed", "Canceled"].includes(poll.json?.status)) return poll;
        await sleep(POLL_MS);
      }
    }
    for (let state = json?.properties?.provisioningState; state && state !== "Succeeded";) {
      await sleep(POLL_MS);
      const read = await this.insist("GET", path);
      state = read.json?.properties?.provisioningState;
      if (read.status >= 400 || state === "Failed") return read;
    }
    return null;
  }
}

// Runs what `jobs` begin, `parallel` at a time.
export async function inParallel(parallel, jobs) {
  const left = [...jobs];
  const worker = async () => {
    while (left.length > 0) await left.shift()();
  };
  await Promise.all(Array.from({ length: parallel }, worker));
}

// One at a time: the provider's own lock on a network.
export class Mutex {
  #last = Promise.resolve();

  run(work) {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => {});
    return turn;
  }
}
