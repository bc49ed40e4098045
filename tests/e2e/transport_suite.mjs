// What armgate does to HTTP itself: framing, limits, tunnels. curl and raw connections against a recording upstream.
import assert from "node:assert/strict";
import { once } from "node:events";
import net from "node:net";
import { gzipSync } from "node:zlib";
import { curl, curlJson, openRaw, sending } from "./curl.mjs";
import { freePort, sleep, withinSeconds } from "./harness.mjs";
import { waitFor } from "./scale_set.mjs";

const ID = "/subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/rg/providers/Microsoft.Compute/virtualMachineScaleSets/web";
const PATH = `${ID}?api-version=2024-07-01`;
const JSON_FIELD = ["Content-Type", "application/json; charset=utf-8"];
const RESOURCE = '{"name":"web","location":"westeurope","tags":{}}';
const ok = () => ({ headers: [...JSON_FIELD, "ETag", '"1"'], body: RESOURCE });

async function withRecorder(world, config = {}, answer = ok) {
  const upstream = await world.startRecorder(answer);
  return { upstream, gateway: await world.startGateway(upstream, config) };
}

export const tests = {
  "HEAD has the fields of the answer and no body": async (world) => {
    const { gateway, upstream } = await withRecorder(world);
    const answer = await curl(world, gateway, PATH, { args: ["--head"] });
    assert.equal(answer.code, 0, answer.error);
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.etag, '"1"');
    assert.equal(upstream.seen[0].method, "HEAD");
  },

  "a client that speaks HTTP/1.0 alone is served": async (world) => {
    const { gateway } = await withRecorder(world);
    const answer = await curl(world, gateway, PATH, { args: ["--http1.0"] });
    assert.deepEqual([answer.code, answer.status, answer.body.toString()], [0, 200, RESOURCE], answer.error);
  },

  "a method in small letters is queued and guarded as the one in capitals": async (world) => {
    const gateway = await world.startGateway(await world.startSim());
    const group = "/subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/small?api-version=2021-04-01";
    for (const method of ["PUT", "put", "patch", "delete"]) {
      const { status, headers } = await curl(world, gateway, group, { args: sending(method, { location: "westeurope", tags: { method } }) });
      assert.ok(status < 300, `${method}: ${status}`);
      assert.match(headers["x-armgate-locks"] ?? "", /resourcegroups\/small/, method);
    }
  },

  "a chunked upload arrives whole": async (world) => {
    const { gateway, upstream } = await withRecorder(world);
    const body = JSON.stringify({ location: "westeurope", tags: { text: "x".repeat(300_000) } });
    const args = ["--request", "PUT", "--header", "Transfer-Encoding: chunked", "--header", "Content-Type: application/json", "--data-binary", "@-"];
    const answer = await curl(world, gateway, PATH, { args, input: body });
    assert.equal(answer.status, 200, answer.error);
    assert.equal(upstream.seen[0].body.toString(), body);
  },

  "a client that asks first is told to continue": async (world) => {
    const { gateway, upstream } = await withRecorder(world);
    const raw = await openRaw(gateway);
    raw.write(`PUT ${PATH} HTTP/1.1\r\nHost: management.azure.com\r\nAuthorization: Bearer t\r\nContent-Type: application/json\r\n` +
              `Content-Length: ${RESOURCE.length}\r\nExpect: 100-continue\r\n\r\n`);
    assert.match(await raw.receive(/^HTTP\/1\.1 100 [^\r]*\r\n\r\n/), /^HTTP\/1\.1 100/);
    raw.write(RESOURCE);
    assert.match(await raw.receive(/HTTP\/1\.1 200 /), /HTTP\/1\.1 200 /);
    assert.equal(upstream.seen[0].body.toString(), RESOURCE);
    raw.close();
  },

  "a body over the limit is refused with 413 and not sent": async (world) => {
    const { gateway, upstream } = await withRecorder(world, { limits: { request_body_bytes: "64KiB" } });
    for (const framing of ["Transfer-Encoding: chunked", "X-Nothing: here"]) {
      const args = ["--request", "PUT", "--header", framing, "--header", "Expect:", "--data-binary", "@-"];
      const answer = await curl(world, gateway, PATH, { args, input: "x".repeat(100_000) });
      assert.equal(answer.status, 413, answer.error);
      assert.match(JSON.parse(answer.body).error.code, /^Armgate/);
    }
    assert.equal(upstream.seen.length, 0);
  },

  "bodies that never end take no more memory than they may, and leave small ones and reads alone": async (world) => {
    const admin = await freePort();
    const { gateway, upstream } = await withRecorder(world, { limits: { request_body_bytes: "1MiB", request_bodies_total: "4MiB" },
                                                             listen: { admin: `127.0.0.1:${admin}` } });
    const put = (bytes) => `PUT ${PATH} HTTP/1.1\r\nHost: management.azure.com\r\nAuthorization: Bearer t\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n`;
    const half = "x".repeat(900_000);
    const endless = [];
    for (let i = 0; i < 4; ++i) {
      endless.push(await openRaw(gateway));
      endless[i].write(put(1_000_000) + half);
    }
    const metrics = async () => (await (await fetch(`http://127.0.0.1:${admin}/metrics`)).text());
    await waitFor("what has arrived", async () => (await metrics()).includes("\narmgate_request_body_bytes 3600000\n"));
    const raw = await openRaw(gateway);
    raw.write(put(1_000_000) + half);
    const refused = await raw.receive(/\}\}/);
    assert.match(refused, /^HTTP\/1\.1 503 .*\r\nRetry-After: 1\r\n.*"ArmgateTooManyBodies"/s);
    assert.match(refused, /\r\nConnection: close\r\n/);
    const small = await curl(world, gateway, PATH.replace("/web", "/small"), { args: sending("PUT", JSON.parse(RESOURCE)) });
    assert.equal(small.status, 200, small.error);
    assert.equal((await curl(world, gateway, PATH)).status, 200);
    assert.match(await metrics(), /^armgate_connection_events_total\{event="body-limit"\} 1$/m);
    endless[0].write("x".repeat(100_000));
    assert.match(await endless[0].receive(/HTTP\/1\.1 200 /), /HTTP\/1\.1 200 /, "what has its bytes goes on");
    for (const one of [...endless, raw]) one.close();
    await waitFor("all of it to be given back", async () => (await metrics()).includes("\narmgate_request_body_bytes 0\n"));
    assert.equal(upstream.seen.filter(({ method }) => method === "PUT").length, 2);
  },

  "a request with two readings is refused and harms nobody else": async (world) => {
    const { gateway, upstream } = await withRecorder(world);
    const head = `GET ${PATH} HTTP/1.1\r\nHost: management.azure.com\r\n`;
    const malformed = {
      "two hosts": `${head}Host: other.example\r\n\r\n`,
      "two lengths": `PUT ${PATH} HTTP/1.1\r\nHost: management.azure.com\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}`,
      "length and chunks": `PUT ${PATH} HTTP/1.1\r\nHost: management.azure.com\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      "a space before the colon": `${head}Content-Length : 0\r\n\r\n`,
      "a folded field": `${head}X-A: 1\r\n 2\r\n\r\n`,
      "no host": `GET ${PATH} HTTP/1.1\r\n\r\n`,
      "another host than the tunnel's": `GET ${PATH} HTTP/1.1\r\nHost: other.example\r\n\r\n`,
      "two credentials": `${head}Authorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n`,
    };
    for (const [what, request] of Object.entries(malformed)) {
      const raw = await openRaw(gateway);
      raw.write(request);
      assert.match(await raw.receive(/\r\n\r\n/), /^HTTP\/1\.1 4\d\d /, what);
      raw.close();
    }
    assert.equal(upstream.seen.length, 0);
    assert.equal((await curl(world, gateway, PATH)).status, 200);
  },

  "two requests on one connection are answered in order": async (world) => {
    const { gateway } = await withRecorder(world, {}, (record) => ({ headers: JSON_FIELD, body: JSON.stringify({ asked: record.url }) }));
    const raw = await openRaw(gateway);
    for (const name of ["one", "two"]) raw.write(`GET /subscriptions/${name}?api-version=2022-12-01 HTTP/1.1\r\nHost: management.azure.com\r\n\r\n`);
    const received = await raw.receive(/asked.*asked[^}]*}/s);
    assert.ok(received.indexOf("subscriptions/one") < received.indexOf("subscriptions/two"), received);
    raw.close();
  },

  "another host is tunnelled untouched, with its own certificate": async (world) => {
    const { gateway } = await withRecorder(world, { allow_connect_to: ["localhost"] });
    const other = await world.startRecorder(() => ({ body: "from the other host" }), { name: "localhost" });
    const answer = await curl(world, gateway, "", { url: `https://localhost:${other.port}/x`, caFile: other.caFile });
    assert.equal(answer.body.toString(), "from the other host", answer.error);
    assert.deepEqual(Object.keys(answer.headers).filter((name) => name.startsWith("x-armgate")), []);
  },

  "a tunnel to loopback is refused unless it was allowed": async (world) => {
    const { gateway } = await withRecorder(world);
    const other = await world.startRecorder(() => ({ body: "a secret" }), { name: "localhost" });
    const answer = await curl(world, gateway, "", { url: `https://localhost:${other.port}/x`, caFile: other.caFile });
    assert.notEqual(answer.code, 0);
    assert.equal(answer.connectStatus, 403);
    assert.equal(other.seen.length, 0);
  },

  "a stop is held up neither by an idle tunnel nor by half a request": async (world) => {
    const { gateway } = await withRecorder(world, { allow_connect_to: ["localhost"] });
    const other = await world.startRecorder(() => ({ body: "x" }), { name: "localhost" });
    const tunnel = net.connect(gateway.port, "127.0.0.1");
    tunnel.write(`CONNECT localhost:${other.port} HTTP/1.1\r\nHost: localhost:${other.port}\r\n\r\n`);
    await withinSeconds(5, "the tunnel", once(tunnel, "data"));
    const raw = await openRaw(gateway);
    raw.write(`PUT ${PATH} HTTP/1.1\r\nHost: management.azure.com\r\nContent-Length: 100\r\n\r\n{`);
    await sleep(200);
    gateway.process.child.kill("SIGTERM");
    assert.match(await raw.receive(/\r\n\r\n/), /^HTTP\/1\.1 408 /);
    assert.deepEqual(await withinSeconds(8, "the stop", gateway.process.exit), { code: 0, signal: null });
    assert.match(gateway.process.log, /"event":"stopped","why":"drained"/);
  },

  "a compressed answer arrives with the bytes that ARM sent": async (world) => {
    const packed = gzipSync(RESOURCE);
    const { gateway } = await withRecorder(world, {}, () => ({ headers: [...JSON_FIELD, "Content-Encoding", "gzip", "ETag", '"1"'], body: packed }));
    const answer = await curl(world, gateway, PATH, { args: ["--header", "Accept-Encoding: gzip"] });
    assert.equal(answer.headers["content-encoding"], "gzip");
    assert.deepEqual(answer.body, packed);
  },

  "an upstream that cannot be reached or trusted is a 502 in ARM's form": async (world) => {
    const upstream = await world.startRecorder(ok);
    const stranger = await world.makeCertificate("stranger.example");
    const untrusting = await world.startGateway({ port: upstream.port, caFile: stranger.certificate });
    const unreachable = await world.startGateway({ port: 9, caFile: upstream.caFile });
    for (const gateway of [untrusting, unreachable]) {
      const answer = await curlJson(world, gateway, PATH, { args: sending("PUT", { location: "westeurope" }) });
      assert.equal(answer.status, 502);
      assert.match(answer.json.error.code, /^Armgate/);
      assert.ok(answer.json.error.message.length > 10);
    }
    assert.equal(upstream.seen.length, 0);
  },
};
