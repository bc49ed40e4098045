// armgate behind a company's proxy: squid and tinyproxy from Debian, with and without a user, looking into TLS or not; and proxies
// that misbehave. The simulated ARM is on this machine, so "no_proxy" is empty where it is to be reached through the proxy.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import net from "node:net";
import path from "node:path";
import { az, LOGIN_HOST, signIn, startLogin } from "./az.mjs";
import { curl, curlJson, sending } from "./curl.mjs";
import { ARM_HOST, freePort, run, sleep, withinSeconds } from "./harness.mjs";
import { passwordFile, plain, startOddProxy, startSquid, startTinyproxy } from "./parents.mjs";
import { client, GROUP, SCALE_SET, tagsOf } from "./tools.mjs";

const USER = { name: "armgate", password: "S3cret.pass" };  // tinyproxy takes few characters
const PATH = `${SCALE_SET.id}?api-version=${SCALE_SET.version}`;
const OTHER = "login.corp.example";

const through = (port, more = {}) => ({ upstream: { proxy: `http://127.0.0.1:${port}`, no_proxy: [], ...more } });
const withUser = (world, port, more = {}) => through(port, { proxy: `http://${USER.name}@127.0.0.1:${port}`,
                                                             proxy_password_file: passwordFile(world, USER.password), ...more });

async function startSim(world, args = ["--operation-ms", "100", "--url-escapes", "none"]) {
  const sim = await world.startSim(args);
  await sim.make(GROUP, "2024-03-01", { location: "westeurope" });
  await sim.make(SCALE_SET.id, SCALE_SET.version, { location: "westeurope", sku: { name: "S", capacity: 1 }, tags: {} });
  return sim;
}

// A read and a write by curl.
async function readAndWrite(world, gateway, user) {
  const read = await curlJson(world, gateway, PATH, { user });
  assert.equal(read.status, 200, read.body.toString());
  const written = await curlJson(world, gateway, PATH, { user, args: sending("PUT", { ...read.json, tags: { ...read.json.tags, [user]: "1" } }) });
  assert.ok([200, 201, 202].includes(written.status), written.body.toString());
}

// curl, an SDK and the Azure CLI, each of which changes the resource. `name`: of all they write.
async function everyoneWrites(world, sim, gateway, name) {
  await readAndWrite(world, gateway, `${name}-curl`);
  const added = await client(world, gateway, "named", "python", "addTags", { client: `${name}-py`, name: "web", writes: 2 });
  assert.deepEqual([added.acknowledged.length, added.errors], [2, []]);
  await signIn(world, gateway, "named", [`${name}-az`]);
  const words = ["resource", "update", "--ids", SCALE_SET.id, "--api-version", SCALE_SET.version, "--set", `tags.${name}-az=1`];
  const updated = await az(world, gateway, "named", `${name}-az`, ...words);
  assert.ok(updated.ok, updated.stderr);
  const tags = tagsOf(await sim.read(SCALE_SET.id, SCALE_SET.version));
  for (const tag of ["curl", "py-0", "py-1", "az"]) assert.ok(tags.has(`${name}-${tag}`), [...tags].join(" "));
  assert.equal((await sim.report()).lost_updates, 0);
}

const firstLine = (gateway) => gateway.process.log.split("\n").find((line) => line.startsWith("{"));
const errorOf = (answer) => JSON.parse(answer.body).error;

// Wherever armgate writes, the password is not.
function assertSecret(gateway, ...more) {
  const texts = [gateway.process.log, readFileSync(gateway.configFile, "utf8"), ...more];
  const base64 = Buffer.from(`${USER.name}:${USER.password}`).toString("base64");
  for (const text of texts) {
    for (const secret of [USER.password, encodeURIComponent(USER.password), base64]) assert.equal(text.includes(secret), false, text);
  }
}

export const tests = {
  "az, curl and the SDK for Python through squid, with and without a user": async (world) => {
    const sim = await startSim(world);
    const login = await startLogin(world);
    for (const user of [undefined, USER]) {
      const squid = await startSquid(world, { user });
      const gateway = await world.startGateway(sim, { ...login.config, ...(user ? withUser(world, squid.port) : through(squid.port)) });
      await everyoneWrites(world, sim, gateway, user ? "named" : "unnamed");
      assert.match(firstLine(gateway), new RegExp(`"event":"started".*"through":"the proxy 127.0.0.1:${squid.port} \\(upstream.proxy\\)"`));
      gateway.process.child.kill("SIGTERM");
      await gateway.process.exit;
      await sleep(100);  // squid writes its log when a tunnel has ended
      const accesses = squid.accesses();
      for (const port of [sim.port, login.port]) {
        const tunnels = accesses.filter((line) => line.includes(`CONNECT 127.0.0.1:${port} ${user?.name ?? "-"} `));
        assert.ok(tunnels.length > 0 && tunnels.every((line) => line.includes("TCP_TUNNEL/200")), accesses.join("\n"));
      }
      assertSecret(gateway);
    }
  },

  "az, curl and the SDK for Python through a squid that looks into TLS; distrusted, it is said with the remedy": async (world) => {
    const sim = await startSim(world);
    const login = await startLogin(world);
    const squid = await startSquid(world, { inspects: { [ARM_HOST]: sim, [LOGIN_HOST]: login } });
    // What squid signs for is what armgate asks for, so these are by name. Its own authority is the only one that armgate needs.
    const config = { intercept: login.config.intercept, hosts: { [ARM_HOST]: { address: `${ARM_HOST}:443`, ca_file: "" } } };
    const distrusting = await world.startGateway(sim, { ...config, ...through(squid.port) });
    const refused = await curl(world, distrusting, PATH);
    assert.equal(refused.status, 502);
    assert.equal(errorOf(refused).code, "ArmgateUpstreamUnreachable");
    assert.match(errorOf(refused).message, /is not trusted.*the proxy 127\.0\.0\.1:\d+ \(upstream\.proxy\) may look into TLS.*upstream\.proxy_ca_file/);
    const gateway = await world.startGateway(sim, { ...config, ...through(squid.port, { proxy_ca_file: squid.caFile }) });
    await everyoneWrites(world, sim, gateway, "inspected");
    assert.ok(squid.accesses().some((line) => line.includes(`PUT https://${ARM_HOST}${SCALE_SET.id}`)), "squid saw the requests themselves");
  },

  "az, curl and the SDK for Python through tinyproxy, with and without a user, and tunnels to hosts that are reached elsewhere": async (world) => {
    const sim = await startSim(world);
    const login = await startLogin(world);
    const other = await world.startRecorder(() => ({ body: "hello" }), { name: OTHER });
    const hosts = { ...login.config.hosts, [OTHER]: { address: `127.0.0.1:${other.port}` } };
    for (const user of [undefined, USER]) {
      const tinyproxy = await startTinyproxy(world, { user });
      const proxy = user ? withUser(world, tinyproxy.port) : through(tinyproxy.port);
      const gateway = await world.startGateway(sim, { intercept: login.config.intercept, hosts, ...proxy });
      await everyoneWrites(world, sim, gateway, user ? "named" : "unnamed");
      const tunnelled = await curl(world, gateway, "", { url: `https://${OTHER}/`, caFile: other.caFile });
      assert.equal(tunnelled.body.toString(), "hello", tunnelled.error);
      for (const port of [sim.port, login.port, other.port]) assert.match(tinyproxy.log(), new RegExp(`CONNECT 127.0.0.1:${port}`));
      assertSecret(gateway);
    }
  },

  "a cloud by its name in the Azure CLI, through a proxy": async (world) => {
    const squid = await startSquid(world, {});
    for (const [cloud, host] of [["AzureUSGovernment", "management.usgovcloudapi.net"], ["AzureChinaCloud", "management.chinacloudapi.cn"]]) {
      const arm = await world.startRecorder(() => ({ headers: ["Content-Type", "application/json"], body: "{}" }), { name: host });
      const hosts = { [host]: { address: `127.0.0.1:${arm.port}`, ca_file: arm.caFile } };
      const gateway = await world.startGateway(arm, { intercept: [ARM_HOST, cloud], hosts, ...through(squid.port) });
      const answer = await curl(world, gateway, "", { url: `https://${host}${PATH}` });
      assert.equal(answer.status, 200, `armgate looks into it, or curl would not trust its certificate: ${answer.error}`);
      assert.equal(arm.seen.length, 1);
    }
  },

  "exec and run take the proxy of the environment, say so, and give its password to nobody": async (world) => {
    const sim = await startSim(world);
    const tinyproxy = await startTinyproxy(world, { user: USER });
    const gateway = await world.configureGateway(sim, { upstream: { no_proxy: [] } });
    const url = `http://${USER.name}:${encodeURIComponent(USER.password)}@127.0.0.1:${tinyproxy.port}`;
    const log = world.file("exec.log");
    const env = { HOME: world.directory, HTTPS_PROXY: url };
    const script = `env; curl --silent --show-error --header "Authorization: Bearer t" "https://${ARM_HOST}${PATH}"`;
    const done = await run(path.join(world.bin, "armgate"), ["exec", "--config", gateway.configFile, "--log", log, "--", "sh", "-c", script], { env });
    assert.equal(done.code, 0, done.stderr);
    assert.match(done.stdout.toString(), /"name": ?"web"/);
    assert.equal(done.stderr, `armgate: HTTPS_PROXY was set; armgate connects through that proxy, 127.0.0.1:${tinyproxy.port}\n`);
    assert.match(readFileSync(log, "utf8").split("\n")[0], /"event":"through".*\(HTTPS_PROXY\)/);
    assert.match(tinyproxy.log(), new RegExp(`CONNECT 127.0.0.1:${sim.port}`));
    for (const text of [done.stdout.toString(), done.stderr, readFileSync(log, "utf8")]) {
      for (const secret of [USER.password, encodeURIComponent(USER.password)]) assert.equal(text.includes(secret), false, text);
    }
    const around = await run(path.join(world.bin, "armgate"), ["exec", "--config", gateway.configFile, "--", "sh", "-c", script],
                             { env: { ...env, HTTPS_PROXY: "http://127.0.0.1:9", NO_PROXY: ARM_HOST } });
    assert.match(around.stdout.toString(), /"name": ?"web"/, "NO_PROXY counts for armgate as it did for the command");
    const running = await world.runGateway(gateway, { https_proxy: url });
    await readAndWrite(world, running, "run");
    assert.match(firstLine(running), new RegExp(`"event":"started".*"through":"the proxy 127.0.0.1:${tinyproxy.port} \\(https_proxy\\)"`));
    assert.match(running.process.log, /^armgate: https_proxy was set; armgate connects through that proxy/m);
    assertSecret(running);
  },

  "what a proxy refuses is told by name, with the remedy": async (world) => {
    const sim = await startSim(world);
    const squid = await startSquid(world, { user: USER, rules: [`acl forbidden port 9`, "http_access deny forbidden"] });
    const told = async (config) => {
      const gateway = await world.startGateway(sim, config);
      const answer = await curl(world, gateway, PATH, { args: sending("PUT", { location: "westeurope" }) });
      assert.equal(answer.status, 502, answer.body.toString());
      assert.equal(answer.headers["x-armgate-attempts"], "0", "nothing was sent");
      assert.equal(errorOf(answer).code, "ArmgateUpstreamUnreachable");
      gateway.process.child.kill("SIGTERM");
      return { gateway, message: errorOf(answer).message };
    };
    assert.match((await told(through(squid.port))).message, /asks for a user name \(407\).*upstream\.proxy_password_file/);
    // squid writes its log some time after it has answered.
    const denied = async () => {
      await sleep(1000);
      return squid.accesses().filter((line) => line.includes("TCP_DENIED/407")).length;
    };
    const before = await denied();
    const wrong = await told(withUser(world, squid.port, { proxy_password_file: passwordFile(world, "Wr0ng:p@ss") }));
    assert.match(wrong.message, /does not take this user name and password \(407\)/);
    assert.doesNotMatch(wrong.gateway.process.log, /Wr0ng/);
    assert.equal(await denied(), before + 1, "a password that was refused is not tried again and again");
    const crowded = await world.startGateway(sim, withUser(world, squid.port, { proxy_password_file: passwordFile(world, "Wr0ng:p@ss") }));
    const crowd = await Promise.all([1, 2, 3, 4, 5, 6].map((i) => curl(world, crowded, PATH, { user: `client-${i}` })));
    for (const answer of crowd) assert.match(errorOf(answer).message, /does not take this user name and password/);
    assert.equal(await denied(), before + 2, "nor by many at once");
    const tunnelled = await curl(world, crowded, "", { url: `https://${OTHER}/` });
    assert.equal(tunnelled.connectStatus, 502, tunnelled.error);
    await sleep(200);  // the log line comes after the answer
    assert.match(crowded.process.log, /"event":"tunnel-failed".*"host":"login\.corp\.example".*does not take this user name and password/);
    const forbidden = await told({ ...withUser(world, squid.port), hosts: { [ARM_HOST]: { address: "127.0.0.1:9" } } });
    assert.match(forbidden.message, /opens no tunnel to 127\.0\.0\.1:9 \(403 Forbidden, ERR_ACCESS_DENIED\).*upstream\.no_proxy/);
    const closed = await told(through(await freePort()));
    assert.match(closed.message, /cannot connect to the proxy 127\.0\.0\.1:\d+ \(upstream\.proxy\)/);
  },

  "an answer in place of a tunnel, a proxy that wants NTLM, and one that is no proxy": async (world) => {
    const sim = await startSim(world);
    const told = async (say) => {
      const odd = await startOddProxy(world, ({ client: end, host }) => {
        host.destroy();
        end.end(say);
      });
      const gateway = await world.startGateway(sim, through(odd.port));
      const answer = await curl(world, gateway, PATH);
      assert.equal(answer.status, 502);
      return errorOf(answer).message;
    };
    assert.match(await told("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>Please accept our terms</html>"), /a page of its own/);
    assert.match(await told("HTTP/1.1 407 No\r\nProxy-Authenticate: NTLM\r\nProxy-Authenticate: Negotiate\r\n\r\n"), /asks for NTLM or Negotiate.*Basic/);
    assert.match(await told("220 mail.corp.example ESMTP\r\n\r\n"), /does not answer as an HTTP proxy/);
  },

  // The answer is on its way back when the tunnel is cut.
  "a proxy that cuts tunnels: nothing is lost, nothing is done twice": async (world) => {
    const sim = await startSim(world);
    let cuts = 0;
    const odd = await startOddProxy(world, (tunnel) => {
      plain(tunnel);
      let fromHost = 0;
      tunnel.host.on("data", (piece) => {
        fromHost += piece.length;
        // Beyond the handshake: an answer, of which some arrives.
        if (cuts < 3 && fromHost > 2500 && piece.length > 300) {
          cuts += 1;
          tunnel.client.resetAndDestroy();
        }
      });
    });
    const gateway = await world.startGateway(sim, through(odd.port));
    const added = await client(world, gateway, "named", "python", "addTags", { client: "py", name: "web", writes: 6 });
    assert.deepEqual(added.errors, []);
    assert.ok(cuts > 0, "no tunnel was cut");
    const report = await sim.report();
    assert.equal(added.acknowledged.length, 6);
    for (const tag of added.acknowledged) assert.ok(tagsOf(await sim.read(SCALE_SET.id, SCALE_SET.version)).has(tag), tag);
    assert.equal(report.lost_updates, 0, report.findings.join("\n"));
    assert.equal(report.applied_twice, 0, report.findings.join("\n"));
  },

  "armgate behind itself is refused, at the start or at the first tunnel": async (world) => {
    const sim = await startSim(world);
    const gateway = await world.configureGateway(sim);
    const config = JSON.parse(readFileSync(gateway.configFile, "utf8"));
    const start = async (proxy, env = {}) => {
      writeFileSync(gateway.configFile, JSON.stringify({ ...config, upstream: { proxy } }));
      return run(path.join(world.bin, "armgate"), ["check", "--config", gateway.configFile], { env: { HOME: world.directory, ...env } });
    };
    const own = await start(`http://localhost:${gateway.port}`);
    assert.equal(own.code, 1);
    assert.match(own.stderr, /\/upstream\/proxy: is where armgate itself listens/);
    const active = await start("http://127.0.0.1:9999", { ARMGATE_ACTIVE: "127.0.0.1:9999" });
    assert.equal(active.code, 1);
    assert.match(active.stderr, /\/upstream\/proxy: is the armgate that ARMGATE_ACTIVE names/);
    // By a way that no configuration shows: a relay that leads back.
    const back = await startOddProxy(world, ({ client: end, host, head }) => {
      host.destroy();
      const again = net.connect(gateway.port, "127.0.0.1");
      again.write(head);
      end.pipe(again).pipe(end);
    });
    writeFileSync(gateway.configFile, JSON.stringify({ ...config, upstream: { proxy: `http://127.0.0.1:${back.port}`, no_proxy: [] } }));
    const running = await world.runGateway(gateway);
    const answer = await curl(world, running, PATH);
    assert.equal(answer.status, 502);
    assert.match(errorOf(answer).message, /opens no tunnel to 127\.0\.0\.1:\d+ \(403/);
    assert.match(running.process.log, /the proxy behind armgate is armgate itself/);
  },

  "armgate that DNS leads back to itself answers 508 at once, and its configuration may not say so": async (world) => {
    const tls = await freePort();
    const relay = net.createServer((end) => {
      const again = net.connect(tls, "127.0.0.1");
      for (const [one, other] of [[end, again], [again, end]]) one.on("error", () => other.destroy());
      end.pipe(again).pipe(end);
    });
    await new Promise((resolve) => { relay.listen(0, "127.0.0.1", resolve); });
    try {
      const gateway = await world.configureGateway({ port: relay.address().port }, { listen: { tls: `127.0.0.1:${tls}` } });
      const config = JSON.parse(readFileSync(gateway.configFile, "utf8"));
      config.hosts[ARM_HOST].ca_file = gateway.caFile;
      writeFileSync(gateway.configFile, JSON.stringify(config));
      const running = await world.runGateway(gateway);
      for (const method of ["GET", "PUT"]) {
        const answer = await withinSeconds(20, method, curl(world, running, PATH, { args: method === "GET" ? [] : sending(method, { location: "westeurope" }) }));
        assert.equal(answer.status, 508, `${method}: ${answer.body}`);
        assert.equal(errorOf(answer).code, "ArmgateLoopDetected");
      }
      config.hosts[ARM_HOST].address = `localhost:${tls}`;
      writeFileSync(gateway.configFile, JSON.stringify(config));
      const checked = await run(path.join(world.bin, "armgate"), ["check", "--config", gateway.configFile], { env: { HOME: world.directory } });
      assert.equal(checked.code, 1);
      assert.match(checked.stderr, /address: is where armgate itself listens/);
    } finally {
      relay.close();
    }
  },
};
