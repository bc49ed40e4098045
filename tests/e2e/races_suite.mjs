// Races between real clients through the real program against armsim: curl, and the Azure SDKs for JavaScript, Python and Go, each
// client with a name or a token of its own. What was acknowledged must be there, and nothing may run twice.
import assert from "node:assert/strict";
import { curl, curlJson, sending } from "./curl.mjs";
import { sleep } from "./harness.mjs";
import { assertSafe, checkRace, judged, racersOf, single, startSim, WRITES } from "./races.mjs";
import { client, missing, NETWORK, say, SCALE_SET, tagsOf, tokenOf } from "./tools.mjs";

export const tests = {
  "curl, named: scripts that change tags of one scale set": (world) => {
    const racers = racersOf("curl", 4);
    return checkRace(world, "named", "addTags", racers, single(racers.map((racer) => racer.client)));
  },

  "curl, each under armgate exec": async (world) => {
    const result = await checkRace(world, "exec", "addTags", racersOf("curl", 4));
    for (const line of result.stderr) assert.match(line, /^armgate: \d+ requests to ARM: .*\d+ (guarded|merged with others' changes).*\n$/);
  },

  "Python, named: rules of one security group": (world) => {
    const racers = racersOf("python", 4);
    return checkRace(world, "named", "addRules", racers, single(racers.map((racer) => racer.client)));
  },

  "Python, each under armgate exec: tags of one scale set": (world) => checkRace(world, "exec", "addTags", racersOf("python", 4)),

  "Go, named: rules of one security group": (world) => {
    const racers = racersOf("go", 4);
    return checkRace(world, "named", "addRules", racers, single(racers.map((racer) => racer.client)));
  },

  "Go, each under armgate exec: rules of one security group": (world) => checkRace(world, "exec", "addRules", racersOf("go", 4)),

  "JavaScript and curl, each under armgate exec: tags of one scale set": (world) =>
    checkRace(world, "exec", "addTags", [...racersOf("js", 2), ...racersOf("curl", 2)]),

  "JavaScript, named: labels of one agent pool": (world) => {
    const racers = racersOf("js", 4);
    return checkRace(world, "named", "addLabels", racers, single(racers.map((racer) => racer.client)));
  },

  "JavaScript without a name, told apart by their tokens: labels of one agent pool": (world) =>
    checkRace(world, "unnamed", "addLabels", racersOf("js", 4).map((racer) => ({ ...racer, token: tokenOf(racer.client) }))),

  // A cluster refuses a second change while one runs (409 OperationNotAllowed).
  "JavaScript, named: labels of one agent pool, each change an operation": async (world) => {
    const sim = await startSim(world, ["--operation-ms", "200"]);
    const racers = racersOf("js", 3);
    const gateway = await world.startGateway(sim, single(racers.map((racer) => racer.client)));
    const result = await judged(world, sim, gateway, "named", "addLabels", racers);
    assertSafe(result);
    assert.equal(result.report.conflicts, 0, "a write was sent before the operation of the one before had ended");
  },

  "Go and Python without a name, told apart by their tokens": (world) => {
    const racers = [...racersOf("go", 2), ...racersOf("python", 2)].map((racer) => ({ ...racer, token: tokenOf(racer.client) }));
    return checkRace(world, "unnamed", "addRules", racers);
  },

  "a PUT whose answer is lost is applied once": async (world) => {
    const sim = await startSim(world);
    const gateway = await world.configureGateway(sim);
    await sim.addFaults([{ method: "PUT", path: "virtualMachineScaleSets", kind: "drop-after", times: 2 }]);
    const result = await client(world, gateway, "exec", "python", "addTags", { client: "python", name: "web", writes: WRITES });
    const report = await sim.report();
    assert.equal(report.dropped_after, 2);
    assert.deepEqual(result.errors, []);
    assert.equal(result.acknowledged.length, WRITES);
    assert.deepEqual(missing(result.acknowledged, tagsOf(await sim.read(SCALE_SET.id, SCALE_SET.version))), []);
    assert.equal(report.applied_twice, 0, report.findings.join("\n"));
    assert.match(result.stderr, /2 with a lost answer recovered/);
  },

  "a restart whose answer is lost runs once, whoever asks": async (world) => {
    const sim = await startSim(world);
    const gateway = await world.configureGateway(sim);
    for (const kind of ["python", "go"]) {
      await sim.addFaults([{ method: "POST", path: "restart", kind: "drop-after" }]);
      const result = await client(world, gateway, "exec", kind, "restart", { client: kind, name: "web" });
      if (!result.ok) assert.match(result.message, /ArmgateOutcomeUnknown|effect is not known/);
    }
    const report = await sim.report();
    assert.equal(report.dropped_after, 2);
    assert.equal(report.actions.restart, 2);
  },

  "of many that create the same thing one wins, if they ask for that or have looked before": async (world) => {
    const sim = await startSim(world);
    const gateway = await world.startGateway(sim);
    const makers = ["one", "two", "three", "four"];
    const put = (user, name, ...headers) => curl(world, gateway, `${NETWORK.id}-${name}?api-version=${NETWORK.version}`, {
      user, args: sending("PUT", { location: "westeurope", tags: { [user]: "1" }, properties: { addressSpace: { addressPrefixes: ["10.0.0.0/16"] } } }, ...headers) });
    const asking = await Promise.all(makers.map((user) => put(user, "asked", "If-None-Match: *")));
    assert.deepEqual(asking.map((answer) => answer.status).sort(), [201, 412, 412, 412]);

    const looked = await Promise.all(makers.map((user) => curl(world, gateway, `${NETWORK.id}-looked?api-version=${NETWORK.version}`, { user })));
    assert.deepEqual(looked.map((answer) => answer.status), [404, 404, 404, 404]);
    const created = await Promise.all(makers.map((user) => put(user, "looked")));
    assert.deepEqual(created.map((answer) => answer.status).sort(), [201, 412, 412, 412]);
    const winner = makers[created.findIndex((answer) => answer.status === 201)];
    assert.deepEqual(tagsOf(await sim.read(`${NETWORK.id}-looked`, NETWORK.version)), new Set([winner]));
  },

  "loops that write without ever reading all get through in the end, and it is said": async (world) => {
    const sim = await startSim(world, ["--operation-ms", "100"]);
    const gateway = await world.startGateway(sim);
    const path = `${SCALE_SET.id}?api-version=${SCALE_SET.version}`;
    let refused = 0;
    let forced = 0;
    const loop = async (user) => {
      const args = sending("PUT", { location: "westeurope", sku: { name: "S", capacity: 2 }, tags: { [user]: "1" } });
      for (let done = 0; done < 2;) {
        const answer = await curlJson(world, gateway, path, { user, args });
        if (/forced/.test(answer.headers["x-armgate-guard"] ?? "")) forced += 1;
        if (answer.status === 200) done += 1;
        else if (answer.status === 412) { refused += 1; await sleep(200); }
        else assert.fail(`${user}: ${answer.status} ${answer.body}`);
      }
    };
    await Promise.all(["blind-1", "blind-2", "blind-3"].map(loop));
    const report = await sim.report();
    say(`6 unconditional writes done, ${refused} refused with 412, ${forced} forced`);
    assert.equal(report.overlaps_accepted, 0, report.findings.join("\n"));  // a loop may meet its own operation: ARM says that it is busy
    assert.equal(report.applied_twice, 0, report.findings.join("\n"));
  },
};
