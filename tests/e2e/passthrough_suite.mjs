// What armgate must leave as it is, and what it must add: curl against a recording upstream.
import assert from "node:assert/strict";
import { curl, sending } from "./curl.mjs";

const ID = "/subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/rg/providers/Microsoft.Compute/virtualMachineScaleSets/web";
const PATH = `${ID}?api-version=2024-07-01`;
const RESOURCE = { name: "web", location: "westeurope", tags: { a: "1" } };
// Fields of one hop, and Via, which a proxy must add (RFC 9110 §7.6.3).
const HOP_BY_HOP = new Set(["via", "connection", "keep-alive", "transfer-encoding", "proxy-connection", "proxy-authorization", "te", "trailer"]);

const resourceAnswer = () => ({
  headers: ["Content-Type", "application/json; charset=utf-8", "ETag", '"7"', "X-Ms-Request-Id", "abc", "Set-Cookie", "a=1", "Set-Cookie", "b=2",
            "Date", "Sat, 21 Nov 2026 10:00:00 GMT"],
  body: JSON.stringify(RESOURCE, null, 3),
});

const endToEnd = (fields) => fields.filter(([name]) => !HOP_BY_HOP.has(name.toLowerCase()));
const withoutNote = (fields) => fields.filter(([name]) => !name.toLowerCase().startsWith("x-armgate"));
const notes = (answer) => Object.keys(answer.headers).filter((name) => name.startsWith("x-armgate"));

async function withRecorder(world, config = {}, answer = resourceAnswer) {
  const upstream = await world.startRecorder(answer);
  return { upstream, gateway: await world.startGateway(upstream, config) };
}

export const tests = {
  "a read arrives at ARM and comes back as it was": async (world) => {
    const { gateway, upstream } = await withRecorder(world);
    const query = "?api-version=2024-07-01&$filter=a%20eq%20'b'&t=%2fA%2B&c=a+b&&empty=";
    const args = ["--header", "X-MS-Odd-Case: Kept", "--header", "If-None-Match: \"5\"", "--globoff"];
    const answer = await curl(world, gateway, ID + query, { args });
    const direct = await curl(world, { port: 0 }, "", { url: `https://management.azure.com${ID}${query}`, caFile: upstream.caFile, direct: true,
                                                       args: [...args, "--connect-to", `management.azure.com:443:127.0.0.1:${upstream.port}`] });
    assert.equal(answer.code, 0, answer.error);
    assert.equal(direct.code, 0, direct.error);
    const [through, straight] = upstream.seen;
    assert.equal(through.url, straight.url);
    assert.deepEqual(endToEnd(through.fields), endToEnd(straight.fields));
    assert.deepEqual(endToEnd(withoutNote(answer.fields)), endToEnd(direct.fields));
    assert.deepEqual(answer.body, direct.body);
  },

  "mode off adds nothing, not even to a write": async (world) => {
    const { gateway, upstream } = await withRecorder(world, { mode: "off" });
    const args = sending("PUT", RESOURCE, "X-MS-Odd-Case: Kept");
    await curl(world, gateway, PATH);
    const answer = await curl(world, gateway, PATH, { args });
    const direct = await curl(world, { port: 0 }, PATH, { caFile: upstream.caFile, direct: true,
                                                         args: [...args, "--connect-to", `management.azure.com:443:127.0.0.1:${upstream.port}`] });
    const [, through, straight] = upstream.seen;
    assert.deepEqual(endToEnd(through.fields), endToEnd(straight.fields));
    assert.deepEqual(through.body, straight.body);
    assert.deepEqual(endToEnd(answer.fields), endToEnd(direct.fields));
    assert.deepEqual(answer.body, direct.body);
  },

  "a write is sent with the ETag that its client was shown": async (world) => {
    const { gateway, upstream } = await withRecorder(world);
    await curl(world, gateway, PATH);
    const answer = await curl(world, gateway, PATH, { args: sending("PUT", { ...RESOURCE, tags: { a: "2" } }) });
    assert.equal(answer.status, 200, answer.error);
    assert.equal(upstream.seen[1].headers["if-match"], '"7"');
    assert.notEqual(notes(answer).length, 0, "an altered request says so");
  },

  "a write of a client that was shown nothing carries no invented precondition": async (world) => {
    const { gateway, upstream } = await withRecorder(world);
    await curl(world, gateway, PATH, { user: "reader" });
    await curl(world, gateway, PATH, { user: "writer", args: sending("PUT", RESOURCE) });
    assert.equal(upstream.seen.at(-1).method, "PUT");
    assert.equal(upstream.seen.at(-1).headers["if-match"], undefined);
    assert.equal(upstream.seen.at(-1).headers["if-none-match"], undefined);
  },

  "a client's own precondition is left alone, and so is its 412": async (world) => {
    const refusal = '{"error":{"code":"PreconditionFailed","message":"The condition was not met."}}';
    const { gateway, upstream } = await withRecorder(world, {}, ({ method }) =>
      (method === "PUT" ? { status: 412, headers: ["Content-Type", "application/json"], body: refusal } : resourceAnswer()));
    await curl(world, gateway, PATH);
    for (const field of ['If-Match: "3"', "if-none-match: *", "If-Unmodified-Since: Sat, 21 Nov 2026 10:00:00 GMT"]) {
      const answer = await curl(world, gateway, PATH, { args: sending("PUT", RESOURCE, field) });
      assert.equal(answer.status, 412);
      assert.equal(answer.body.toString(), refusal);
      const [name, value] = [field.slice(0, field.indexOf(":")), field.slice(field.indexOf(":") + 2)];
      const conditions = upstream.seen.at(-1).fields.filter(([field_name]) => /^if-/i.test(field_name));
      assert.deepEqual(conditions, [[name, value]]);
    }
    assert.deepEqual(upstream.seen.map(({ method }) => method), ["GET", "PUT", "PUT", "PUT"]);
  },

  "a list call by POST is passed on at once and is no write": async (world) => {
    const { gateway, upstream } = await withRecorder(world, {}, () => ({ headers: ["Content-Type", "application/json"], body: '{"keys":[]}' }));
    const path = "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Storage/storageAccounts/a/listKeys?api-version=2023-05-01";
    const answer = await curl(world, gateway, path, { args: ["--request", "POST", "--data", ""] });
    assert.equal(answer.status, 200);
    assert.equal(upstream.seen[0].method, "POST");
    assert.equal(answer.body.toString(), '{"keys":[]}');
  },

  "a throttled or failed answer passes unchanged": async (world) => {
    for (const status of [429, 500, 403, 404]) {
      const body = `{"error":{"code":"Code${status}","message":"no"}}`;
      const { gateway, upstream } = await withRecorder(world, {}, () => ({ status, headers: ["Content-Type", "application/json", "Retry-After", "7"], body }));
      const answer = await curl(world, gateway, PATH, { args: sending("PUT", RESOURCE) });
      assert.equal(answer.status, status);
      assert.equal(answer.body.toString(), body);
      assert.equal(answer.headers["retry-after"], "7");
      assert.equal(upstream.seen.length, 1);
    }
  },
};
