// Real clients as processes of their own (curl, the Azure SDKs for JavaScript, Python and Go), led through armgate in the ways
// that a user would lead them, and races between them.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { run, sleep } from "./harness.mjs";
import { modules } from "./sdk.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const goDirectory = path.resolve(here, "../../build/e2e-go");
const goClient = path.join(goDirectory, "client");

export const SUBSCRIPTION = "/subscriptions/11111111-1111-1111-1111-111111111111";
export const GROUP = `${SUBSCRIPTION}/resourceGroups/rg`;
export const SCALE_SET = { id: `${GROUP}/providers/Microsoft.Compute/virtualMachineScaleSets/web`, version: "2024-07-01" };
export const OLD_SCALE_SET = { id: `${GROUP}/providers/Microsoft.Compute/virtualMachineScaleSets/old`, version: "2022-08-01" };  // before ETags
export const SECURITY_GROUP = { id: `${GROUP}/providers/Microsoft.Network/networkSecurityGroups/front`, version: "2024-05-01" };
export const NETWORK = { id: `${GROUP}/providers/Microsoft.Network/virtualNetworks/net`, version: "2024-05-01" };
export const CLUSTER = { id: `${GROUP}/providers/Microsoft.ContainerService/managedClusters/aks`, version: "2025-10-01" };
// A type of which no rule and no schema says anything. It shows more than was written, and spells ids in its own way.
// Its settings are shown by POST alone.
export const SITE = { id: `${GROUP}/providers/Microsoft.Web/sites/app`, version: "2023-12-01" };
export const SETTINGS = { id: `${SITE.id}/config/appsettings`, version: SITE.version, shownBy: "POST" };
export const WIDGET = { id: `${GROUP}/providers/Microsoft.Example/widgets/w`, version: "2024-01-01" };

// The client in Go, built with Debian's packages alone (GO111MODULE=off: no module is downloaded). The compiler's cache stays in
// build/, so only the first run waits.
export async function buildGoClient() {
  mkdirSync(goDirectory, { recursive: true });
  const env = { GO111MODULE: "off", GOPATH: "/usr/share/gocode", GOFLAGS: "", GOCACHE: path.join(goDirectory, "cache") };
  const done = await run("go", ["build", "-o", goClient, ...["client.go", "works.go"].map((file) => path.join(here, "go", file))], { env, seconds: 300 });
  if (done.code !== 0) throw new Error(`go build failed:\n${done.stderr}`);
}

// What the script with curl writes to, for each command that it knows.
const CURL_TARGETS = { addTags: [SCALE_SET], addOld: [OLD_SCALE_SET], addEverywhere: [SCALE_SET, SECURITY_GROUP, OLD_SCALE_SET] };

// Debian's interpreter, not another in front of it: the SDK is installed for this one.
const PROGRAMS = {
  js: (command, settings) => [process.execPath, path.join(here, "js", "client.mjs"), command, JSON.stringify(settings)],
  python: (command, settings) => ["/usr/bin/python3", path.join(here, "py", "client.py"), command, JSON.stringify(settings)],
  go: (command, settings) => [goClient, command, JSON.stringify(settings)],
  curl: (command, { client, writes, barrier, seconds = 200, think = 0, persist = false }) => [
    "/bin/sh", path.join(here, "sh", "client.sh"), client, String(writes), barrier, String(seconds), String(think / 1000), persist ? "yes" : "no",
    ...CURL_TARGETS[command].map(({ id, version }) => `https://management.azure.com${id}?api-version=${version}`)],
};

// A token whose claims name a principal; nobody checks its signature here.
export function tokenOf(principal) {
  const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part({ alg: "none" })}.${part({ tid: "22222222-2222-2222-2222-222222222222", oid: principal })}.signature`;
}

// Ways through armgate. `named`: by the variables of `armgate env`; `unnamed`: the same, but the proxy's URL has no user; `exec`:
// every client under an `armgate exec` of its own.
export async function launch(world, gateway, way, name, words, { env = {}, seconds = 200 } = {}) {
  const armgate = path.join(world.bin, "armgate");
  const home = { HOME: world.directory };
  if (way === "exec") {
    return run(armgate, ["exec", "--config", gateway.configFile, "--name", name, "--", ...words], { env: { ...home, ...env }, seconds });
  }
  const printed = await run(armgate, ["env", "--config", gateway.configFile, "--name", name, "--shell", "json"], { env: { ...home, ...env } });
  if (printed.code !== 0) throw new Error(`armgate env: ${printed.stderr}`);
  const variables = JSON.parse(printed.stdout);
  if (way === "unnamed") {
    for (const proxy of ["HTTPS_PROXY", "https_proxy"]) variables[proxy] = `http://127.0.0.1:${gateway.port}`;
  }
  return run(words[0], words.slice(1), { env: { ...home, ...env, ...variables }, seconds });
}

// One client; gives what it printed. It has a name of its own, unless `user` is one that it shares.
export async function client(world, gateway, way, kind, command, settings) {
  const all = { group: "rg", old: OLD_SCALE_SET.id, oldVersion: OLD_SCALE_SET.version, ...settings };
  const env = { ARMGATE_E2E_MODULES: modules, TOKEN: settings.token ?? "test-token" };
  const done = await launch(world, gateway, way, settings.user ?? settings.client, PROGRAMS[kind](command, all), { env });
  if (done.code !== 0) throw new Error(`${settings.client} (${kind} ${command}) ended with ${done.code}\n${done.stdout}\n${done.stderr}`);
  return { ...JSON.parse(done.stdout), stderr: done.stderr };
}

// One request by a process of its own, in Python without an SDK, that is gone with the answer. Gives the status.
export async function once(world, gateway, name, method, target, body) {
  const words = ["/usr/bin/python3", path.join(here, "py", "once.py"), method, `https://management.azure.com${target}`];
  if (body) {
    const file = world.file(`${name}.json`);
    writeFileSync(file, JSON.stringify(body));
    words.push(file);
  }
  const done = await launch(world, gateway, "named", name, words);
  if (done.code !== 0) throw new Error(`${name}: ${done.stderr}`);
  return Number(done.stdout.toString());
}

let races = 0;

// All at once: `racers` are {kind, client, token, user}. Gives what they were told, together, and how many others met what.
export async function race(world, gateway, way, command, racers, settings) {
  const barrier = world.file(`barrier-${++races}`);
  const running = racers.map(({ kind, ...own }, i) =>
    client(world, gateway, way, kind, command, { ...settings, ...own, barrier, priority: 100 + 100 * i }));
  const all = Promise.all(running);
  const ready = (async () => {
    while (!racers.every((racer) => existsSync(`${barrier}.${racer.client}`))) await sleep(20);
    writeFileSync(barrier, "");
  })();
  await Promise.race([ready, all]);  // a client that cannot start ends the race
  const results = await all;
  return {
    adds: results.flatMap((result) => result.adds ?? []),
    acknowledged: results.flatMap((result) => result.acknowledged),
    errors: results.flatMap((result) => result.errors),
    refused: results.reduce((sum, result) => sum + result.refused, 0),
    undeserved: results.reduce((sum, result) => sum + (result.undeserved ?? 0), 0),
    stderr: results.map((result) => result.stderr),
    shown: results.flatMap(({ shown }) => (shown ? [shown] : [])),  // what their SDKs say of a refusal
  };
}

export const missing = (names, present) => names.filter((name) => !present.has(name));
export const tagsOf = (resource) => new Set(Object.keys(resource.tags ?? {}));
export const rulesOf = (resource) => new Set((resource.properties.securityRules ?? []).map((rule) => rule.name));
export const labelsOf = (pool) => new Set(Object.keys(pool.properties.nodeLabels ?? {}));
export const subnetsOf = (resource) => new Set((resource.properties.subnets ?? []).map((subnet) => subnet.name));

// One line for whoever reads the log of the tests.
export const say = (text) => console.log(`        ${text}`);

// What the races measured, for the table at the end of a run (and in docs/bases.md).
const measured = [];
let scenario = "";
export const beginScenario = (name) => { scenario = name; };
export const measure = (row) => measured.push({ scenario, ...row });
export function printMeasured() {
  if (measured.length === 0) return;
  console.log("\n| scenario | clients | writes | lost | twice | deserved 412 | undeserved 412 |\n|---|---|---|---|---|---|---|");
  for (const { scenario: name, clients, writes, lost, twice, deserved, undeserved } of measured) {
    console.log(`| ${name} | ${clients} | ${writes} | ${lost} | ${twice} | ${deserved} | ${undeserved} |`);
  }
  console.log("");
}

// What the workloads of harm_suite.mjs took, for another table (and bench/README.md).
const compared = [];
export const compareTimes = (row) => compared.push(row);
export function printCompared() {
  if (compared.length === 0) return;
  console.log("\n| workload | directly | through armgate | failed directly | failed | sent again directly | sent again | waited in armgate |");
  console.log("|---|---:|---:|---:|---:|---:|---:|---:|");
  for (const { name, direct, armgate, failedDirect, failed, resentDirect, resent, waited } of compared) {
    console.log(`| ${name} | ${(direct / 1000).toFixed(1)} s | ${(armgate / 1000).toFixed(1)} s | ${failedDirect} | ${failed} | ${resentDirect} | ${resent} | ${waited} |`);
  }
  console.log("");
}
