// Types that no rule names, as shipped: real clients race for one, a lone loop is never in its own way, and what has no GET, or is no
// resource, is passed on as it came.
import assert from "node:assert/strict";
import { insist, signIn, startLogin } from "./az.mjs";
import { curlJson, sending } from "./curl.mjs";
import { checkRace, racersOf, single, startSim } from "./races.mjs";
import { client, GROUP, measure, missing, SUBSCRIPTION, tagsOf, tokenOf, WIDGET } from "./tools.mjs";

const PATH = `${WIDGET.id}?api-version=${WIDGET.version}`;
const namesOf = (racers) => racers.map((racer) => racer.client);

async function alone(world, gateway, command) {
  const result = await client(world, gateway, "named", "js", command, { client: "loop", ...WIDGET, writes: 10 });
  assert.deepEqual(result.errors, []);
  assert.equal(result.acknowledged.length, 10);
  measure({ clients: "1 js, named", writes: 10, lost: 0, twice: 0, deserved: 0, undeserved: result.refused });
  assert.equal(result.refused, 0, "a loop that is alone was refused");
}

// A recorder that says `statuses` of the methods, and shows what it was sent.
async function recorder(world, statuses, config = {}) {
  let shown = { location: "westeurope" };
  const upstream = await world.startRecorder(({ method, body }) => {
    if (method === "PUT") shown = JSON.parse(body);
    const status = statuses[method] ?? 200;
    const error = { error: { code: "Scripted", message: "as the script says" } };
    return { status, headers: ["Content-Type", "application/json"], body: JSON.stringify(status < 300 ? shown : error) };
  });
  return { upstream, gateway: await world.startGateway(upstream, config) };
}

export const tests = {
  "JavaScript, Python and Go, named: tags of a type without a rule": (world) => {
    const racers = [...racersOf("js", 2), ...racersOf("python", 1), ...racersOf("go", 1)];
    return checkRace(world, "named", "addById", racers, single(namesOf(racers)));
  },

  // Not under `armgate exec`: what ARM does not compare is compared by one armgate for its own clients only.
  "JavaScript and Go without a name, told apart by their tokens: tags of a type without a rule": (world) => {
    const racers = [...racersOf("js", 2), ...racersOf("go", 1)].map((racer) => ({ ...racer, token: tokenOf(racer.client) }));
    return checkRace(world, "unnamed", "addById", racers);
  },

  // The generic command reads whatever it is, sets one member, and writes the whole back.
  "az resource update: tags of a type without a rule, each command with a name of its own, and all behind one": async (world) => {
    const sim = await startSim(world, ["--operation-ms", "300", "--url-escapes", "none"]);
    const gateway = await world.startGateway(sim, (await startLogin(world)).config);
    const names = ["az-0", "az-1", "az-2"];
    await signIn(world, gateway, "named", names);
    for (const nameOf of [(name) => name, () => names[0]]) {
      const tags = names.map((name) => `${name}-as-${nameOf(name)}`);
      const refused = await Promise.all(names.map((name, i) => insist(
        world, gateway, "named", nameOf(name), "resource", "update", "--ids", WIDGET.id, "--api-version", WIDGET.version, "--set", `tags.${tags[i]}=1`)));
      const lost = missing(tags, tagsOf(await sim.read(WIDGET.id, WIDGET.version)));
      const report = await sim.report();
      measure({ clients: "3 az, resource update", writes: names.length, lost: lost.length, twice: report.applied_twice,
                deserved: refused.reduce((total, count) => total + count, 0), undeserved: "not seen" });
      assert.deepEqual(lost, []);
      assert.equal(report.lost_updates, 0, report.findings.join("\n"));
      assert.equal(report.applied_twice, 0, report.findings.join("\n"));
    }
  },

  "a loop that is alone on such a type is never refused": async (world) => {
    const sim = await startSim(world, ["--operation-ms", "200"]);
    const gateway = await world.startGateway(sim);
    await alone(world, gateway, "countUpById");
    await alone(world, gateway, "addById");
    const shown = await sim.read(WIDGET.id, WIDGET.version);
    assert.equal(shown.properties.capacity, 11);
    assert.equal(tagsOf(shown).size, 11);
  },

  "a group that becomes visible after half a second costs half a second, for every type": async (world) => {
    const sim = await world.startSim(["--operation-ms", "0", "--group-lag-ms", "400"]);
    const gateway = await world.startGateway(sim);
    const group = `${SUBSCRIPTION}/resourceGroups/fresh`;
    await curlJson(world, gateway, `${group}?api-version=2024-03-01`, { args: sending("PUT", { location: "westeurope" }) });
    const made = await curlJson(world, gateway, `${group}/providers/Microsoft.Example/widgets/w?api-version=2024-01-01`,
                                { args: sending("PUT", { location: "westeurope" }) });
    assert.equal(made.status, 201, made.body);
    assert.equal(made.headers["x-armgate-reason"], "waited-for-the-group-to-appear");
    assert.ok(Number(made.headers["x-armgate-waited-ms"]) < 1500, made.headers["x-armgate-waited-ms"]);
  },

  "a type that cannot be read is written as ever, and the answer says that nothing was compared": async (world) => {
    for (const status of [401, 403, 404, 405]) {
      const { gateway, upstream } = await recorder(world, { GET: status });
      for (const capacity of [1, 2, 3]) {
        const answer = await curlJson(world, gateway, PATH, { args: sending("PUT", { location: "westeurope", properties: { capacity } }) });
        assert.equal(answer.status, 200, `GET says ${status}: ${answer.body}`);
        assert.equal(answer.headers["x-armgate-guard"], capacity === 1 ? "forgotten" : "newest, unverified");
      }
      assert.equal(upstream.seen.filter(({ method }) => method === "PUT").length, 3);
    }
  },

  // ARM takes two slashes at the beginning for one, and the SDK for JavaScript sends them.
  "an id that begins with two slashes is the same resource, and goes to ARM as it came": async (world) => {
    const { gateway, upstream } = await recorder(world, {});
    for (const path of [PATH, `/${PATH}`]) {
      const answer = await curlJson(world, gateway, path, { args: sending("PUT", { location: "westeurope" }) });
      assert.equal(answer.status, 200, answer.body);
      assert.equal(answer.headers["x-armgate-locks"], WIDGET.id.toLowerCase());
    }
    const written = upstream.seen.filter(({ method }) => method === "PUT").map(({ url }) => url);
    assert.deepEqual(written, [PATH, `/${PATH}`]);
  },

  "what is no resource passes without a word of armgate's": async (world) => {
    const { gateway, upstream } = await recorder(world, {});
    const web = `${GROUP}/providers/Microsoft.Web/sites/s`;
    const paths = [["PUT", `${SUBSCRIPTION}/tagNames/t`], ["DELETE", `${SUBSCRIPTION}/providers/Microsoft.Example/locations/west/operations/o`],
                   ["PUT", `${web}/hostruntime/admin/host/h`], ["PUT", `${web}/extensions/zipdeploy`], ["POST", `${WIDGET.id}/restart`],
                   ["POST", "/batch"], ["PUT", `${GROUP}/providers/Microsoft.Example/widgets`]];
    for (const [method, path] of paths) {
      const answer = await curlJson(world, gateway, `${path}?api-version=2024-01-01`, { args: sending(method, {}) });
      assert.equal(answer.status, 200, `${method} ${path}: ${answer.body}`);
      assert.deepEqual(Object.keys(answer.headers).filter((name) => name.startsWith("x-armgate")), [], `${method} ${path}`);
    }
    assert.equal(upstream.seen.length, paths.length);
  },

  "unruled off: such a type passes, and types with a rule are protected as ever": async (world) => {
    const { gateway, upstream } = await recorder(world, {}, { unruled: "off" });
    const answer = await curlJson(world, gateway, PATH, { args: sending("PUT", { location: "westeurope" }) });
    assert.equal(answer.headers["x-armgate-attempts"], undefined);
    const group = await curlJson(world, gateway, `${GROUP}?api-version=2024-03-01`, { args: sending("PUT", { location: "westeurope" }) });
    assert.equal(group.headers["x-armgate-attempts"], "1");
    assert.equal(upstream.seen.length, 2);
  },
};
