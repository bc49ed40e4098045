// armgate doctor, from where a tool stands: with the runtimes of this machine, each asked itself.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { ARM_HOST, run } from "./harness.mjs";

const SYSTEM = "/etc/ssl/certs/ca-certificates.crt";

// An ARM whose clock is so many seconds ahead.
const startArm = (world, ahead = 0) => world.startRecorder(({ method }) => ({
  status: method === "GET" ? 200 : 405, headers: ["Content-Type", "application/json", "Date", new Date(Date.now() + ahead * 1000).toUTCString()], body: "{}" }));

async function doctor(world, gateway, env = {}, more = []) {
  const words = [path.join(world.bin, "armgate"), "doctor", "--config", gateway.configFile, "--output", "json", ...more];
  const done = await run(words[0], words.slice(1), { env: { HOME: world.directory, GOCACHE: world.file("go-cache"), ...env }, seconds: 120 });
  const told = JSON.parse(done.stdout);
  assert.equal(done.code, told.well ? 0 : 1);
  return { ...told, of: (check) => told.findings.find((finding) => finding.check === check), states: Object.fromEntries(told.findings.map(({ check, state }) => [check, state])) };
}

async function variables(world, gateway) {
  const done = await run(path.join(world.bin, "armgate"), ["env", "--config", gateway.configFile, "--shell", "json", "--name", "me"], { env: { HOME: world.directory } });
  return JSON.parse(done.stdout);
}

export const tests = {
  "in a shell that armgate env has set up, every runtime that is there trusts it": async (world) => {
    const arm = await startArm(world);
    const gateway = await world.startGateway(arm);
    const env = await variables(world, gateway);
    const told = await doctor(world, gateway, env);
    for (const check of ["authority", "environment", "proxy", "certificate", "ARM", "clock", "curl", "python3", "go"]) {
      assert.equal(told.states[check], "good", `${check}: ${JSON.stringify(told.of(check))}`);
    }
    const [major, minor] = process.versions.node.split(".").map(Number);  // if it is the one in PATH, as in our image
    const knowsProxies = major >= 24 || (major === 22 && minor >= 21);
    assert.equal(told.states.node, knowsProxies ? "good" : "warning", JSON.stringify(told.of("node")));
    if (!knowsProxies) assert.match(told.of("node").text, /^trusts it: the JavaScript SDK; but fetch\(\) of Node v\S+ goes around armgate/);
    assert.match(told.of("environment").text, /client "me"/);
    assert.ok(arm.seen.every(({ method, headers }) => method === "GET" && headers.authorization === undefined), "nothing was asked that needs a token");
    const within = await run(path.join(world.bin, "armgate"), ["exec", "--config", gateway.configFile, "--", path.join(world.bin, "armgate"), "doctor", "--config", gateway.configFile],
                             { env: { HOME: world.directory, GOCACHE: world.file("go-cache") }, seconds: 120 });
    assert.equal(within.code, 0, within.stdout.toString());
    assert.match(within.stdout.toString(), /^good +curl +trusts it: scripts$/m);
    assert.doesNotMatch(gateway.process.log, /"event":"handshake-failed"/, "who looks raises no alert");
  },

  "a runtime that does not trust the certificate, or goes around armgate, is named with the remedy": async (world) => {
    const gateway = await world.startGateway(await startArm(world));
    const env = { ...await variables(world, gateway), SSL_CERT_FILE: SYSTEM, REQUESTS_CA_BUNDLE: SYSTEM, CURL_CA_BUNDLE: SYSTEM, NODE_EXTRA_CA_CERTS: "" };
    const told = await doctor(world, gateway, env);
    for (const [runtime, variable] of [["curl", "CURL_CA_BUNDLE"], ["python3", "REQUESTS_CA_BUNDLE"], ["node", "NODE_EXTRA_CA_CERTS"], ["go", "SSL_CERT_FILE"]]) {
      assert.equal(told.states[runtime], "failed", JSON.stringify(told.of(runtime)));
      assert.match(told.of(runtime).text, /does not trust the certificate: /);
      assert.match(told.of(runtime).remedy, new RegExp(variable));
    }
    assert.equal(told.states.certificate, "good", "armgate's own look does not depend on them");
    const around = await doctor(world, gateway, { ...env, no_proxy: ".azure.com", NO_PROXY: ".azure.com" });
    assert.match(around.of("environment").text, new RegExp(`NO_PROXY takes ${ARM_HOST} out`));
    const bare = await doctor(world, gateway);
    assert.match(bare.of("environment").remedy, /eval "\$\(armgate env --config .*armgate\.json\)"/);
    assert.deepEqual([bare.states.proxy, bare.states.ARM, bare.states.curl], ["good", "good", "skipped"]);
  },

  "what stands in the way between armgate and ARM, and a clock that is wrong": async (world) => {
    const arm = await startArm(world, 1000);
    const gateway = await world.startGateway(arm);
    const late = await doctor(world, gateway);
    assert.equal(late.states.clock, "failed");
    assert.match(late.of("clock").text, /^(999|1000) s behind ARM's$/);
    const closed = await world.startGateway({ port: 9, caFile: arm.caFile });
    assert.match((await doctor(world, closed)).of("ARM").text, /armgate does not reach management\.azure\.com: .*Connection refused/);
    const parent = await world.startGateway(arm, { upstream: { proxy: "http://127.0.0.1:9", no_proxy: [] } });
    const told = (await doctor(world, parent)).of("ARM");
    assert.match(told.text, /cannot connect to the proxy 127\.0\.0\.1:9 \(upstream\.proxy\)/);
    assert.match(told.remedy, /upstream\.proxy_password_file/);
  },

  "no service, another service's authority, and a configuration that is wrong": async (world) => {
    const arm = await startArm(world);
    const off = await world.configureGateway(arm);
    const told = await doctor(world, off);
    assert.equal(told.states.proxy, "failed");
    assert.equal(told.of("proxy").remedy.includes(`armgate run --config ${off.configFile}`), true);
    const running = await world.startGateway(arm);
    const env = { HTTPS_PROXY: `http://me:x@127.0.0.1:${running.port}` };
    const other = await doctor(world, off, env);
    assert.match(other.of("certificate").text, /does not sign for management\.azure\.com with the authority in /);
    const bad = world.file("bad.json");
    writeFileSync(bad, '{"mode": "protekt"}');
    const refused = await run(path.join(world.bin, "armgate"), ["doctor", "--config", bad], { env: { HOME: world.directory } });
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /bad\.json:1: \/mode/);
  },
};
