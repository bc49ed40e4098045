// The world of one end-to-end test: armsim, armgate and recording upstreams on ephemeral ports of loopback, in a directory of
// its own. Everything that was started is stopped by close().
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import https from "node:https";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const ARM_HOST = "management.azure.com";

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export async function withinSeconds(seconds, what, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took more than ${seconds} s`)), seconds * 1000);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

// Runs a program to its end. Standard input is `input`; the output is bytes.
export async function run(program, args, { input = "", env = {}, seconds = 60 } = {}) {
  const child = spawn(program, args, { env: cleanEnvironment(env), stdio: ["pipe", "pipe", "pipe"] });
  const output = [[], []];
  child.stdout.on("data", (piece) => output[0].push(piece));
  child.stderr.on("data", (piece) => output[1].push(piece));
  child.stdin.on("error", () => {});  // a program may end without reading its input
  child.stdin.end(input);
  let isLate = false;
  const timer = setTimeout(() => { isLate = true; child.kill("SIGKILL"); }, seconds * 1000);
  const [code, signal] = await once(child, "close");
  clearTimeout(timer);
  if (isLate) throw new Error(`${program} ${args.join(" ")} took more than ${seconds} s`);
  return { code, signal, stdout: Buffer.concat(output[0]), stderr: Buffer.concat(output[1]).toString() };
}

// The same of one that has to succeed: what it printed.
export async function must(program, ...args) {
  const done = await run(program, args);
  if (done.code !== 0) throw new Error(`${program} ${args.join(" ")}:\n${done.stdout}${done.stderr}`);
  return done.stdout.toString();
}

// Rewrites a gateway's configuration as `change` leaves it, or gives it; `to`: as another file.
export function changeConfig({ configFile }, change, to = configFile) {
  const config = JSON.parse(readFileSync(configFile));
  writeFileSync(to, JSON.stringify(change(config) ?? config));
}

// Runs `work` while no other run of this tree does: they share what it makes in build/. A run that dies lets go of the lock.
export async function oneAtATime(name, work) {
  const file = fileURLToPath(new URL(`../../build/${name}`, import.meta.url));
  mkdirSync(path.dirname(file), { recursive: true });
  const holder = spawn("flock", [file, "sh", "-c", "echo locked; exec cat"], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(holder, "close");
  if (!(await Promise.race([once(holder.stdout, "data"), ended.then(() => null)]))) throw new Error(`flock ${file} failed`);
  try {
    return await work();
  } finally {
    holder.stdin.end();
    await ended;
  }
}

// The environment without the proxies and authorities of whoever runs the tests.
export function cleanEnvironment(additions) {
  const environment = { ...process.env };
  for (const name of Object.keys(environment)) {
    if (/_proxy$/i.test(name) || /^(NODE_EXTRA_CA_CERTS|NODE_OPTIONS|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|SSL_CERT_FILE|SSL_CERT_DIR|ARMGATE_ACTIVE)$/.test(name)) {
      delete environment[name];
    }
  }
  return { ...environment, ...additions };
}

// Programs listen on ports that the kernel gives to no outgoing connection: between "it is free" and the program's own bind such a connection
// took one now and then. Each process of tests walks through a hundred of its own, and listens on the first of them as long as it lives: what
// else runs beside it takes another hundred.
const PORTS = { first: 12000, each: 100, processes: 200 };
let ownPorts;
let portsGiven = 0;

async function listenOn(port) {
  const server = net.createServer().listen(port, "127.0.0.1");
  return once(server, "listening").then(() => server, () => null);
}

async function takeOwnPorts() {
  for (let tries = 0; tries < PORTS.processes; ++tries) {
    const first = PORTS.first + ((process.pid + tries) % PORTS.processes) * PORTS.each;
    const holder = await listenOn(first);
    if (!holder) continue;
    holder.unref();
    return first + 1;
  }
  throw new Error(`each ${PORTS.each}th port from ${PORTS.first} on is taken`);
}

export async function freePort() {
  const first = await (ownPorts ??= takeOwnPorts());
  const count = PORTS.each - 1;
  for (let tries = 0; tries < count; ++tries) {
    const port = first + portsGiven++ % count;
    const server = await listenOn(port);
    if (!server) continue;
    server.close();
    await once(server, "close");
    return port;
  }
  throw new Error(`no port from ${first} on is free`);
}

export async function isListening(port) {
  const socket = net.connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

export class World {
  constructor(binDirectory) {
    this.bin = path.resolve(binDirectory);
    this.directory = mkdtempSync(path.join(os.tmpdir(), "armgate-e2e-"));
    // The home of a user who was told already what exec does.
    const state = path.join(this.directory, ".local/state/armgate");
    mkdirSync(state, { recursive: true });
    writeFileSync(path.join(state, "exec-introduced"), "");
    this.children = [];
    this.servers = [];
    this.certificates = {};
  }

  file(name) {
    return path.join(this.directory, name);
  }

  // Starts a program that serves until it is stopped, ours or one of the system, and waits until `isReady`.
  async start(name, args, isReady, env = {}) {
    const child = spawn(path.resolve(this.bin, name), args, { cwd: this.directory, env: cleanEnvironment({ HOME: this.directory, ...env }),
                                                           stdio: ["ignore", "pipe", "pipe"] });
    const entry = { name, child, log: "", exited: null };
    const append = (piece) => { entry.log += piece; };
    child.stdout.on("data", append);
    child.stderr.on("data", append);
    entry.exit = new Promise((resolve) => child.on("close", (code, signal) => resolve(entry.exited = { code, signal })));
    child.on("error", (error) => append(String(error)));
    this.children.push(entry);
    for (let tries = 0; !(await isReady()); ++tries) {
      if (entry.exited || tries > 400) throw new Error(`${name} did not get ready`);
      await sleep(25);
    }
    return entry;
  }

  // A simulated ARM. `args` are more options of armsim.
  async startSim(args = []) {
    const directory = mkdtempSync(this.file("armsim-"));
    const portFile = path.join(directory, "port");
    const process = await this.start("armsim", ["--make-ca", directory, "--port-file", portFile, ...args], () => existsSync(portFile));
    return new Sim(Number(readFileSync(portFile)), path.join(directory, "ca.pem"), process);
  }

  // An ARM that answers what `answer(request)` says, {status, headers, body}, and keeps what it was sent, as sent. null: it breaks the
  // connection instead.
  async startRecorder(answer, { name = ARM_HOST } = {}) {
    const { certificate, key } = await this.makeCertificate(name);
    const seen = [];
    const server = https.createServer({ cert: readFileSync(certificate), key: readFileSync(key) }, async (request, response) => {
      const pieces = [];
      for await (const piece of request) pieces.push(piece);
      const record = { method: request.method, url: request.url, fields: pairsOf(request.rawHeaders),
                       headers: request.headers, body: Buffer.concat(pieces) };
      seen.push(record);
      const given = await answer(record);
      if (given === null) return request.socket.destroy();
      const { status = 200, headers = [], body = "" } = given;
      if (!response.destroyed) response.writeHead(status, headers).end(body);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    this.servers.push(server);
    return { port: server.address().port, caFile: certificate, seen };
  }

  // The same one for all who ask for the name.
  makeCertificate(name) {
    this.certificates[name] ??= (async () => {
      const certificate = this.file(`${name}.pem`);
      const key = this.file(`${name}-key.pem`);
      await must("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                 "-subj", `/CN=${name}`, "-addext", `subjectAltName=DNS:${name}`, "-keyout", key, "-out", certificate);
      return { certificate, key };
    })();
    return this.certificates[name];
  }

  // What armgate needs in front of `upstream` (a sim or a recorder). `config` is merged over what every test needs.
  async configureGateway(upstream, config = {}) {
    const port = await freePort();
    const directory = this.file(`gateway-${port}`);
    mkdirSync(directory);
    const base = {
      listen: { proxy: `127.0.0.1:${port}` },
      ca: { directory: "ca" },
      hosts: { [ARM_HOST]: { address: `127.0.0.1:${upstream.port}`, ca_file: upstream.caFile } },
      log: { level: "debug" },
    };
    const configFile = path.join(directory, "armgate.json");
    writeFileSync(configFile, JSON.stringify(merged(base, config), null, 2));
    const made = await run(path.join(this.bin, "armgate"), ["ca", "init", "--config", configFile], { env: { HOME: this.directory } });
    if (made.code !== 0) throw new Error(`armgate ca init: ${made.stderr}`);
    return { port, configFile, caFile: made.stdout.toString().trim() };
  }

  async startGateway(upstream, config = {}) {
    return this.runGateway(await this.configureGateway(upstream, config));
  }

  async runGateway(gateway, env = {}) {
    const process = await this.start("armgate", ["run", "--config", gateway.configFile], () => isListening(gateway.port), env);
    return { ...gateway, process };
  }

  logs() {
    return this.children.map(({ name, log, exited }) =>
      `${name}${exited ? ` (ended: ${exited.signal ?? exited.code})` : ""}:\n${log.split("\n").slice(-90000).join("\n")}`).join("\n");
  }

  async close() {
    for (const server of this.servers) {
      server.closeAllConnections();
      server.close();
    }
    for (const entry of this.children) {
      if (!entry.exited) (entry.kill ?? (() => entry.child.kill("SIGKILL")))();
      await entry.exit;
    }
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 5 });  // a client may still be writing
  }
}

// A running armsim, and its control paths.
class Sim {
  constructor(port, caFile, process) {
    Object.assign(this, { port, caFile, process });
  }

  async control(method, name, body = "") {
    const answer = await httpsRequest({ port: this.port, method, path: `/__sim/${name}`, ca: readFileSync(this.caFile) }, body);
    if (answer.status >= 300) throw new Error(`armsim: ${method} ${name}: ${answer.status} ${answer.body}`);
    return answer.body.length > 0 ? JSON.parse(answer.body) : null;
  }
  report() { return this.control("GET", "report"); }
  finish() { return this.control("POST", "finish"); }  // what runs ends now
  addFaults(faults) { return this.control("POST", "faults", JSON.stringify({ faults })); }
  clearFaults() { return this.control("DELETE", "faults"); }

  // What ARM holds, asked directly.
  read(id, apiVersion) { return this.ask("GET", id, apiVersion); }

  // Made before the race, by nobody who takes part in it, and at once.
  make(id, apiVersion, body) { return this.ask("PUT", id, apiVersion, body, { "x-sim-operation-ms": "0" }); }

  // Answers one more request as it came; null if the simulated ARM breaks the connection.
  async forward({ method, url, headers: { connection, "transfer-encoding": _, ...headers }, body }) {
    try {
      const answer = await httpsRequest({ port: this.port, method, path: url, ca: readFileSync(this.caFile), headers }, body);
      const kept = pairsOf(answer.rawHeaders).filter(([name]) => !/^(connection|transfer-encoding)$/i.test(name));
      return { status: answer.status, headers: kept.flat(), body: answer.body };
    } catch (error) {
      if (error.code === "ECONNRESET") return null;
      throw error;
    }
  }

  async stop() {
    this.process.child.kill("SIGTERM");
    await this.process.exit;
  }

  async ask(method, id, apiVersion, body, more = {}) {
    const headers = { authorization: "Bearer inspector", ...more, ...(body ? { "content-type": "application/json" } : {}) };
    const answer = await httpsRequest({ port: this.port, method, path: `${id}?api-version=${apiVersion}`, ca: readFileSync(this.caFile), headers },
                                      body ? JSON.stringify(body) : "");
    if (answer.status >= 300) throw new Error(`armsim: ${method} ${id}: ${answer.status} ${answer.body}`);
    return answer.body ? JSON.parse(answer.body) : null;
  }
}

function httpsRequest(options, body = "") {
  return new Promise((resolve, reject) => {
    const request = https.request({ host: "127.0.0.1", servername: ARM_HOST, agent: false, ...options,
                                    headers: { host: ARM_HOST, ...options.headers } }, async (response) => {
      const pieces = [];
      for await (const piece of response) pieces.push(piece);
      resolve({ status: response.statusCode, headers: response.headers, rawHeaders: response.rawHeaders,
                body: Buffer.concat(pieces).toString() });
    });
    request.on("error", reject);
    request.end(body);
  });
}

function pairsOf(flat) {
  const pairs = [];
  for (let i = 0; i < flat.length; i += 2) pairs.push([flat[i], flat[i + 1]]);
  return pairs;
}

function merged(base, more) {
  const both = { ...base };
  for (const [key, value] of Object.entries(more)) {
    const nested = value !== null && typeof value === "object" && !Array.isArray(value) && typeof base[key] === "object";
    both[key] = nested ? merged(base[key], value) : value;
  }
  return both;
}
