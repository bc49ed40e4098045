// What the tests of requirements (docs/requirements.md) share: a simulated ARM behind a tap that keeps every request that reached it,
// armgate in front of it, and the same story told with armgate's protection and without.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { curlJson, sending } from "./curl.mjs";
import { sleep } from "./harness.mjs";
import { startSim } from "./races.mjs";
import { SCALE_SET } from "./tools.mjs";

export const LOCATION = { location: "westeurope" };
export const bodyOf = (capacity, tags = { base: "1" }) => ({ ...LOCATION, sku: { name: "S", capacity }, tags });
export const targetOf = ({ id, version }) => `${id}?api-version=${version}`;
export const SET = targetOf(SCALE_SET);
// A 412 of armgate's own, because others changed the same: at this place of the body, and no value of it is told.
export function assertConflict({ status, headers, json }, pointer) {
  assert.deepEqual([status, json?.error?.code, headers["x-armgate-reason"]], [412, "ArmgateConflict", "conflict"], JSON.stringify(json));
  assert.deepEqual(json.error.details.map(({ target }) => target), [pointer]);
}
export const capacityOf = async (sim) => (await sim.read(SCALE_SET.id, SCALE_SET.version)).sku.capacity;

// Everything that reaches ARM, in the order in which it came: {method, url, fields, headers, body, at, endedAt,
// status, answer}. `alter(record,
// answer)` may give another answer than the simulated ARM's.
async function tapped(world, sim, alter) {
  const tap = await world.startRecorder(async (record) => {
    record.at = Date.now();
    const answer = await sim.forward(record);
    record.endedAt = Date.now();
    const given = (await alter?.(record, answer)) ?? answer;
    Object.assign(record, { status: given?.status, answer: given });
    return given;
  });
  const of = (method, part = "") => tap.seen.filter((record) => record.method === method && record.url.includes(part));
  return { ...tap, of };
}

// A simulated ARM with a scale set, a security group and a cluster in it (unless `empty`), the tap, armgate, and clients that are called
// by name.
export async function begin(world, { args, config, rules, alter, empty } = {}) {
  const sim = await (empty ? world.startSim(args) : startSim(world, args));
  const journal = await tapped(world, sim, alter);
  const gateway = await world.startGateway(journal, { ...(rules ? { rules: [ownRules(world, rules), "shipped"] } : {}), ...config });
  const ask = (user, method, target, body, ...more) => curlJson(world, gateway, target, {
    user, args: [...(body ? sending(method, body) : ["--request", method]), ...more] });
  // To ARM, past armgate.
  const askArm = (method, target, body, headers = {}) => sim.forward({
    method, url: target, headers: { authorization: "Bearer token-of-the-test", "content-type": "application/json", ...headers },
    body: body ? JSON.stringify(body) : "" });
  return { sim, journal, gateway, ask, askArm };
}

// So long that nothing but whileItRuns() ends it.
export const ENDLESS = "600000";

// Starts the requests while an operation runs, and ends that when they have reached armgate, however slow this machine is.
export async function whileItRuns({ gateway, sim }, requests) {
  const connections = () => gateway.process.log.split('"event":"intercepted"').length;
  const before = connections();
  const running = requests.map((request) => request());
  while (connections() < before + requests.length) await sleep(20);
  await sleep(300);  // from the handshake to the queue
  await sim.finish();
  return Promise.all(running);
}

let ruleFiles = 0;

// A rule file that counts before the shipped ones: {rules, errors}.
export function ownRules(world, content) {
  const file = world.file(`own-rules-${++ruleFiles}.json`);
  writeFileSync(file, JSON.stringify(content));
  return file;
}

// A rule as it is shipped for scale sets, with something else about it.
export const scaleSetRule = (more = {}) => ({
  name: "own-scale-sets", match: { types: ["Microsoft.Compute/virtualMachineScaleSets"], actions: ["restart", "deallocate"] },
  guard: { kind: "etag", methods: ["PUT"] }, ...more });

// The same story twice: {without, protected}. Each has a simulated ARM of its own.
export async function bothWays(world, settings, tell) {
  const [without, guarded] = await Promise.all(["off", "protect"].map(async (mode) =>
    tell(await begin(world, { ...settings, config: { ...settings.config, mode } }))));
  return { without, protected: guarded };
}
