// PostgreSQL for the tests of a cluster: real servers in directories of their own, on loopback, and several armgates in front of them.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import https from "node:https";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import tls from "node:tls";
import { ARM_HOST, changeConfig, freePort, run, sleep } from "./harness.mjs";

const PROGRAMS = path.join("/usr/lib/postgresql", readdirSync("/usr/lib/postgresql").sort((a, b) => a - b).at(-1), "bin");

// PostgreSQL does not run as root.
function userOfPostgres() {
  if (process.getuid() !== 0) return {};
  const [, , uid, gid] = readFileSync("/etc/passwd", "utf8").split("\n").find((line) => line.startsWith("postgres:")).split(":");
  return { uid: Number(uid), gid: Number(gid) };
}

async function runAsPostgres(program, args) {
  const child = spawn(path.join(PROGRAMS, program), args, { ...userOfPostgres(), cwd: "/", stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece) => { output += piece; });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${program}: ${output}`);
}

export class Postgres {
  constructor(world, directory, port) {
    Object.assign(this, { world, directory, port, settings: [], url: `postgres://armgate@127.0.0.1:${port}/postgres?sslmode=disable` });
  }

  static async directoryOf(world) {
    const directory = mkdtempSync(path.join(os.tmpdir(), "armgate-pg-"));
    const { uid, gid } = userOfPostgres();
    if (uid !== undefined) chownSync(directory, uid, gid);
    world.servers.push({ closeAllConnections() {}, close: () => setTimeout(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }), 500) });
    return directory;
  }

  static async make(world) {
    const postgres = new Postgres(world, await Postgres.directoryOf(world), await freePort());
    await runAsPostgres("initdb", ["-D", postgres.data, "-A", "trust", "-U", "armgate", "--no-sync", "--no-instructions"]);
    await postgres.start();
    return postgres;
  }

  // Another that follows it, and that its commits wait for.
  async makeStandby(port) {
    const standby = new Postgres(this.world, await Postgres.directoryOf(this.world), port ?? await freePort());
    await runAsPostgres("pg_basebackup", ["-d", this.url, "-D", standby.data, "-R", "-X", "stream", "--no-sync", "-c", "fast"]);
    await standby.start();
    await this.sql("alter system set synchronous_standby_names = '*'");
    await this.sql("select pg_reload_conf()");
    for (let tries = 0; !(await this.sql("select count(*) from pg_stat_replication where sync_state in ('sync', 'quorum')")).startsWith("1"); ++tries) {
      if (tries > 200) throw new Error("the standby does not follow");
      await sleep(50);
    }
    return standby;
  }

  get data() { return path.join(this.directory, "data"); }

  async start() {
    const settings = [`port=${this.port}`, "listen_addresses=127.0.0.1", `unix_socket_directories=${this.directory}`, "fsync=off", "max_connections=50",
                      "shared_buffers=16MB", "wal_level=replica", "hot_standby=on", "wal_retrieve_retry_interval=200ms", "max_standby_streaming_delay=-1", ...this.settings];
    const child = spawn(path.join(PROGRAMS, "postgres"), ["-D", this.data, ...settings.flatMap((setting) => ["-c", setting])],
                        { ...userOfPostgres(), cwd: "/", stdio: ["ignore", "pipe", "pipe"] });
    const entry = { name: "postgres", child, log: "", exited: null, kill: () => this.killAll() };
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece) => { entry.log += piece; });
    entry.exit = new Promise((resolve) => child.on("close", (code, signal) => resolve(entry.exited = { code, signal })));
    this.world.children.push(entry);
    this.process = entry;
    for (let tries = 0; ; ++tries) {
      if (entry.exited || tries > 400) throw new Error(`postgres did not get ready: ${entry.log}`);
      if (await this.sql("select 1").catch(() => null)) return;
      await sleep(50);
    }
  }

  // A file that it reads and nobody else may.
  give(name, content) {
    const file = path.join(this.directory, name);
    writeFileSync(file, content, { mode: 0o600 });
    const { uid, gid } = userOfPostgres();
    if (uid !== undefined) chownSync(file, uid, gid);
    return file;
  }

  async sql(statement, seconds = 60) {
    const done = await run(path.join(PROGRAMS, "psql"), ["--no-psqlrc", "-At", "-c", statement, this.url], { seconds });
    if (done.code !== 0) throw new Error(done.stderr);
    return done.stdout.toString();
  }

  // Without a word to anybody, as when its machine is gone.
  async kill() {
    this.killAll();
    await this.process.exit;
  }

  // Those that are frozen, too, which would keep its output open.
  killAll() {
    const { pid } = this.process.child;
    process.kill(pid, "SIGSTOP");  // so that it starts no more of them
    for (const child of childrenOf(pid)) process.kill(child, "SIGKILL");
    this.process.child.kill("SIGKILL");
  }

  // It takes connections, and says nothing.
  freeze() {
    process.kill(this.process.child.pid, "SIGSTOP");
    for (const child of childrenOf(this.process.child.pid)) process.kill(child, "SIGSTOP");
  }

  thaw() {
    for (const child of childrenOf(this.process.child.pid)) process.kill(child, "SIGCONT");
    this.process.child.kill("SIGCONT");
  }

  // On a busy machine the server may not get to it in time, and is asked again.
  async promote() {
    for (let tries = 0; tries < 4; ++tries) {
      await this.sql("select pg_promote(true, 15)", 20).catch(() => {});
      const isStandby = await this.sql("select pg_is_in_recovery()", 20).catch(() => "t");
      if (isStandby.startsWith("f")) return;
    }
    throw new Error(`a standby is not promoted: ${this.process.log.slice(-2000)}`);
  }
}

function childrenOf(pid) {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name)).filter((name) => {
    try {
      return readFileSync(`/proc/${name}/stat`, "utf8").replace(/^.*\) /, "").split(" ")[1] === String(pid);
    } catch {
      return false;
    }
  }).map(Number);
}

// `count` armgates in front of one engine. They have one authority, one key, and a door each.
export class Cluster {
  static async configure(world, upstream, url, { count = 3, lease = 2, config = {}, more = {}, init = true, admin = false } = {}) {
    const cluster = new Cluster();
    const key = world.file("cluster.key");
    writeFileSync(key, `${"0123456789abcdef".repeat(4)}\n`, { mode: 0o600 });
    chmodSync(key, 0o600);
    const settings = (number) => ({ cluster: { engine: url, key_file: key, experimental: "on", replica: `replica-${number}`, quiet: "1s", ...more }, ...config });
    const first = await world.configureGateway(upstream, settings(0));
    cluster.replicas = [first];
    for (let number = 1; number < count; ++number) {
      const port = await freePort();
      const directory = world.file(`gateway-${port}`);
      mkdirSync(directory);
      const configFile = path.join(directory, "armgate.json");
      changeConfig(first, (text) => {
        text.listen.proxy = `127.0.0.1:${port}`;
        text.ca.directory = path.join(path.dirname(first.configFile), "ca");
        Object.assign(text, settings(number));
      }, configFile);
      cluster.replicas.push({ port, configFile, caFile: first.caFile });
    }
    if (admin) for (const replica of cluster.replicas) await cluster.giveAdmin(replica);
    Object.assign(cluster, { world, key });
    if (init) {
      const made = await cluster.command("init", "--lease", String(lease));
      if (made.code !== 0) throw new Error(made.stderr);
    }
    return cluster;
  }

  static async start(world, upstream, url, options = {}) {
    const cluster = await Cluster.configure(world, upstream, url, options);
    await Promise.all(cluster.replicas.map((_, number) => cluster.startReplica(number)));
    return cluster;
  }

  async giveAdmin(replica) {
    replica.admin = await freePort();
    changeConfig(replica, (config) => { config.listen.admin = `127.0.0.1:${replica.admin}`; });
  }

  command(...words) {
    return run(path.join(this.world.bin, "armgate"), ["cluster", ...words, "--config", this.replicas[0].configFile], { env: { HOME: this.world.directory } });
  }

  // Another command, at one replica.
  run(number, ...words) {
    return run(path.join(this.world.bin, "armgate"), [...words, "--config", this.replicas[number].configFile], { env: { HOME: this.world.directory } });
  }

  // What it tells.
  async tell(number, ...words) {
    const done = await this.run(number, ...words);
    if (done.code !== 0) throw new Error(done.stderr);
    return done.stdout.toString();
  }

  // One request to the admin listener of a replica.
  async askAdmin(number, method, page, body) {
    const answer = await fetch(`http://127.0.0.1:${this.replicas[number].admin}${page}`, { method, headers: { "x-armgate-operator": "test" }, body: body && JSON.stringify(body) });
    const text = await answer.text();
    return { status: answer.status, text, json: text.startsWith("{") ? JSON.parse(text) : null };
  }

  async startReplica(number) {
    const replica = this.replicas[number];
    // Its door is there before it has read the log.
    const { children } = this.world;
    const before = children.length;
    const hasBegun = () => children.slice(before).some(({ log }) => log.includes(`"event":"started"`) && log.includes(`"proxy":"127.0.0.1:${replica.port}"`));
    replica.process = await this.world.start("armgate", ["run", "--config", replica.configFile], hasBegun);
  }

  async kill(number) {
    const { process } = this.replicas[number];
    process.child.kill("SIGKILL");
    await process.exit;
  }

  // One request over a connection of its own: what follows may meet another replica. Throws if it breaks.
  async ask(number, user, method, target, { body, headers = {}, seconds = 60 } = {}) {
    const replica = this.replicas[number];
    const socket = net.connect(replica.port, "127.0.0.1");
    socket.on("error", () => {});
    try {
      await once(socket, "connect");
      const credentials = Buffer.from(`${user}:x`).toString("base64");
      socket.write(`CONNECT ${ARM_HOST}:443 HTTP/1.1\r\nHost: ${ARM_HOST}:443\r\nProxy-Authorization: Basic ${credentials}\r\n\r\n`);
      const [opened] = await Promise.race([once(socket, "data"), once(socket, "close").then(() => ["closed"])]);
      if (!/^HTTP\/1.1 200/.test(opened)) throw new Error(`CONNECT: ${opened}`);
      const secure = tls.connect({ socket, servername: ARM_HOST, ca: readFileSync(replica.caFile) });
      const answer = new Promise((resolve, reject) => {
        const request = https.request({ createConnection: () => secure, host: ARM_HOST, method, path: target,
          headers: { host: ARM_HOST, authorization: `Bearer token-of-${user}`, ...(body ? { "content-type": "application/json" } : {}), ...headers } }, async (response) => {
          try {
            const pieces = [];
            for await (const piece of response) pieces.push(piece);
            resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(pieces).toString() });
          } catch (error) {
            reject(error);
          }
        });
        const late = setTimeout(() => request.destroy(new Error("no answer in time")), seconds * 1000);
        request.on("close", () => clearTimeout(late));
        request.on("error", reject);
        secure.on("error", reject);
        request.end(body ? JSON.stringify(body) : undefined);
      });
      const given = await answer;
      return { ...given, json: given.body.startsWith("{") ? JSON.parse(given.body) : null };
    } finally {
      socket.destroy();
    }
  }
}

// A generator of numbers below a bound, the same for the same seed (mulberry32).
export function drawn(seed) {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

