// Races that merging is for (docs/merging.md): real clients write whole resources back, on shipped defaults. What they change apart
// stays, and nobody is refused; what they change at the same place is one's, and the others are told where.
//
// A call of the Azure CLI costs seconds of a processor. By default only subnets are made three times by each client, and everything else
// once; with MERGING_FULL=1 in the environment each command races three times, around armgate too.
import assert from "node:assert/strict";
import { az, signIn, startLogin } from "./az.mjs";
import { assertLive, raceToAdd } from "./liveness.mjs";
import { makeOldNetwork, raceBothWays, SET_BODY, SET_WITH_PASSWORD, startMergingSim, tell } from "./merging.mjs";
import { Pool } from "./pool.mjs";
import { racersOf } from "./races.mjs";
import { targetOf } from "./rows.mjs";
import { client, GROUP, missing, NETWORK, race, rulesOf, SCALE_SET, SECURITY_GROUP, SETTINGS, subnetsOf, tagsOf } from "./tools.mjs";

const TOOLS = [...racersOf("js", 2), ...racersOf("python", 2), ...racersOf("go", 2)];
const SET = targetOf(SCALE_SET);
const NAMES = ["az-0", "az-1", "az-2", "az-3"];
const IN_GROUP = ["--resource-group", "rg"];

// What each command adds, and to what. `i` is the client's number, `k` that of its call.
const COMMANDS = {
  "network vnet subnet create": { at: NETWORK, membersOf: subnetsOf, words: (name, i, k) =>
    [...IN_GROUP, "--vnet-name", "net", "--name", name, "--address-prefixes", `10.${i}.${k}.0/24`] },
  "network nsg rule create": { at: SECURITY_GROUP, membersOf: rulesOf, words: (name, i, k) =>
    [...IN_GROUP, "--nsg-name", "front", "--name", name, "--priority", String(100 + 10 * i + k)] },
  "resource update": { at: SCALE_SET, membersOf: tagsOf, words: (name) =>
    ["--ids", SCALE_SET.id, "--api-version", SCALE_SET.version, "--set", `tags.${name}=1`] },
  "group update": { at: { id: GROUP, version: "2024-03-01" }, membersOf: tagsOf, words: (name) => ["--name", "rg", "--set", `tags.${name}=1`] },
  // It lists them, adds its own, and puts all.
  "webapp config appsettings set": { at: SETTINGS, membersOf: (settings) => new Set(Object.keys(settings.properties)),
    words: (name) => [...IN_GROUP, "--name", "app", "--settings", `${name}=1`] },
  "vmss update": { at: SCALE_SET, membersOf: tagsOf, words: (name) => [...IN_GROUP, "--name", "web", "--set", `tags.${name}=1`] },
};

// Four at once, `calls` of each, none of which is made again. Their reads and writes overlap: each request takes a while.
async function raceAz(world, sim, gateway, command, calls) {
  const { at, membersOf, words } = COMMANDS[command];
  const done = [];
  await Promise.all(NAMES.map(async (user, i) => {
    for (let k = 0; k < calls; ++k) {
      const name = `${command.split(" ")[0]}-${i}-${k}`;
      done.push({ name, ...await az(world, gateway, "named", user, ...command.split(" "), ...words(name, i, k)) });
    }
  }));
  const acknowledged = done.filter(({ ok }) => ok).map(({ name }) => name);
  const shown = at.shownBy === "POST" ? sim.ask("POST", `${at.id}/list`, at.version) : sim.read(at.id, at.version);
  const lost = missing(acknowledged, membersOf(await shown));
  const failed = done.filter(({ ok, stale }) => !ok && !stale).map(({ stderr }) => stderr);
  return { lost, failed, refused: done.filter(({ stale }) => stale).map(({ stderr }) => stderr) };
}

// `calls`: {command: how many of each client}.
async function checkAz(world, calls, { around = false, set = SET_BODY } = {}) {
  const login = (await startLogin(world)).config;
  const args = ["--operation-ms", "0", "--latency-ms", "300", "600"];
  const start = async () => {
    const started = await startMergingSim(world, args);
    await started.make(SCALE_SET.id, SCALE_SET.version, set);
    return started;
  };
  const sim = await start();
  const gateway = await world.startGateway(sim, login);
  const bareSim = around ? await start() : null;
  const bare = around ? await world.startGateway(bareSim, { mode: "off", ...login }) : null;
  await signIn(world, gateway, "named", NAMES);
  const counts = ({ lost, refused, failed }) => ({ lost: lost.length, refused: refused.length, failed: failed.length });
  for (const [command, each] of Object.entries(calls)) {
    const before = around ? counts(await raceAz(world, bareSim, bare, command, each)) : null;
    const after = await raceAz(world, sim, gateway, command, each);
    tell({ what: `az ${command}, 4 at once, ${each} each`, writes: NAMES.length * each, before, after: counts(after) });
    assert.deepEqual(after, { lost: [], refused: [], failed: [] }, command);
  }
  const report = await sim.report();
  assert.equal(report.lost_updates + report.vanished, 0, report.findings.join("\n"));
  assert.equal(report.applied_twice, 0, report.findings.join("\n"));
}

// `az vmss update` leaves out the image, which ARM keeps then. Of the password, which ARM does not show, it is known that ARM keeps it too.
const VMSS_UPDATE = { set: SET_WITH_PASSWORD };
const azRaces = process.env.MERGING_FULL === "1"
  ? Object.fromEntries(Object.keys(COMMANDS).map((command) => [`az ${command}`, (world) =>
    checkAz(world, { [command]: 3 }, { around: true, ...(command === "vmss update" ? VMSS_UPDATE : {}) })]))
  : {
    "az: subnets, rules, and tags of a scale set and of a group": (world) => checkAz(world, {
      "network vnet subnet create": 3, "network nsg rule create": 1, "resource update": 1, "group update": 1 }),
    "az webapp config appsettings set": (world) => checkAz(world, { "webapp config appsettings set": 1 }),
    "az vmss update: tags": (world) => checkAz(world, { "vmss update": 1 }, VMSS_UPDATE),
  };

async function checkNobodyRefused(world, what, command, racers, more) {
  const { refused } = await raceBothWays(world, what, command, racers, more);
  assert.equal(refused, 0);
}

export const tests = {
  ...azRaces,

  "JavaScript, Python and Go: tags of one scale set": (world) =>
    checkNobodyRefused(world, "JavaScript, Python, Go: each its own tags of a scale set", "addTags", TOOLS),
  "JavaScript, Python and Go: rules of one security group": (world) =>
    checkNobodyRefused(world, "JavaScript, Python, Go: each its own rules of a security group", "addRules", TOOLS),

  // Each kind for itself: the models of SDKs of different age add members to, and drop members of, the subnets of others.
  "JavaScript: subnets in the body of one network": (world) =>
    checkNobodyRefused(world, "JavaScript: each its own subnets of a network", "addSubnets", racersOf("js", 4)),
  "Python: subnets in the body of one network": (world) =>
    checkNobodyRefused(world, "Python: each its own subnets of a network", "addSubnets", racersOf("python", 4)),
  "Go: subnets in the body of one network": (world) =>
    checkNobodyRefused(world, "Go: each its own subnets of a network", "addSubnets", racersOf("go", 4), { prepare: makeOldNetwork }),

  "JavaScript, Python and Go: one counter": async (world) => {
    const { undeserved, report, resource } = await raceBothWays(world, "JavaScript, Python, Go: all count the same", "count", TOOLS);
    assert.equal(resource.sku.capacity, 1 + 3 * TOOLS.length, "each count counts once");
    assert.equal(undeserved, 0, "refused although nobody had changed anything");
    assert.equal(report.undeserved_412, 0);
  },

  // All have read the same before anybody writes. Three set tags of their own, three the same capacity.
  "of those who change the same one wins, and the others' SDKs say where": async (world) => {
    const sim = await startMergingSim(world);
    const gateway = await world.startGateway(sim);
    const kinds = ["js", "python", "go"];
    const own = kinds.map((kind) => ({ kind, client: `${kind}-own` }));
    const same = kinds.map((kind, i) => ({ kind, client: `${kind}-same`, capacity: 11 + i }));
    const { acknowledged, refused, errors, shown } = await race(world, gateway, "named", "changeOnce", [...own, ...same], { name: "web" });
    const { tags, sku } = await sim.read(SCALE_SET.id, SCALE_SET.version);
    const lost = missing(own.map((one) => one.client), tagsOf({ tags }));
    tell({ what: "3 set tags of their own, 3 set the same capacity", writes: 6, after: { lost: lost.length, refused, failed: errors.length } });
    assert.deepEqual(lost, []);
    const winners = same.filter((one) => acknowledged.includes(one.client));
    assert.deepEqual(winners.map(({ capacity }) => capacity), [sku.capacity]);
    assert.deepEqual([acknowledged.length, refused, shown.length], [4, 2, 2]);
    for (const text of shown) {
      assert.match(text, /ArmgateConflict.*Somebody else changed \/sku\/capacity/s);
    }
  },

  // What Terraform does: it writes what its file says, and adopts nothing.
  "a file beside somebody's addition: that stays until the file's tool has read it and insists": async (world) => {
    const sim = await startMergingSim(world);
    const gateway = await world.startGateway(sim);
    const tool = new Pool(gateway);
    const file = (capacity) => ({ ...SET_BODY, sku: { name: "S", capacity }, tags: { managed: "yes" } });
    const apply = async (capacity) => {
      const { status, json, headers } = await tool.ask("PUT", SET, file(capacity));
      const now = await sim.read(SCALE_SET.id, SCALE_SET.version);
      return [status, json.error?.code ?? headers["x-armgate-merged"], now.sku.capacity, Object.keys(now.tags).sort().join()];
    };
    await tool.ask("GET", SET);
    assert.deepEqual(await apply(2), [200, undefined, 2, "managed"]);
    const ann = await client(world, gateway, "named", "python", "addTags", { client: "ann", name: "web", writes: 1 });
    assert.deepEqual([ann.acknowledged, ann.refused], [["ann-0"], 0]);
    // The file has changed, and does not know of the tag.
    assert.deepEqual(await apply(3), [200, "1", 3, "ann-0,managed"]);
    // Nor does it learn of it. Once it has read what it would remove, and means it, it does.
    for (let refused = 0; refused < 2; ++refused) {
      assert.deepEqual(await apply(3), [412, "ArmgateStaleWrite", 3, "ann-0,managed"]);
      await tool.ask("GET", SET);
    }
    assert.deepEqual(await apply(3), [200, undefined, 3, "managed"]);
    tool.close();
  },

  // The file has all of the resource in it, lists too, and its tool has looked at it (a refresh) before the other came.
  "files beside additions of SDKs: tags, rules and subnets stay": async (world) => {
    const sim = await startMergingSim(world);
    const gateway = await world.startGateway(sim);
    const rule = (name, priority) => ({ name, properties: { priority, direction: "Inbound", access: "Allow", protocol: "Tcp", sourceAddressPrefix: "*",
                                                           sourcePortRange: "*", destinationAddressPrefix: "*", destinationPortRange: "22" } });
    const files = [
      { at: SCALE_SET, name: "web", command: "addTags", membersOf: tagsOf, file: (i) => ({ ...SET_BODY, sku: { name: "S", capacity: 2 + i }, tags: { managed: "yes" } }),
        shows: ({ sku }) => sku.capacity - 2 },
      { at: SECURITY_GROUP, name: "front", command: "addRules", membersOf: rulesOf,
        file: (i) => ({ location: "westeurope", tags: { version: `${i}` }, properties: { securityRules: [rule("managed", 4000 + i)] } }),
        shows: ({ properties }) => properties.securityRules.find(({ name }) => name === "managed").properties.priority - 4000 },
      { at: NETWORK, name: "net", command: "addSubnets", membersOf: subnetsOf,
        file: (i) => ({ location: "westeurope", tags: { version: `${i}` }, properties: { addressSpace: { addressPrefixes: ["10.0.0.0/8"] },
          enableDdosProtection: false, enableVmProtection: false, subnets: [{ name: "managed", properties: { addressPrefix: `10.200.${i}.0/24` } }] } }),
        shows: ({ properties }) => Number(properties.subnets.find(({ name }) => name === "managed").properties.addressPrefix.split(".")[2]) },
    ];
    const sums = { lost: 0, refused: 0, failed: 0 };
    for (const { at, name, command, membersOf, file, shows } of files) {
      for (const [round, kind] of ["js", "python", "go"].entries()) {
        const [first, second] = [2 * round, 2 * round + 1];  // no value comes twice: that would look stale
        const tool = new Pool(gateway, { user: `terraform-${kind}` });
        const target = targetOf(at);
        await tool.ask("GET", target);
        assert.equal((await tool.ask("PUT", target, file(first))).status, 200, command);
        await tool.ask("GET", target);
        const other = await client(world, gateway, "named", kind, command, { client: `${kind}-own`, name, writes: 1, priority: 300 });
        assert.deepEqual([other.acknowledged.length, other.errors], [1, []]);
        const { status, headers } = await tool.ask("PUT", target, file(second));
        const now = await sim.read(at.id, at.version);
        const lost = missing(other.acknowledged, membersOf(now));
        sums.lost += lost.length;
        sums.refused += status === 412 ? 1 : 0;
        assert.deepEqual([status, Number(headers["x-armgate-merged"]) > 0, shows(now), lost], [200, true, second, []], `${command} ${kind}`);
        tool.close();
      }
    }
    tell({ what: "files written whole beside additions of JavaScript, Python, Go: tags, rules, subnets", writes: 18, after: sums });
  },

  "tags of one scale set while ARM is busy or away, answers get lost and reads lag": async (world) => {
    const racers = [...racersOf("js", 2), ...racersOf("python", 2), ...racersOf("go", 2), ...racersOf("curl", 2)];
    const met = await raceToAdd(world, { racers, writes: 6, seconds: 60, operationMs: 0, command: "addTags" });
    const { row } = met;
    tell({ what: "8 clients, each its own tags, while much goes wrong", writes: row.adds,
           after: { lost: row.lost.length, refused: row.refused, failed: row.adds - row.done } });
    assertLive(met);
  },
};
