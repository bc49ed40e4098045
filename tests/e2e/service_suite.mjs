// armgate as a service: starting, refusing to start, the listener without CONNECT, stopping. And the simulated ARM behind it.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, closeSync, constants, existsSync, openSync, readFileSync, readSync, renameSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import path from "node:path";
import { curl, curlJson, sending } from "./curl.mjs";
import { changeConfig, cleanEnvironment, freePort, isListening, run, sleep, withinSeconds } from "./harness.mjs";
import { assertConflict } from "./rows.mjs";
import { GROUP, PATH, SCALE_SET, patchTags, startHeldUpstream, startWithScaleSet, waitFor } from "./scale_set.mjs";

const GROUP_PATH = `${GROUP}?api-version=2024-03-01`;
const LONG = `/subscriptions/${"s".repeat(10000)}?api-version=2022-12-01`;  // a pipe takes 64 KiB of such lines

export const tests = {
  "a resource is made, changed and read through the gateway": async (world) => {
    const sim = await world.startSim(["--operation-ms", "200"]);
    const gateway = await world.startGateway(sim);
    assert.equal((await curl(world, gateway, GROUP_PATH, { args: sending("PUT", { location: "westeurope" }) })).status, 201);
    const made = await curlJson(world, gateway, PATH, { args: sending("PUT", { location: "westeurope", sku: { capacity: 1 } }) });
    assert.equal(made.status, 201);
    await waitFor("the operation's end", async () => (await curlJson(world, gateway, PATH)).json.properties.provisioningState === "Succeeded");
    const read = await curlJson(world, gateway, PATH);
    const changed = await curlJson(world, gateway, PATH, { args: sending("PUT", { ...read.json, tags: { seen: "yes" } }) });
    assert.equal(changed.status, 200);
    assert.equal(changed.json.tags.seen, "yes");
  },

  "of two writes from one read both stay if they change different things; the same thing only one of them changes": async (world) => {
    const sim = await world.startSim(["--operation-ms", "0"]);
    const gateway = await world.startGateway(sim, { clients: { one: { actor: "single" }, two: { actor: "single" } } });
    await curl(world, gateway, GROUP_PATH, { args: sending("PUT", { location: "westeurope" }) });
    await curl(world, gateway, PATH, { user: "maker", args: sending("PUT", { location: "westeurope", sku: { capacity: 1 } }) });
    const reads = { one: await curlJson(world, gateway, PATH, { user: "one" }), two: await curlJson(world, gateway, PATH, { user: "two" }) };
    const put = (user, change) => curlJson(world, gateway, PATH, { user, args: sending("PUT", { ...reads[user].json, ...change }) });
    assert.equal((await put("one", { tags: { one: "1" }, sku: { capacity: 2 } })).status, 200);
    const late = await put("two", { tags: { two: "1" } });
    assert.deepEqual([late.status, late.headers["x-armgate-merged"]], [200, "2"]);
    assertConflict(await put("two", { sku: { capacity: 3 } }), "/sku/capacity");
    const { tags, sku } = await sim.read(SCALE_SET, "2024-07-01");
    assert.deepEqual({ tags, sku }, { tags: { one: "1", two: "1" }, sku: { capacity: 2 } });
    assert.equal((await sim.report()).lost_updates, 0);
  },

  "a standard error that is closed, or whose reader is gone, takes nothing along": async (world) => {
    const sim = await world.startSim(["--operation-ms", "0"]);
    const gateway = await world.configureGateway(sim);
    for (const redirection of ["2>&-", "2> >(exec true)"]) {
      const command = `exec ${path.join(world.bin, "armgate")} run --config ${gateway.configFile} ${redirection}`;
      const child = spawn("bash", ["-c", command], { env: cleanEnvironment({ HOME: world.directory }), stdio: "ignore" });
      const ended = once(child, "close");
      try {
        await waitFor("the gateway", async () => (await curl(world, gateway, GROUP_PATH)).status === 404);
        for (let i = 0; i < 5; ++i) assert.equal((await curl(world, gateway, GROUP_PATH)).status, 404);
      } finally {
        child.kill("SIGTERM");
      }
      assert.deepEqual(await ended, [0, null], redirection);
    }
  },

  "two updates of one group's tags from the same read: both stay, and the second of one tag is refused and told so": async (world) => {
    const sim = await world.startSim(["--operation-ms", "0"]);
    const gateway = await world.startGateway(sim);
    await curl(world, gateway, GROUP_PATH, { user: "maker", args: sending("PUT", { location: "westeurope" }) });
    const reads = { one: await curlJson(world, gateway, GROUP_PATH, { user: "one" }), two: await curlJson(world, gateway, GROUP_PATH, { user: "two" }) };
    const put = (user, tags) => curlJson(world, gateway, GROUP_PATH, { user, args: sending("PUT", { ...reads[user].json, tags }) });
    const answers = await Promise.all([put("one", { one: "1" }), put("two", { two: "1" })]);
    assert.deepEqual(answers.map((answer) => answer.status), [200, 200]);
    assert.deepEqual(answers.map((answer) => answer.headers["x-armgate-merged"] ?? "0").sort(), ["0", "1"]);
    for (const user of ["one", "two"]) reads[user] = await curlJson(world, gateway, GROUP_PATH, { user });
    assert.deepEqual(reads.one.json.tags, { one: "1", two: "1" });
    const again = await Promise.all(["one", "two"].map((user) => put(user, { ...reads[user].json.tags, both: user })));
    assert.deepEqual(again.map((answer) => answer.status).sort(), [200, 412]);
    assertConflict(again.find((answer) => answer.status === 412), "/tags/both");
    assert.equal((await sim.report()).lost_updates, 0);
  },

  "ARM's names reach the listener without CONNECT as well": async (world) => {
    const port = await freePort();
    const sim = await world.startSim();
    const gateway = await world.startGateway(sim, { listen: { tls: `127.0.0.1:${port}` } });
    const args = ["--connect-to", `management.azure.com:443:127.0.0.1:${port}`];
    const answer = await curlJson(world, gateway, "/subscriptions?api-version=2022-12-01", { direct: true, args });
    assert.equal(answer.status, 200);
    assert.ok(Array.isArray(answer.json.value));
  },

  "a crash leaves no image of the memory, and nobody but root looks into it, unless that was asked for": async (world) => {
    const gateway = await world.startGateway(await world.startSim());
    const limits = (pid) => /^Max core file size +(\S+) +(\S+)/m.exec(readFileSync(`/proc/${pid}/limits`, "utf8")).slice(1);
    assert.deepEqual(limits(gateway.process.child.pid), ["0", "0"]);
    gateway.process.child.kill("SIGTERM");
    await gateway.process.exit;
    changeConfig(gateway, (config) => ({ ...config, core_dumps: "on" }));
    const { process: open } = await world.runGateway(gateway);
    assert.deepEqual(limits(open.child.pid), limits("self"));

    // A user's process whose memory is hidden has files of root's in /proc, and still reads its own standard input.
    const user = process.getuid() === 0 ? 65534 : process.getuid();
    const as = process.getuid() === 0 ? ["setpriv", `--reuid=${user}`, "--clear-groups"] : ["env"];
    const words = ["explain", "PUT", "https://management.azure.com/subscriptions/s/resourceGroups/g?api-version=2021-04-01", "--body", "-"];
    const piped = `exec 0< <(sleep 2; echo "{}"); exec ${path.join(world.bin, "armgate")} "$@"`;
    const child = spawn(as[0], [...as.slice(1), "bash", "-c", piped, "bash", ...words], { env: cleanEnvironment({ HOME: "/" }), stdio: ["ignore", "ignore", "inherit"], cwd: "/" });
    const ended = once(child, "close");
    await waitFor("its start", async () => readFileSync(`/proc/${child.pid}/comm`, "utf8") === "armgate\n");
    await waitFor("its memory to be hidden", async () => statSync(`/proc/${child.pid}/environ`).uid === 0);
    assert.match(readFileSync(`/proc/${child.pid}/status`, "utf8"), new RegExp(`^Uid:\\t${user}\\t`, "m"));
    assert.deepEqual(await ended, [0, null]);
  },

  "a stop lets the request that is under way end": async (world) => {
    const { upstream, release } = await startHeldUpstream(world);
    const gateway = await world.startGateway(upstream);
    const slow = curl(world, gateway, PATH);
    await waitFor("the request's arrival", async () => upstream.seen.length === 1);
    gateway.process.child.kill("SIGTERM");
    await sleep(200);
    assert.equal(gateway.process.exited, null, "it left before the request's end");
    const refused = await curl(world, gateway, PATH);
    assert.notEqual(refused.code, 0, "a new connection was taken after the signal");
    release();
    assert.equal((await slow).status, 200);
    assert.deepEqual(await withinSeconds(10, "the stop", gateway.process.exit), { code: 0, signal: null });
  },

  "a stop lets a write that waits for another have its turn and its answer": async (world) => {
    const { sim, gateway } = await startWithScaleSet(world, "1500");
    assert.equal((await patchTags(world, gateway, "first", { first: "1" })).status, 200);  // its operation runs on
    const waiting = patchTags(world, gateway, "second", { second: "1" });
    await sleep(300);
    const stopped = Date.now();
    gateway.process.child.kill("SIGTERM");
    const answer = await waiting;
    assert.equal(answer.status, 200, answer.error);
    assert.ok(Number(answer.headers["x-armgate-waited-ms"]) > 500, "it did not wait: this tested nothing");
    assert.deepEqual(await withinSeconds(10, "the stop", gateway.process.exit), { code: 0, signal: null });
    assert.ok(Date.now() - stopped < 6000, "it waited for an operation whose write was answered");
    assert.equal((await sim.report()).overlaps_attempted, 0);
  },

  "a stop tells a write that still waits when its time is nearly over to come again": async (world) => {
    const { sim, gateway } = await startWithScaleSet(world, "600000", { drain_max: "4s" });
    assert.ok((await patchTags(world, gateway, "first", { first: "1" })).status < 300);  // its operation outlives the stop
    const waiting = patchTags(world, gateway, "second", { second: "1" });
    await sleep(300);
    gateway.process.child.kill("SIGTERM");
    const answer = await waiting;
    assert.equal(answer.status, 503, answer.error);
    assert.ok(Number(answer.headers["retry-after"]) > 0);
    assert.equal(answer.headers["x-armgate-reason"], "armgate-ends");
    assert.equal(answer.json.error.code, "ArmgateBusy");
    assert.deepEqual(await withinSeconds(10, "the stop", gateway.process.exit), { code: 0, signal: null });
    assert.equal((await sim.report()).overlaps_attempted, 0);
  },

  "a stop does not wait for a reader of the log that has stopped reading": async (world) => {
    const sim = await world.startSim();
    const gateway = await world.configureGateway(sim);
    const pipe = world.file("log-pipe");
    assert.equal((await run("mkfifo", [pipe])).code, 0);
    const log = openSync(pipe, constants.O_RDWR);  // a reader that never reads
    const child = spawn(path.join(world.bin, "armgate"), ["run", "--config", gateway.configFile],
                        { env: cleanEnvironment({ HOME: world.directory }), stdio: ["ignore", "ignore", log] });
    const ended = once(child, "close");
    try {
      await waitFor("the gateway", async () => (await curl(world, gateway, GROUP_PATH)).status === 404);
      for (let i = 0; i < 10; ++i) assert.ok((await curl(world, gateway, LONG)).status >= 200);
      child.kill("SIGTERM");
      assert.deepEqual(await withinSeconds(20, "the stop", ended), [0, null]);
    } finally {
      child.kill("SIGKILL");
      closeSync(log);
    }
  },

  "a log that takes no lines keeps nobody waiting when it is to be opened anew, which is done as soon as it does": async (world) => {
    const log = world.file("log");
    assert.equal((await run("mkfifo", [log])).code, 0);
    const reader = openSync(log, constants.O_RDWR | constants.O_NONBLOCK);
    const gateway = await world.startGateway(await world.startSim(), { log: { file: log }, threads: 1 });
    for (let i = 0; i < 10; ++i) assert.ok((await curl(world, gateway, LONG)).status >= 200);
    renameSync(log, `${log}.1`);
    gateway.process.child.kill("SIGUSR1");
    await sleep(100);
    assert.equal((await curl(world, gateway, GROUP_PATH, { args: ["--max-time", "5"] })).status, 404);
    assert.ok(!existsSync(log), "it was opened while lines waited: this tested nothing");
    const piece = Buffer.alloc(65536);
    const readAll = () => {
      try {
        while (readSync(reader, piece) > 0);
      } catch (failure) {
        if (failure.code !== "EAGAIN") throw failure;
      }
    };
    await waitFor("the new file", async () => { readAll(); return existsSync(log) && readFileSync(log, "utf8").includes(GROUP); });
    closeSync(reader);
    const [first, ...more] = readFileSync(log, "utf8").trim().split("\n").map((line) => JSON.parse(line));
    assert.equal(first.event, "log-reopened");
    assert.equal(more.filter(({ event }) => event === "request").length, 1, "what came before went to the old file");
  },

  "a limit of a file's size costs lines of the log, and not the service": async (world) => {
    const gateway = await world.configureGateway(await world.startSim(), { log: { file: "armgate.log" } });
    const limited = ["-c", 'ulimit -f 64; exec "$@"', "bash", path.join(world.bin, "armgate"), "run", "--config", gateway.configFile];
    const process = await world.start("/bin/bash", limited, () => isListening(gateway.port));
    for (let i = 0; i < 10; ++i) assert.ok((await curl(world, gateway, LONG)).status >= 200);
    await waitFor("the lost lines", async () => process.log.includes("the log cannot be written: File too large"));
    assert.equal((await curl(world, gateway, GROUP_PATH)).status, 404);
    process.child.kill("SIGTERM");
    assert.deepEqual(await withinSeconds(10, "the stop", process.exit), { code: 0, signal: null });
  },

  "a second signal ends it at once": async (world) => {
    const upstream = await world.startRecorder(() => new Promise(() => {}));
    const gateway = await world.startGateway(upstream);
    const slow = curl(world, gateway, PATH, { args: sending("PUT", { location: "westeurope" }) });
    await waitFor("the request's arrival", async () => upstream.seen.length === 1);
    gateway.process.child.kill("SIGTERM");
    await sleep(200);
    assert.equal(gateway.process.exited, null);
    gateway.process.child.kill("SIGTERM");
    assert.deepEqual(await withinSeconds(2, "the end", gateway.process.exit), { code: 0, signal: null });
    assert.notEqual((await slow).code, 0);
    assert.match(gateway.process.log, /"event":"write-cut-off","method":"PUT","resource":"\/subscriptions\//);
  },

  "in mode observe nothing is altered, and what would have been done is told": async (world) => {
    const sim = await world.startSim(["--operation-ms", "0"]);
    await sim.make(GROUP, "2024-03-01", { location: "westeurope" });
    await sim.make(SCALE_SET, "2024-07-01", { location: "westeurope", sku: { capacity: 1 } });
    const gateway = await world.startGateway(sim, { mode: "observe", clients: { one: { actor: "single" }, two: { actor: "single" } } });
    const reads = { one: await curlJson(world, gateway, PATH, { user: "one" }), two: await curlJson(world, gateway, PATH, { user: "two" }) };
    const put = (user) => curlJson(world, gateway, PATH, { user, args: sending("PUT", { ...reads[user].json, etag: undefined, tags: { [user]: "1" } }) });
    const answers = [await put("one"), await put("two")];
    assert.deepEqual(answers.map((answer) => answer.status), [200, 200]);
    for (const answer of answers) assert.deepEqual(Object.keys(answer.headers).filter((name) => name.startsWith("x-armgate")), []);
    assert.equal((await sim.report()).lost_updates, 1);
    await waitFor("the finding", async () => gateway.process.log.includes('"event":"would"'));
    const found = gateway.process.log.split("\n").filter((line) => line.includes('"event":"would"')).map((line) => JSON.parse(line));
    assert.equal(found.length, 1);
    assert.deepEqual([found[0].kind, found[0].client, found[0].other_client, found[0].method], ["merged", "two", "one", "PUT"]);
    assert.equal(found[0].resource, SCALE_SET.toLowerCase());
    assert.match(found[0].changed, /^\/tags/);
  },

  "SIGHUP brings new rules and a new mode into force, and bad ones not": async (world) => {
    const sim = await world.startSim(["--operation-ms", "0"]);
    await sim.make(GROUP, "2024-03-01", { location: "westeurope" });
    const rules = world.file("own-rules.json");
    const writeRules = (more) => writeFileSync(rules, JSON.stringify({ rules: [{ name: "groups", match: { types: ["Microsoft.Resources/resourceGroups"] }, ...more }] }));
    writeRules({});
    const gateway = await world.startGateway(sim, { mode: "protect", rules: [rules] });
    const config = JSON.parse(readFileSync(gateway.configFile, "utf8"));
    const reloadAndWait = async (event) => {
      const before = gateway.process.log.length;
      gateway.process.child.kill("SIGHUP");
      await waitFor(event, async () => gateway.process.log.slice(before).includes(`"event":"${event}"`));
      return gateway.process.log.slice(before);
    };
    const locksOfWrite = async () => {
      const answer = await curl(world, gateway, GROUP_PATH, { args: sending("PATCH", { tags: { at: String(Date.now()) } }) });
      assert.equal(answer.status, 200);
      return answer.headers["x-armgate-locks"];
    };
    assert.equal(await locksOfWrite(), GROUP.toLowerCase());

    writeRules({ mode: "off" });
    await reloadAndWait("reloaded");
    assert.equal(await locksOfWrite(), undefined);

    writeRules({ mode: "of" });
    const faults = await reloadAndWait("reload-refused");
    assert.match(faults, /own-rules\.json:1: \/rules\/0\/mode/);
    assert.equal(await locksOfWrite(), undefined, "the old rules stay");

    writeRules({});
    writeFileSync(gateway.configFile, JSON.stringify({ ...config, mode: "observe", threads: 7 }));
    assert.match(await reloadAndWait("reloaded"), /"event":"restart-needed","option":"\/threads"/);
    assert.equal(await locksOfWrite(), undefined);

    writeFileSync(gateway.configFile, JSON.stringify(config));
    await reloadAndWait("reloaded");
    assert.equal(await locksOfWrite(), GROUP.toLowerCase());
    assert.match(gateway.process.log, /"event":"no-rules","text":"no rule is for all types/);
    assert.doesNotMatch(gateway.process.log, /there is no rule/);

    writeFileSync(gateway.configFile, JSON.stringify({ ...config, rules: [] }));
    assert.match(await reloadAndWait("reloaded"), /"level":"warning","event":"no-rules","text":"there is no rule, so nothing is protected/);
    gateway.process.child.kill("SIGTERM");
    await gateway.process.exit;
    const again = await world.start("armgate", ["run", "--config", gateway.configFile], () => true);
    await waitFor("the warning", async () => /"event":"started"[^]*"event":"no-rules"/.test(again.log));
  },

  "a start that fails for a file says which option names it": async (world) => {
    const { configFile } = await world.configureGateway(await world.startSim(), { log: { file: "no/armgate.log" }, upstream: { ca_file: "none.pem" } });
    const started = await world.start("armgate", ["run", "--config", configFile], () => true);
    assert.deepEqual(await withinSeconds(10, "the end", started.exit), { code: 1, signal: null });
    assert.match(started.log, /: \/log\/file: there is no directory/);
    assert.match(started.log, /: \/upstream\/ca_file: cannot open .*none\.pem/);
    const open = await world.configureGateway(await world.startSim());
    chmodSync(path.join(path.dirname(open.caFile), "intermediate.key"), 0o644);
    const refused = await run(path.join(world.bin, "armgate"), ["run", "--config", open.configFile], { env: { HOME: world.directory } });
    assert.deepEqual([refused.code, refused.stderr.toString().match(/intermediate\.key is a secret, .*/g).length], [1, 1], "it is told once");
  },

  "requests do not wait while many rules are read, and two reloads in a row bring the last into force": async (world) => {
    const admin = await freePort();
    const rules = world.file("many.json");
    const writeRules = (count) => writeFileSync(rules, JSON.stringify({ rules: Array.from({ length: count }, (_, i) => ({ name: `r${i}`, match: { types: [`Contoso.Box${i}/boxes`] } })) }));
    writeRules(1);
    const gateway = await world.startGateway(await world.startSim(), { rules: [rules], threads: 1, listen: { admin: `127.0.0.1:${admin}` } });
    const reloaded = () => [...gateway.process.log.matchAll(/"event":"reloaded".*"rules":([0-9]+)/g)].map(([, count]) => Number(count));
    writeRules(30_000);
    gateway.process.child.kill("SIGHUP");
    await sleep(100);
    assert.equal((await run("curl", ["--silent", "--fail", `http://127.0.0.1:${admin}/healthz`])).code, 0);
    assert.deepEqual(reloaded(), [], "it answers while it reads");
    writeRules(2);
    gateway.process.child.kill("SIGHUP");
    await waitFor("both", async () => reloaded().length === 2);
    assert.deepEqual(reloaded(), [30_000, 2]);
    gateway.process.child.kill("SIGTERM");
    assert.deepEqual(await gateway.process.exit, { code: 0, signal: null });
  },

  "a signal during the start waits for its end, or ends it well": async (world) => {
    const sim = await world.startSim();
    const { port, configFile, caFile } = await world.configureGateway(sim, { log: { file: "armgate.log" } });
    // Whoever opens this file waits for who writes it: the start is where the test wants it.
    const pipe = path.join(path.dirname(caFile), "intermediate.key");
    const key = readFileSync(pipe);
    unlinkSync(pipe);
    await run("mkfifo", ["-m", "600", pipe]);
    const start = async () => {
      const process = await world.start("armgate", ["run", "--config", configFile, "--mode", "observe"], () => true);
      const writer = await open(pipe, "w");  // once it is read
      return { process, goOn: async () => { await writer.writeFile(key); await writer.close(); } };
    };
    const { process, goOn } = await start();
    process.child.kill("SIGHUP");
    process.child.kill("SIGUSR1");
    await sleep(100);
    await goOn();
    const log = path.join(path.dirname(configFile), "armgate.log");
    await waitFor("the listener", () => isListening(port));
    await waitFor("both", async () => /"log-reopened"[^]*"reloaded"|"reloaded"[^]*"log-reopened"/.test(readFileSync(log, "utf8")));
    assert.match(readFileSync(log, "utf8"), /"event":"reloaded".*"mode":"observe".*"text":"--mode observe of the command line goes before the file's protect"/);
    process.child.kill("SIGTERM");
    assert.deepEqual(await process.exit, { code: 0, signal: null });
    for (const signal of ["SIGTERM", "SIGINT"]) {
      const { process } = await start();
      process.child.kill(signal);
      assert.deepEqual(await process.exit, { code: 0, signal: null });
      assert.match(process.log, /a signal ended the start/);
    }
  },

  "a bad configuration stops the start with every fault": async (world) => {
    const file = world.file("bad.json");
    writeFileSync(file, '{\n  "mode": "protekt",\n  "limits": {"head_bytes": "1 parsec"},\n  "lisen": {}\n}\n');
    const home = { env: { HOME: world.directory } };
    for (const command of ["check", "run"]) {
      const done = await run(path.join(world.bin, "armgate"), [command, "--config", file], home);
      assert.equal(done.code, 1);
      for (const part of ["bad.json:2", "bad.json:3", "bad.json:4", "lisen"]) assert.ok(done.stderr.includes(part), `${part} is not in ${done.stderr}`);
    }
  },

  "the authority's private key is for its owner only, and no token is logged": async (world) => {
    const sim = await world.startSim();
    const gateway = await world.startGateway(sim);
    await curl(world, gateway, "/subscriptions?api-version=2022-12-01&secret=of-the-query");
    const directory = path.dirname(gateway.caFile);
    const { stdout } = await run("find", [directory, "-type", "f", "-name", "*key*"]);
    const keys = stdout.toString().trim().split("\n");
    assert.notEqual(keys[0], "");
    for (const key of keys) assert.equal(statSync(key).mode & 0o777, 0o600, key);
    assert.match(readFileSync(gateway.caFile, "utf8"), /BEGIN CERTIFICATE/);
    await waitFor("the line of the request", async () => gateway.process.log.includes("/subscriptions"));
    for (const secret of ["token-of-the-test", "of-the-query"]) assert.ok(!gateway.process.log.includes(secret));
  },
};
