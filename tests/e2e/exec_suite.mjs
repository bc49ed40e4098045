// armgate exec and armgate env: what their command gets, what is left behind, and what stays as if nobody stood in between.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { changeConfig, cleanEnvironment, run, sleep, withinSeconds } from "./harness.mjs";
import { GROUP, launch, SCALE_SET } from "./tools.mjs";

const curlOf = (id, version, ...more) => ["curl", "--silent", "--http1.1", "--header", "Authorization: Bearer t", ...more,
                                          `https://management.azure.com${id}?api-version=${version}`];

async function prepare(world) {
  const sim = await world.startSim(["--operation-ms", "0"]);
  await sim.make(GROUP, "2024-03-01", { location: "westeurope" });
  return { sim, gateway: await world.configureGateway(sim) };
}

const execArguments = (gateway, words, options = []) => ["exec", "--config", gateway.configFile, ...options, "--", ...words];

export const tests = {
  "the exit code is the command's, or says why there is none": async (world) => {
    const { gateway } = await prepare(world);
    const codeOf = async (...words) => (await launch(world, gateway, "exec", "t", words)).code;
    assert.equal(await codeOf("true"), 0);
    assert.equal(await codeOf("sh", "-c", "exit 7"), 7);
    for (const signal of ["SIGKILL", "SIGINT", "SIGTERM", "SIGPIPE"]) {
      const killed = await launch(world, gateway, "exec", "t", ["sh", "-c", `kill -${signal.slice(3)} $$`]);
      assert.deepEqual([killed.code, killed.signal], [null, signal], "a shell goes by it");
    }
    assert.equal(await codeOf("sh", "-c", "exit 130"), 130);
    assert.equal(await codeOf("no-such-program"), 127);
    assert.equal(await codeOf("/etc/passwd"), 126);
    const bad = world.file("bad.json");
    writeFileSync(bad, '{"threads": -1}');
    const refused = await run(path.join(world.bin, "armgate"), ["exec", "--config", bad, "--", "echo", "ran"], { env: { HOME: world.directory } });
    assert.equal(refused.code, 125);
    assert.equal(refused.stdout.toString(), "");
    assert.match(refused.stderr, /bad\.json:1: \/threads/);
    const nowhere = { HOME: world.directory, XDG_RUNTIME_DIR: "/no/such/directory", TMPDIR: "/no/such/directory" };
    assert.equal((await run(path.join(world.bin, "armgate"), execArguments(gateway, ["true"]), { env: nowhere })).code, 0);
    const script = world.file("without-shebang");
    writeFileSync(script, "exit $(($1 + 4))\n", { mode: 0o755 });
    assert.equal(await codeOf(script, "3"), 7);
  },

  "the command has its input and output for itself, and armgate says one line if it did something": async (world) => {
    const { gateway } = await prepare(world);
    const armgate = path.join(world.bin, "armgate");
    const env = { HOME: world.directory };
    const echoed = await run(armgate, execArguments(gateway, ["cat"]), { input: "a\nb", env });
    assert.deepEqual([echoed.stdout.toString(), echoed.stderr], ["a\nb", ""]);
    const read = await run(armgate, execArguments(gateway, curlOf(GROUP, "2024-03-01")), { env });
    assert.equal(JSON.parse(read.stdout).name, "rg");
    assert.equal(read.stderr, "", "a read was passed on: nothing to tell");
    const body = JSON.stringify({ location: "westeurope", sku: { capacity: 1 } });
    const put = curlOf(SCALE_SET.id, SCALE_SET.version, "--request", "PUT", "--header", "Content-Type: application/json", "--data", body).join(" ")
      .replace(body, `'${body}'`).replace("Authorization: Bearer t", "'Authorization: Bearer t'")
      .replace("Content-Type: application/json", "'Content-Type: application/json'");
    const get = curlOf(SCALE_SET.id, SCALE_SET.version, "--output", "/dev/null").join(" ").replace("Authorization: Bearer t", "'Authorization: Bearer t'");
    const log = world.file("exec.log");
    const wrote = await run(armgate, execArguments(gateway, ["sh", "-c", `${put} && ${get} && ${put}`], ["--name", "writer", "--log", log]), { env });
    assert.match(wrote.stderr, /^armgate: 3 requests to ARM: 1 guarded\n$/);
    const lines = readFileSync(log, "utf8").trim().split("\n").map((line) => JSON.parse(line));
    assert.deepEqual(lines.filter((line) => line.event === "request").map((line) => [line.method, line.client]),
                     [["PUT", "writer"], ["GET", "writer"], ["PUT", "writer"]]);
  },

  "a user is told once what exec does, on standard error": async (world) => {
    const { gateway } = await prepare(world);
    const home = world.file("newcomer");
    mkdirSync(home);
    const exec = (env = {}) => run(path.join(world.bin, "armgate"), execArguments(gateway, ["echo", "output"]), { env: { HOME: home, ...env } });
    const [first, ...others] = (await Promise.all([exec(), exec(), exec()])).sort((a, b) => b.stderr.length - a.stderr.length);
    assert.match(first.stderr, /^armgate: this command's writes to Azure Resource Manager are protected: .*armgate exec --help.*\n$/s);
    for (const other of [...others, await exec()]) assert.equal(other.stderr, "");
    for (const one of [first, ...others]) assert.deepEqual([one.code, one.stdout.toString()], [0, "output\n"]);
    assert.match((await exec({ XDG_STATE_HOME: world.file("state") })).stderr, /Said once for each user/);
    assert.equal((await exec({ HOME: "/dev/null", XDG_STATE_HOME: "" })).stderr, "", "what cannot be remembered would be said each time");
  },

  "the certificates live as long as the command": async (world) => {
    const { gateway } = await prepare(world);
    const runtime = world.file("runtime");
    mkdirSync(runtime, { mode: 0o700 });
    const script = 'stat -c "%a" "$SSL_CERT_FILE" "$(dirname "$SSL_CERT_FILE")"; dirname "$SSL_CERT_FILE"; test "$SSL_CERT_FILE" = "$REQUESTS_CA_BUNDLE"';
    const done = await launch(world, gateway, "exec", "t", ["sh", "-c", script], { env: { XDG_RUNTIME_DIR: runtime } });
    assert.equal(done.code, 0, done.stderr);
    const [file, directory, place] = done.stdout.toString().trim().split("\n");
    assert.deepEqual([file, directory], ["644", "700"]);
    assert.equal(path.dirname(place), runtime);
    assert.deepEqual(readdirSync(runtime), []);
  },

  "a signal to armgate alone reaches the command, and armgate waits for its end": async (world) => {
    const { gateway } = await prepare(world);
    const script = 'trap "echo got it; exit 3" TERM; echo ready; while :; do sleep 0.05; done';
    const child = spawn(path.join(world.bin, "armgate"), execArguments(gateway, ["sh", "-c", script]),
                        { env: cleanEnvironment({ HOME: world.directory }), stdio: ["ignore", "pipe", "inherit"] });
    let output = "";
    child.stdout.on("data", (piece) => { output += piece; });
    while (!output.includes("ready")) await once(child.stdout, "data");
    child.kill("SIGTERM");
    const [code] = await withinSeconds(10, "the end", once(child, "close"));
    assert.deepEqual([code, output], [3, "ready\ngot it\n"]);
  },

  "a signal to the whole group reaches the command once": async (world) => {
    const { gateway } = await prepare(world);
    const script = 'n=0; trap "n=\\$((n+1))" TERM; echo ready; i=0; while [ $i -lt 20 ]; do sleep 0.05; i=$((i+1)); done; exit $n';
    const child = spawn(path.join(world.bin, "armgate"), execArguments(gateway, ["sh", "-c", script]),
                        { env: cleanEnvironment({ HOME: world.directory }), stdio: ["ignore", "pipe", "inherit"], detached: true });
    let output = "";
    child.stdout.on("data", (piece) => { output += piece; });
    while (!output.includes("ready")) await once(child.stdout, "data");
    process.kill(-child.pid, "SIGTERM");
    const [code] = await withinSeconds(20, "the end", once(child, "close"));
    assert.equal(code, 1, "how often the trap was sprung");
  },

  "a script that runs its lines under exec ends at Ctrl-C": async (world) => {
    const { gateway } = await prepare(world);
    const loop = world.file("loop.sh");
    const words = [path.join(world.bin, "armgate"), ...execArguments(gateway, ["sh", "-c", "echo ready; exec sleep 20"])].map((word) => `'${word}'`).join(" ");
    writeFileSync(loop, `for i in 1 2 3; do ${words}; echo "went on after $i"; done\n`);
    const child = spawn("script", ["--quiet", "--return", "--command", `exec bash ${loop}`, "/dev/null"],
                        { env: cleanEnvironment({ HOME: world.directory, SHELL: "/bin/sh" }), stdio: ["pipe", "pipe", "inherit"] });
    let output = "";
    child.stdout.on("data", (piece) => { output += piece; });
    while (!output.includes("ready")) await once(child.stdout, "data");
    child.stdin.write("\x03");
    await withinSeconds(15, "the end", once(child, "close"));
    assert.doesNotMatch(output, /went on/);
  },

  "the end is seen though whoever started exec ignores the end of children": async (world) => {
    const { gateway } = await prepare(world);
    const ignoring = "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])";
    const words = ["-c", ignoring, path.join(world.bin, "armgate"), ...execArguments(gateway, ["sh", "-c", "exit 7"])];
    assert.equal((await run("/usr/bin/python3", words, { env: { HOME: world.directory }, seconds: 20 })).code, 7);
  },

  "a log whose reader has gone does not end the command": async (world) => {
    const { gateway } = await prepare(world);
    const pipe = world.file("log");
    const call = curlOf(GROUP, "2024-03-01", "--output", "/dev/null").map((word) => `"${word}"`).join(" ");
    const script = `mkfifo ${pipe}; sleep 0.4 < ${pipe} & sleep 0.1; "$@" sh -c '${call}; sleep 0.6; ${call}; exit 4'`;
    const words = [path.join(world.bin, "armgate"), "exec", "--config", gateway.configFile, "--log", pipe, "--"];
    const done = await run("sh", ["-c", script, "sh", ...words], { env: { HOME: world.directory } });
    assert.deepEqual([done.code, done.signal], [4, null], done.stderr);
  },

  "an empty HOME is none": async (world) => {
    const done = await run(path.join(world.bin, "armgate"), ["ca", "path"], { env: { HOME: "" } });
    assert.match(done.stdout.toString() + done.stderr, /^(armgate: )?\/\S+\/ca\/ca\.pem/, "it is looked for at an absolute path");
  },

  "on a terminal the command sees the terminal, and Ctrl-C once": async (world) => {
    const { gateway } = await prepare(world);
    const script = world.file("script.sh");
    writeFileSync(script, 'test -t 0 && test -t 1 && echo terminal\ntrap "echo interrupted" INT\necho ready\n' +
                          'i=0; while [ $i -lt 20 ]; do sleep 0.05; i=$((i+1)); done; exit 5\n');
    const words = [path.join(world.bin, "armgate"), ...execArguments(gateway, ["sh", script])].map((word) => `'${word}'`).join(" ");
    // exec: a shell that stayed in between would die of the Ctrl-C itself (dash does, bash does not).
    const child = spawn("script", ["--quiet", "--return", "--command", `exec ${words}`, "/dev/null"],
                        { env: cleanEnvironment({ HOME: world.directory, SHELL: "/bin/sh" }), stdio: ["pipe", "pipe", "inherit"] });
    let output = "";
    child.stdout.on("data", (piece) => { output += piece; });
    while (!output.includes("ready")) await once(child.stdout, "data");
    child.stdin.write("\x03");
    const [code] = await withinSeconds(20, "the end", once(child, "close"));
    assert.equal(code, 5, output);
    assert.equal(output.match(/terminal/g)?.length, 1, output);
    assert.equal(output.match(/interrupted/g)?.length, 1, output);
  },

  "without an authority one is made, once, however many start": async (world) => {
    const { gateway } = await prepare(world);
    const fresh = { configFile: world.file("fresh.json") };
    changeConfig(gateway, (config) => { config.ca.directory = world.file("fresh"); }, fresh.configFile);
    const all = await Promise.all(Array.from({ length: 4 }, () => launch(world, fresh, "exec", "t", curlOf(GROUP, "2024-03-01"))));
    for (const done of all) assert.equal(JSON.parse(done.stdout).name, "rg", done.stderr);
  },

  "exec within exec uses the outer gateway under a name of its own": async (world) => {
    const { gateway } = await prepare(world);
    const log = world.file("outer.log");
    const armgate = path.join(world.bin, "armgate");
    const inner = [armgate, "exec", "--name", "inner", "--", ...curlOf(GROUP, "2024-03-01")];
    const done = await run(armgate, execArguments(gateway, inner, ["--name", "outer", "--log", log]), { env: { HOME: world.directory } });
    assert.equal(JSON.parse(done.stdout).name, "rg", done.stderr);
    assert.match(readFileSync(log, "utf8"), /"client":"inner"/);
  },

  "a shell that evaluates armgate env goes through the running service": async (world) => {
    const { sim } = await prepare(world);
    const gateway = await world.startGateway(sim);
    const script = `eval "$('${path.join(world.bin, "armgate")}' env --config '${gateway.configFile}' --name me)"; exec "$@"`;
    const done = await run("sh", ["-c", script, "sh", ...curlOf(GROUP, "2024-03-01")], { env: { HOME: world.directory } });
    assert.equal(JSON.parse(done.stdout).name, "rg", done.stderr);
    while (!gateway.process.log.includes('"client":"me"')) await sleep(20);
  },

  "the log goes on in a new file after SIGUSR1": async (world) => {
    const { sim } = await prepare(world);
    const log = world.file("armgate.log");
    const gateway = await world.startGateway(sim, { log: { file: log } });
    while (!readFileSync(log, "utf8").includes("started")) await sleep(20);
    renameSync(log, `${log}.1`);
    gateway.process.child.kill("SIGUSR1");
    await withinSeconds(5, "the new file", (async () => {
      while (!existsSync(log) || !readFileSync(log, "utf8").includes("log-reopened")) await sleep(20);
    })());
    assert.doesNotMatch(readFileSync(log, "utf8"), /"event":"started"/);
  },
};
