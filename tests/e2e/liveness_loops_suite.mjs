// Nobody else writes what they write: loops that go up for ever, and writes of different rules of one security group. There is nothing
// to refuse.
import assert from "node:assert/strict";
import { assertAlive, QUICK, startShort, tell } from "./liveness.mjs";
import { Pool } from "./pool.mjs";
import { sleep } from "./harness.mjs";
import { client, launch, SCALE_SET, SECURITY_GROUP } from "./tools.mjs";

const TIMES = 200;
const TIMES_CURL = 60;  // a process for each request
const setOf = (name) => ({ ...SCALE_SET, id: SCALE_SET.id.replace(/web$/, name) });
const pathOf = ({ id, version }) => `${id}?api-version=${version}`;
const BODY = { location: "westeurope", sku: { name: "S", capacity: 1 }, tags: { base: "1" } };

// GET, capacity + 1, PUT with curl and sed; the ETag stays in the body.
const CURL_LOOP = `
url=$1 times=$2 refused=0 i=0
curl() { command curl --silent --show-error --http1.1 --header 'Authorization: Bearer test-token' "$@"; }
while [ "$i" -lt "$times" ]; do
  capacity=$(curl "$url" --output read && sed -n 's/.*"capacity":\\([0-9]*\\).*/\\1/p' read)
  sed "s/\\"capacity\\":$capacity/\\"capacity\\":$((capacity + 1))/" read >write
  status=$(curl "$url" --request PUT --header 'Content-Type: application/json' --data-binary @write --output answer --write-out '%{http_code}')
  case $status in 200) ;; 412) refused=$((refused + 1)) ;; *) cat answer >&2; exit 1 ;; esac
  i=$((i + 1))
done
echo "$refused"`;

async function climbWithCurl(world, gateway, name) {
  const url = `https://management.azure.com${pathOf(setOf(name))}`;
  const done = await launch(world, gateway, "named", name, ["/bin/sh", "-euc", `cd "$(mktemp -d "${world.directory}/climb-XXXX")"; ${CURL_LOOP}`, "climb", url, String(TIMES_CURL)]);
  assert.equal(done.code, 0, done.stderr);
  return { refused: Number(done.stdout.toString()), times: TIMES_CURL };
}

// The same with one kept connection, and as an SDK's model has it, without the ETag. `poll`: each write is an operation, and the resource
// is read until that has ended; `list`: all sets are listed before each round.
async function climb(gateway, name, { poll = false, list = false } = {}) {
  const pool = new Pool(gateway, { user: name });
  const path = pathOf(setOf(name));
  let refused = 0;
  let inRow = 0;
  let worst = 0;
  for (let i = 0; i < TIMES; ++i) {
    if (list) assert.equal((await pool.ask("GET", path.replace(`/${name}?`, "?"))).status, 200);
    const { json } = await pool.ask("GET", path);
    json.sku.capacity += 1;
    const put = await pool.ask("PUT", path, { ...json, etag: undefined }, { "x-sim-operation-ms": poll ? "20" : "0" });
    assert.ok([200, 412].includes(put.status), put.text);
    inRow = put.status === 412 ? inRow + 1 : 0;
    refused += Math.min(inRow, 1);
    worst = Math.max(worst, inRow);
    while (poll && (await pool.ask("GET", path)).json.properties.provisioningState !== "Succeeded") await sleep(5);
  }
  pool.close();
  return { refused, worst };
}

// An SDK does it.
async function climbWith(kind, world, gateway, name) {
  const { refused, worst } = await client(world, gateway, "named", kind, "climb", { client: name, name, writes: TIMES });
  return { refused, worst };
}

async function loops(world, climbers, config = {}) {
  const sim = await startShort(world, { operationMs: 0 });
  for (const name of Object.keys(climbers)) await sim.make(setOf(name).id, SCALE_SET.version, BODY);
  const gateway = await world.startGateway(sim, { ...QUICK, ...config });
  const reached = {};
  await Promise.all(Object.entries(climbers).map(async ([name, run]) => {
    const started = Date.now();
    const { refused, worst, times = TIMES } = await run(gateway, name);
    const { capacity } = (await sim.read(setOf(name).id, SCALE_SET.version)).sku;
    tell({ clients: name, adds: times, done: capacity - 1, refused, worst, seconds: (Date.now() - started) / 1000 });
    reached[name] = { refused, missing: 1 + times - capacity };
  }));
  assertAlive(sim);
  assert.deepEqual(reached, Object.fromEntries(Object.keys(climbers).map((name) => [name, { refused: 0, missing: 0 }])));
}

const RULES = 10;
const range = (count) => Array.from({ length: count }, (_, i) => i);
const ruleOf = (i) => pathOf({ ...SECURITY_GROUP, id: `${SECURITY_GROUP.id}/securityRules/rule-${i}` });
const ruleBody = (i, more = {}) => ({ properties: { priority: 100 + i, direction: "Inbound", access: "Allow", protocol: "Tcp", sourceAddressPrefix: "*",
                                                    sourcePortRange: "*", destinationAddressPrefix: "*", destinationPortRange: "443", ...more } });

// A security group with ten rules; `change` writes all of them at once and gives the answers' statuses.
async function parallelRules(world, { clients, made = true }, change) {
  const sim = await startShort(world, { operationMs: 100 });
  const gateway = await world.startGateway(sim, QUICK);
  if (made) for (const i of range(RULES)) await sim.make(ruleOf(i).split("?")[0], SECURITY_GROUP.version, ruleBody(i));
  const started = Date.now();
  const statuses = await change(gateway);
  await sim.finish();
  const rules = (await sim.read(SECURITY_GROUP.id, SECURITY_GROUP.version)).properties.securityRules;
  const changed = rules.filter(({ properties }) => properties.description === "changed").length;
  const refused = statuses.filter((status) => status === 412).length;
  tell({ clients, adds: RULES, done: changed, refused, worst: refused > 0 ? 1 : 0, seconds: (Date.now() - started) / 1000 });
  assertAlive(sim);
  assert.deepEqual(statuses, range(RULES).map(() => (made ? 200 : 201)));
  assert.equal(changed, RULES);
  assert.equal((await sim.report()).applied_twice, 0);
}

// Each by a connection of its own, under the names that `userOf` gives.
async function writeRules(gateway, userOf) {
  const pools = range(RULES).map((i) => new Pool(gateway, { user: userOf(i), connections: 1 }));
  const read = await Promise.all(pools.map((pool, i) => pool.ask("GET", ruleOf(i))));
  const answers = await Promise.all(pools.map((pool, i) =>
    pool.ask("PUT", ruleOf(i), { ...(read[i].status === 200 ? read[i].json : {}), etag: undefined, ...ruleBody(i, { description: "changed" }) })));
  for (const pool of pools) pool.close();
  return answers.map(({ status }) => status);
}

export const tests = {
  "A2: lone autoscalers: GET, capacity + 1, PUT, 200 times": (world) => loops(world, {
    python: (gateway, name) => climbWith("python", world, gateway, name),
    go: (gateway, name) => climbWith("go", world, gateway, name),
    curl: (gateway, name) => climbWithCurl(world, gateway, name),
  }),

  "A2: lone autoscalers with a kept connection, that poll, that list first, that are declared": (world) => loops(world, {
    node: (gateway, name) => climb(gateway, name),
    polling: (gateway, name) => climb(gateway, name, { poll: true }),
    listing: (gateway, name) => climb(gateway, name, { list: true }),
    "listing-and-polling": (gateway, name) => climb(gateway, name, { list: true, poll: true }),
    declared: (gateway, name) => climb(gateway, name),
  }, { clients: { declared: { actor: "single" } } }),

  "A3: ten rules of one security group at once, ten names": (world) =>
    parallelRules(world, { clients: "10 node" }, (gateway) => writeRules(gateway, (i) => `writer-${i}`)),

  "A3: ten rules of one security group at once, one name": (world) =>
    parallelRules(world, { clients: "1 node" }, (gateway) => writeRules(gateway, () => "terraform")),

  "A3: ten new rules of one security group at once, ten names": (world) =>
    parallelRules(world, { clients: "10 node", made: false }, (gateway) => writeRules(gateway, (i) => `writer-${i}`)),

  "A3: ten rules of one security group at once, ten threads of one Python SDK": (world) =>
    parallelRules(world, { clients: "1 python" }, async (gateway) =>
      (await client(world, gateway, "named", "python", "writeRules", { client: "python", name: "front", writes: RULES })).statuses),
};
