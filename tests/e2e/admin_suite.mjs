// The admin listener: is it alive, is it ready, what has it counted, who runs and who waits. Asked by curl, Node and `armgate status`.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import http from "node:http";
import path from "node:path";
import { curl } from "./curl.mjs";
import { changeConfig, freePort, must, run, sleep, withinSeconds } from "./harness.mjs";
import { samples } from "./samples.mjs";
import { PATH, SCALE_SET, patchTags, startHeldUpstream, startWithScaleSet, waitFor } from "./scale_set.mjs";

async function startWithAdmin(world, operationMs, simFlags = []) {
  const admin = await freePort();
  const { gateway } = await startWithScaleSet(world, operationMs, { listen: { admin: `127.0.0.1:${admin}` } }, simFlags);
  return { gateway, ask: (page, options = {}) => askPage(admin, page, options) };
}

// In place of the one in `directory`; the root's key stays in `keys`.
async function makeAuthority(directory, keys, days) {
  const at = (name) => path.join(directory, name);
  const scratch = (name) => path.join(keys, name);
  const made = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  await must("openssl", "req", "-x509", ...made, "-days", String(days), "-subj", "/O=armgate/CN=armgate root CA 00000000", "-addext", "basicConstraints=critical,CA:true",
             "-keyout", scratch("root.key"), "-out", at("ca.pem"));
  await must("openssl", "req", "-new", ...made, "-subj", "/O=armgate/CN=armgate intermediate CA 00000000", "-keyout", at("intermediate.key"), "-out", scratch("request"));
  writeFileSync(scratch("extensions"), "basicConstraints=critical,CA:true,pathlen:0\nnameConstraints=critical,permitted;DNS:management.azure.com\n");
  await must("openssl", "x509", "-req", "-in", scratch("request"), "-CA", at("ca.pem"), "-CAkey", scratch("root.key"), "-CAcreateserial", "-CAserial", scratch("serial"),
             "-days", String(days), "-extfile", scratch("extensions"), "-out", at("intermediate.pem"));
}

function askPage(port, page, { host = `127.0.0.1:${port}`, method = "GET", operator = "", body = "" } = {}) {
  return new Promise((resolve, reject) => {
    const request = http.request({ port, host: "127.0.0.1", path: page, method, headers: { Host: host, ...(operator && { "x-armgate-operator": operator }), ...(body && { "Content-Length": body.length }) } }, (response) => {
      const pieces = [];
      response.on("data", (piece) => pieces.push(piece));
      response.on("end", () => resolve({ status: response.statusCode, headers: response.headers, text: Buffer.concat(pieces).toString() }));
    });
    request.on("error", reject);
    request.end(body);
  });
}

const askService = (world, gateway, command, ...words) =>
  run(path.join(world.bin, "armgate"), [command, "--config", gateway.configFile, ...words], { env: { HOME: world.directory, USER: "nadja" } });
const askStatus = (world, gateway, ...flags) => askService(world, gateway, "status", ...flags);

export const tests = {
  "a reload says whether rules of before still count, and the metrics when they do no more": async (world) => {
    const { gateway, ask } = await startWithAdmin(world, "3000");
    const reload = async () => {
      const before = gateway.process.log.length;
      gateway.process.child.kill("SIGHUP");
      await waitFor("the reload", async () => gateway.process.log.slice(before).includes('"event":"reloaded"'));
      return gateway.process.log.slice(before);
    };
    const draining = async () => samples((await ask("/metrics")).text).armgate_rules_draining;
    const alone = await reload();
    assert.match(alone, /"draining":0/);
    assert.doesNotMatch(alone, /rules of before/);
    assert.equal((await patchTags(world, gateway, "first", { first: "1" })).status, 200);  // its operation runs on
    assert.match(await reload(), /"draining":1,"text":"writes that began under the rules of before still run/);
    assert.equal(await draining(), 1);
    assert.equal((await patchTags(world, gateway, "second", { second: "1" })).status, 200);  // it has waited for the first
    assert.equal(await draining(), 0);
  },

  "a reload that was refused is told until one is taken": async (world) => {
    const { gateway, ask } = await startWithAdmin(world, "0");
    const config = readFileSync(gateway.configFile, "utf8");
    const reload = async (text, event) => {
      const before = gateway.process.log.length;
      writeFileSync(gateway.configFile, text);
      gateway.process.child.kill("SIGHUP");
      await waitFor("the reload", async () => gateway.process.log.slice(before).includes(`"event":"${event}"`));
      const told = await askStatus(world, gateway);  // a liveness probe does the same
      writeFileSync(gateway.configFile, config);
      return [samples((await ask("/metrics")).text).armgate_reload_good, told.code, /reload \(SIGHUP\) was refused/.test(told.stdout.toString()), /: warning: |is not valid JSON/.test(told.stderr.toString())];
    };
    const listen = JSON.stringify(JSON.parse(config).listen);
    assert.equal(samples((await ask("/metrics")).text).armgate_reload_good, 1);
    assert.deepEqual(await reload(`{"listen": ${listen}, "mode": "protekt"}`, "reload-refused"), [0, 0, true, true]);
    assert.deepEqual(await reload(`{"listen": ${listen}, "mode": "protect",}`, "reload-refused"), [0, 0, true, true]);
    assert.deepEqual(await reload(config, "reloaded"), [1, 0, false, false]);
  },

  "an authority that ends soon is told in the log, by the metrics and to whoever asks for the environment": async (world) => {
    const admin = await freePort();
    const gateway = await world.configureGateway(await world.startSim(), { listen: { admin: `127.0.0.1:${admin}` } });
    await makeAuthority(path.dirname(gateway.caFile), world.directory, 20);
    const { process } = await world.runGateway(gateway);
    await waitFor("its line in the log", async () => /"event":"authority-ends","text":"[^"]+ca.pem is valid for 19 more days; replace it without a gap/.test(process.log));
    const expires = samples((await askPage(admin, "/metrics")).text).armgate_authority_expires_timestamp_seconds;
    assert.ok(Math.abs(expires - Date.now() / 1000 - 20 * 86400) < 300, String(expires));
    const env = await askService(world, gateway, "env");
    assert.deepEqual([env.code, /is valid for 19 more days/.test(env.stderr)], [0, true], env.stderr.toString());
    const fresh = await world.configureGateway({ port: 1, caFile: gateway.caFile });
    const quiet = await world.runGateway(fresh);
    assert.doesNotMatch(quiet.process.log + (await askService(world, fresh, "env")).stderr, /more days/);
  },

  "who runs and who waits is told by the page and by armgate status, and counted afterwards": async (world) => {
    const { gateway, ask } = await startWithAdmin(world, "5000");
    assert.deepEqual(await ask("/healthz").then(({ status, text }) => [status, text]), [200, "ok\n"]);
    assert.equal((await ask("/healthz")).headers.connection, "close");  // or a reader's next request may meet the end of its connection
    assert.deepEqual(await ask("/readyz").then(({ status, text }) => [status, text]), [200, "ready\n"]);
    assert.equal((await patchTags(world, gateway, "first", { first: "1" })).status, 200);  // its operation runs on
    const waiting = patchTags(world, gateway, "second", { second: "1" });
    await waitFor("the second's place in line", async () => JSON.parse((await ask("/status")).text).waiting === 1);

    const page = JSON.parse((await ask("/status")).text);
    const writes = page.writes.map(({ what, client, state }) => [state, client, what]);
    const what = `PATCH ${SCALE_SET.toLowerCase()}`;
    assert.deepEqual(writes, [["runs", "first", what], ["waits", "second", what]]);
    assert.equal(page.waiting, 1);
    const during = samples((await ask("/metrics")).text);
    assert.equal(during.armgate_waiting_writes, 1);
    assert.equal(during.armgate_ready, 1);

    const status = await askStatus(world, gateway);
    assert.equal(status.code, 0, status.stderr.toString());
    assert.match(status.stdout.toString(), /^waits +[0-9.]+ s {2}second {2}PATCH \/subscriptions/m);
    const json = await askStatus(world, gateway, "--output", "json");
    assert.equal(JSON.parse(json.stdout.toString()).writes.length, 2);

    assert.equal((await waiting).status, 200);
    let after = {};
    await waitFor("the second to be counted, which is after its answer", async () => {
      after = samples((await ask("/metrics")).text);
      return after['armgate_requests_total{method="PATCH",status="2xx"}'] === 2;
    });
    assert.equal(after['armgate_request_duration_seconds_count{kind="other"}'], 2);
    assert.equal(after.armgate_waited_seconds_count, 1);
    assert.ok(after.armgate_waited_seconds_sum > 0.5 && after.armgate_waited_seconds_sum < 30);
    assert.equal(after.armgate_waiting_writes, 0);
  },

  "armgate queue says who waits behind whom, armgate top and the live page look on": async (world) => {
    const { gateway, ask } = await startWithAdmin(world, "6000");
    assert.match((await askService(world, gateway, "queue")).stdout.toString(), /^nobody waits\n$/);
    assert.equal((await patchTags(world, gateway, "first", { first: "1" })).status, 200);  // its operation runs on
    const waiting = [];
    for (const client of ["second", "third"]) {
      waiting.push(patchTags(world, gateway, client, { [client]: "1" }));
      await waitFor(`the place of the ${client} in line`, async () => JSON.parse((await ask("/status")).text).waiting === waiting.length);
    }
    const what = `PATCH ${SCALE_SET.toLowerCase()}`;
    const queue = await askService(world, gateway, "queue", SCALE_SET);
    assert.equal(queue.code, 0, queue.stderr.toString());
    assert.match(queue.stdout.toString(), new RegExp(`^${what} of first, runs since [0-9.]+ s, as of [0-9.]+ s ago\n   1  waits +[0-9.]+ s  second  ${what}\n   2  waits +[0-9.]+ s  third  ${what}\n$`));
    const elsewhere = await askService(world, gateway, "queue", "/subscriptions/00000000-0000-0000-0000-00000000000e");
    assert.match(elsewhere.stdout.toString(), /^nobody waits at /);
    const [{ first, waiting: behind }] = JSON.parse((await askService(world, gateway, "queue", "--output", "json")).stdout.toString()).queues;
    assert.deepEqual([first.client, ...behind.map(({ client, ahead }) => `${client} ${ahead}`)], ["first", "second 1", "third 2"]);

    const top = await askService(world, gateway, "top", "--looks", "2", "--interval", "0.2");
    assert.equal(top.code, 0, top.stderr.toString());
    assert.match(top.stdout.toString(), /\n1 run, 2 wait, 0 reserved\n/);
    assert.equal(top.stdout.toString().split("armgate 0.1.0, mode protect").length, 3);
    assert.match(top.stdout.toString(), /requests \d+ \(\d+\.\d\/s\), guarded/, "the second look has a rate");
    assert.ok(!top.stdout.includes("\x1b"), "no terminal, no escapes");

    const page = await ask("/");
    assert.equal(page.status, 200);
    for (const [, part] of page.text.matchAll(/(?:href|src)="(\/live[^"]*)"/g)) assert.equal((await ask(part)).status, 200, part);
    assert.equal((await ask("/", { host: "evil.example" })).status, 403);
    assert.deepEqual((await Promise.all(waiting)).map(({ status }) => status), [200, 200]);
  },

  "what ARM says is left is told by subscription and principal, and nonsense is counted": async (world) => {
    const told = { few: { "x-ms-ratelimit-remaining-subscription-reads": "41" }, odd: { "x-ms-ratelimit-remaining-subscription-reads": "-7" },
                   late: { "Retry-After": "90" } };
    const upstream = await world.startRecorder(({ url }) => {
      const [, word] = /resourceGroups\/([a-z]+)/.exec(url);
      return { status: word === "late" ? 429 : 200, headers: told[word], body: "{}" };
    });
    const admin = await freePort();
    const gateway = await world.startGateway(upstream, { listen: { admin: `127.0.0.1:${admin}` } });
    const subscription = "22222222-2222-2222-2222-222222222222";
    const ask = (group) => curl(world, gateway, `/subscriptions/${subscription}/resourceGroups/${group}?api-version=2024-03-01`);
    for (const [group, status] of [["few", 200], ["odd", 200], ["late", 429]]) assert.equal((await ask(group)).status, status);

    const [budgets] = JSON.parse((await askPage(admin, "/status")).text).budgets;
    assert.match(budgets.principal, /^#[0-9a-f]{8}$/);
    assert.deepEqual([budgets.subscription, budgets.told], [subscription, [{ budget: "subscription-reads", left: 41, most: 41 }]]);
    const status = (await askStatus(world, gateway)).stdout.toString();
    assert.match(status, new RegExp(`^ARM lets ${budgets.principal} in ${subscription}: subscription-reads 41 of 41, come again in (90\\.0|8[0-9]\\.[0-9]) s \\(429\\)$|^ARM lets .*come again in 1 min`, "m"));
    const metrics = samples((await askPage(admin, "/metrics")).text);
    const whose = `{subscription="${subscription}",principal="${budgets.principal}"`;
    assert.equal(metrics[`armgate_arm_remaining_requests${whose},budget="subscription-reads"}`], 41);
    assert.ok(metrics[`armgate_arm_come_again_seconds${whose}}`] > 60);
    assert.equal(metrics['armgate_budgets_ignored_total{why="unreadable"}'], 1);
  },

  "armgate unlock that meets another server than armgate says so": async (world) => {
    const { gateway } = await startWithScaleSet(world, "0");
    const server = http.createServer((_, response) => response.writeHead(404, { "Content-Type": "text/html", "Content-Length": 15 }).end("<!DOCTYPE html>"));
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    changeConfig(gateway, (config) => { config.listen.admin = `127.0.0.1:${server.address().port}`; });
    const done = await askService(world, gateway, "unlock", SCALE_SET);
    server.close();
    assert.equal(done.code, 3);
    assert.match(done.stderr, /no answer from .* \(listen\.admin\): it answers 404; is armgate running/);
    assert.doesNotMatch(done.stderr, /DOCTYPE/);
  },

  "armgate unlock lets the next write go on, and says so in an alert": async (world) => {
    const { gateway, ask } = await startWithAdmin(world, "60000", ["--exclusivity", "accept"]);
    const idle = await askService(world, gateway, "unlock", SCALE_SET);
    assert.deepEqual([idle.code, idle.stderr.toString()], [1, `armgate: nothing was released: no operation holds ${SCALE_SET.toLowerCase()}\n`]);
    const odd = await askService(world, gateway, "unlock", "/subscriptions/1/resourceGroups/Straße %3F/providers/Microsoft.Insights/metricAlerts/cpu%20high");
    assert.match(odd.stderr.toString(), /^armgate: nothing was released: no operation holds \/subscriptions\/1\/resourcegroups\/straße \?\/providers\/microsoft.insights\/metricalerts\/cpu high\n$/);
    assert.equal((await patchTags(world, gateway, "first", { first: "1" })).status, 200);  // its operation runs for a minute
    const waiting = patchTags(world, gateway, "second", { second: "1" });
    await waitFor("the second's place in line", async () => JSON.parse((await ask("/status")).text).waiting === 1);

    const released = await askService(world, gateway, "unlock", SCALE_SET);
    assert.equal(released.code, 0, released.stderr.toString());
    assert.match(released.stdout.toString(), new RegExp(`^released after [0-9.]+ s: PATCH ${SCALE_SET.toLowerCase()}, of first\n$`));
    assert.equal((await waiting).status, 200);
    const counted = samples((await ask("/metrics")).text);
    assert.equal(counted['armgate_events_total{event="lease_released"}'], 1);
    await waitFor("the loud line", async () => gateway.process.log.includes('"event":"attention"'));
    assert.match(gateway.process.log, /"event":"attention","text":"lease released: PATCH [^"]* by first after \d+ s, because nadja asked for it/);
  },

  "while it ends it is alive, but not ready": async (world) => {
    const { upstream, release } = await startHeldUpstream(world);
    const admin = await freePort();
    const gateway = await world.startGateway(upstream, { listen: { admin: `127.0.0.1:${admin}` } });
    const slow = curl(world, gateway, PATH);
    await waitFor("the request's arrival", async () => upstream.seen.length === 1);
    gateway.process.child.kill("SIGTERM");
    await sleep(300);
    assert.deepEqual(await askPage(admin, "/readyz").then(({ status, text }) => [status, text]), [503, "draining\n"]);
    assert.equal((await askPage(admin, "/healthz")).status, 200);
    release();
    assert.equal((await slow).status, 200);
    assert.deepEqual(await withinSeconds(10, "the stop", gateway.process.exit), { code: 0, signal: null });
  },

  "only an operator of this machine can release, and a page under another's name learns of no resource": async (world) => {
    const { ask } = await startWithAdmin(world, "0");
    assert.equal((await ask("/status", { host: "evil.example" })).status, 403);
    assert.equal((await ask("/status", { host: "localhost" })).status, 200);
    assert.equal((await ask("/metrics", { host: "armgate.monitoring.svc:9478" })).status, 200);
    const refused = await ask("/status", { method: "POST" });
    assert.deepEqual([refused.status, refused.headers.allow], [405, "GET, HEAD"]);
    const unlock = (options) => ask(`/unlock${SCALE_SET}`, { method: "POST", ...options }).then(({ status }) => status);
    assert.equal(await unlock({}), 400);
    assert.equal(await unlock({ host: "evil.example", operator: "nadja" }), 403);
    assert.equal(await unlock({ operator: "nadja" }), 404);
    assert.deepEqual(await ask("/healthz", { method: "HEAD" }).then(({ status, text }) => [status, text]), [200, ""]);
    assert.equal((await ask("/healthz", { body: "x" })).status, 413);
    const missing = await ask("/nothing");
    assert.equal(missing.status, 404);
    assert.match(missing.text, /\/healthz/);
  },

  "armgate status says what to do where there is no service, or none that can be asked": async (world) => {
    const sim = await world.startSim();
    const admin = await freePort();
    const unasked = await askStatus(world, await world.configureGateway(sim));
    assert.equal(unasked.code, 1);
    assert.match(unasked.stderr.toString(), /listen\.admin/);
    const away = await askStatus(world, await world.configureGateway(sim, { listen: { admin: `127.0.0.1:${admin}` } }));
    assert.equal(away.code, 3);
    assert.match(away.stderr.toString(), /is armgate running/);
  },
};
