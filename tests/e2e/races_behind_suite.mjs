// Races between real clients that hide behind one name or one token: which of them read what is told by nothing but the bodies that
// they write (docs/whose-write.md). Each changes members of its own: nothing may be lost.
import assert from "node:assert/strict";
import { assertSafe, judged, racersOf, startSim } from "./races.mjs";
import { measure, missing, NETWORK, race, say, tagsOf, tokenOf } from "./tools.mjs";

const behindOneName = (racers) => racers.map((racer) => ({ ...racer, user: "jvm" }));
const behindOneToken = (racers) => racers.map((racer) => ({ ...racer, token: tokenOf("one-for-all") }));

async function checkHidden(world, way, command, racers) {
  const sim = await startSim(world);
  const gateway = await world.startGateway(sim);
  assertSafe(await judged(world, sim, gateway, way, command, racers));
}

export const tests = {
  "JavaScript, four behind one name: tags of one scale set": (world) =>
    checkHidden(world, "named", "addTags", behindOneName(racersOf("js", 4))),

  "JavaScript, four behind one name: rules of one security group": (world) =>
    checkHidden(world, "named", "addRules", behindOneName(racersOf("js", 4))),

  "JavaScript, four behind one name: labels of one agent pool": (world) =>
    checkHidden(world, "named", "addLabels", behindOneName(racersOf("js", 4))),

  "JavaScript, four behind one token: labels of one agent pool": (world) =>
    checkHidden(world, "unnamed", "addLabels", behindOneToken(racersOf("js", 4))),

  "Python, four behind one name: rules of one security group": (world) =>
    checkHidden(world, "named", "addRules", behindOneName(racersOf("python", 4))),

  "Go, four behind one token: rules of one security group": (world) =>
    checkHidden(world, "unnamed", "addRules", behindOneToken(racersOf("go", 4))),

  // States that were read in different api-versions have different shapes: each is judged by what was read in its own.
  "Go and Python of different api-versions behind one token: rules of one security group": (world) =>
    checkHidden(world, "unnamed", "addRules", behindOneToken([...racersOf("go", 2), ...racersOf("python", 2)])),

  "JavaScript, four behind one name that make the same thing after a 404": async (world) => {
    const sim = await startSim(world);
    const gateway = await world.startGateway(sim, { clients: { jvm: { actor: "many" } } });
    const racers = behindOneName(racersOf("js", 4));
    const { acknowledged, refused, errors } = await race(world, gateway, "named", "createIfAbsent", racers, { name: "made" });
    const left = tagsOf(await sim.read(NETWORK.id.replace(/net$/, "made"), NETWORK.version));
    const lost = missing(acknowledged, left).length;
    say(`${acknowledged.length} of ${racers.length} acknowledged, ${lost} lost, ${refused} refused with 412`);
    const twice = (await sim.report()).applied_twice;
    measure({ clients: "4 js, named", writes: racers.length, lost, twice, deserved: refused, undeserved: 0 });
    assert.deepEqual(errors, []);
    assert.ok(acknowledged.length >= 1 && refused >= 1, "one makes it, and at least the next is told");
    assert.equal(lost, 0);
    assert.equal(twice, 0);
  },
};
