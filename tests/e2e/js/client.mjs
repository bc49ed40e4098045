// A tool that uses the Azure SDK for JavaScript as its documentation shows: node client.mjs COMMAND SETTINGS_AS_JSON.
// Prints one JSON value: what was acknowledged and what was refused, as this client saw it.
import { webcrypto } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";

globalThis.crypto ??= webcrypto;  // the SDK wants it; Node 18 has it only by this name
const require = createRequire(`${process.env.ARMGATE_E2E_MODULES}/package.json`);
const { ComputeManagementClient } = require("@azure/arm-compute");
const { ContainerServiceClient } = require("@azure/arm-containerservice");
const { NetworkManagementClient } = require("@azure/arm-network");
const { ResourceManagementClient } = require("@azure/arm-resources");

const SUBSCRIPTION = "11111111-1111-1111-1111-111111111111";
const POLL = { updateIntervalInMs: 100 };
const THINK_MS = 30;
const ATTEMPTS_MAX = 100;

const [command, settingsText] = process.argv.slice(2);
const settings = JSON.parse(settingsText);
// The token's claims name nobody: all clients of a test are one service principal, and only the proxy's user name differs.
const credential = { getToken: async () => ({ token: settings.token ?? "test-token", expiresOnTimestamp: Date.now() + 3_600_000 }) };
const options = settings.endpoint ? { endpoint: settings.endpoint } : {};
const compute = new ComputeManagementClient(credential, SUBSCRIPTION, options);
const containers = new ContainerServiceClient(credential, SUBSCRIPTION, options);
const network = new NetworkManagementClient(credential, SUBSCRIPTION, options);
const resources = new ResourceManagementClient(credential, SUBSCRIPTION, options);

// All clients of a race begin at once: when the barrier appears.
async function awaitOthers() {
  if (!settings.barrier) return;
  writeFileSync(`${settings.barrier}.${settings.client}`, "");
  while (!existsSync(settings.barrier)) await sleep(20);
}

const describe = (error) => ({ status: error.statusCode ?? 0, code: error.code ?? error.name, message: String(error.message).slice(0, 300) });

// Adds one member: reads, changes and writes back the whole resource; begins again, from the read, when refused with 412. If that read
// shows what was read before, the refusal was undeserved. Each write tells armsim's judge who it is and what it was built from. With
// `persist`, whatever else goes wrong is looked into by reading, until there is no time left.
async function addOne({ read, change, write }, name, i, until, log) {
  let lastRead;
  for (let attempt = 0; attempt < ATTEMPTS_MAX && Date.now() < until; ++attempt) {
    try {
      const resource = await read();
      const there = settings.persist && memberNames(resource).includes(name);
      if (there) return log.unsure.length > 0 ? "found" : "done but refused";
      const etag = resource.etag ?? resource.eTag;  // AKS spells it so
      const shown = settings.persist ? memberNames(resource).join() : etag;
      if (lastRead !== undefined && shown === lastRead) log.undeserved += 1;
      lastRead = undefined;
      change(resource, name, i);
      await sleep(settings.think ?? THINK_MS);
      const headers = { "x-sim-write-id": `${name}/${attempt}`, "x-sim-client": settings.client, ...(etag ? { "x-sim-base-etag": etag } : {}) };
      lastRead = shown;
      await write(resource, { ...POLL, requestOptions: { headers, customHeaders: headers } });  // the SDKs do not agree on the name
      return "acknowledged";
    } catch (error) {
      if (error.statusCode === 412) {
        log.refused += 1;
        continue;
      }
      log.unsure.push(describe(error));
      if (!settings.persist) return "failed";
      lastRead = undefined;
      await sleep(THINK_MS);
    }
  }
  return "unfinished";
}

const memberNames = ({ tags, securityRules }) => [...Object.keys(tags ?? {}), ...(securityRules ?? []).map((rule) => rule.name)].sort();

// `writes` members, one after the other, to the `works` in turn.
async function addMembers(...works) {
  const adds = [];
  await awaitOthers();
  const until = Date.now() + 1000 * (settings.seconds ?? 200);
  for (let i = 0; i < settings.writes; ++i) {
    const log = { name: `${settings.client}-${i}`, target: i % works.length, refused: 0, undeserved: 0, unsure: [] };
    const started = Date.now();
    log.outcome = await addOne(works[log.target], log.name, i, until, log);
    adds.push({ ...log, ms: Date.now() - started });
  }
  const sum = (member) => adds.reduce((total, log) => total + log[member], 0);
  return { acknowledged: adds.filter(({ outcome }) => outcome === "acknowledged").map(({ name }) => name), refused: sum("refused"),
           undeserved: sum("undeserved"), errors: adds.flatMap(({ outcome, unsure }) => (outcome === "failed" ? unsure : [])), adds };
}

async function attempt(work) {
  const started = Date.now();
  try {
    const value = await work();
    return { ok: true, ms: Date.now() - started, value };
  } catch (error) {
    return { ok: false, ms: Date.now() - started, ...describe(error) };
  }
}

const scaleSet = (capacity) => ({ location: "westeurope", sku: { name: "Standard_D2s_v5", tier: "Standard", capacity }, tags: {} });
const { group, name } = settings;

const addTag = (resource, tag) => { resource.tags = { ...resource.tags, [tag]: settings.client }; };

const tagsOfScaleSet = (name) => ({
  read: () => compute.virtualMachineScaleSets.get(group, name),
  change: addTag,
  write: (resource, options) => compute.virtualMachineScaleSets.createOrUpdate(group, name, resource, options).pollUntilDone() });

// By its id, at whatever api-version. The SDK puts a slash before it: "//subscriptions/...".
const tagsById = (id, version) => ({
  read: () => resources.resources.getById(id, version),
  change: addTag,
  write: (resource, options) => resources.resources.beginCreateOrUpdateByIdAndWait(id, version, resource, options) });

const rulesOfSecurityGroup = (name) => ({
  read: () => network.networkSecurityGroups.get(group, name),
  change: (resource, rule, i) => {
    resource.securityRules = [...(resource.securityRules ?? []), {
      name: rule, priority: settings.priority + i, direction: "Inbound", access: "Allow", protocol: "Tcp", sourceAddressPrefix: "*",
      sourcePortRange: "*", destinationAddressPrefix: "*", destinationPortRange: "443" }];
  },
  write: (resource, options) => network.networkSecurityGroups.beginCreateOrUpdateAndWait(group, name, resource, options) });

const subnetsOfNetwork = (name) => ({
  read: () => network.virtualNetworks.get(group, name),
  change: (resource, subnet, i) => {
    resource.subnets = [...(resource.subnets ?? []), {
      name: subnet, addressPrefix: `10.${settings.priority / 100}.${i}.0/24`,
      privateEndpointNetworkPolicies: "Disabled", privateLinkServiceNetworkPolicies: "Enabled" }];  // as ARM shows it: the SDK sends that of all subnets that it has read
  },
  write: (resource, options) => network.virtualNetworks.beginCreateOrUpdateAndWait(group, name, resource, options) });

// As samples of the SDK do: the subnet is taken from its network and written alone.
const delegationsOfSubnet = (name) => ({
  read: async () => (await network.virtualNetworks.get(group, name)).subnets.find((subnet) => subnet.name === "a"),
  change: (subnet, delegation) => {
    subnet.delegations = [...(subnet.delegations ?? []), { name: delegation, serviceName: "Microsoft.Web/serverFarms" }];
  },
  write: (subnet, options) => network.subnets.beginCreateOrUpdateAndWait(group, name, "a", subnet, options) });

const commands = {
  createGroup: () => attempt(async () => (await resources.resourceGroups.createOrUpdate(group, { location: "westeurope" })).id),

  createScaleSet: () => attempt(async () => {
    const made = await compute.virtualMachineScaleSets.createOrUpdate(group, name, scaleSet(settings.capacity ?? 1), POLL).pollUntilDone();
    return { capacity: made.sku.capacity, state: made.provisioningState };
  }),

  createSecurityGroup: () => attempt(async () => {
    const made = await network.networkSecurityGroups.beginCreateOrUpdateAndWait(group, name, { location: "westeurope", securityRules: [] }, POLL);
    return made.provisioningState;
  }),

  addTags: () => addMembers(tagsOfScaleSet(name)),
  addRules: () => addMembers(rulesOfSecurityGroup(name)),
  addSubnets: () => addMembers(subnetsOfNetwork(name)),
  addDelegations: () => addMembers(delegationsOfSubnet(name)),

  createNetwork: () => attempt(async () => {
    const made = await network.virtualNetworks.beginCreateOrUpdateAndWait(
      group, name, { location: "westeurope", addressSpace: { addressPrefixes: ["10.0.0.0/16"] }, subnets: [{ name: "a", addressPrefix: "10.0.0.0/24" }] }, POLL);
    return made.provisioningState;
  }),

  // All count the same.
  count: () => addMembers({ ...tagsOfScaleSet(name), change: (resource) => { resource.sku.capacity += 1; } }),

  // One change of what everybody has read before anybody writes, and no second try.
  changeOnce: async () => {
    const { read, write } = tagsOfScaleSet(name);
    const resource = await read();
    if (settings.capacity) resource.sku.capacity = settings.capacity;
    else addTag(resource, settings.client);
    await awaitOthers();
    try {
      await write(resource, POLL);
      return { acknowledged: [settings.client], refused: 0, errors: [] };
    } catch (error) {
      return { acknowledged: [], refused: Number(error.statusCode === 412), errors: [], shown: `${error.code}: ${error.message}` };
    }
  },

  addLabels: () => addMembers({
    read: () => containers.agentPools.get(group, name, "blue"),
    change: (pool, label) => { pool.nodeLabels = { ...pool.nodeLabels, [label]: settings.client }; },
    write: (pool, options) => containers.agentPools.createOrUpdate(group, name, "blue", pool, options).pollUntilDone() }),

  // To a scale set, a security group, and a scale set at an api-version without ETags.
  addEverywhere: () => addMembers(tagsOfScaleSet("web"), rulesOfSecurityGroup("front"), tagsById(settings.old, settings.oldVersion)),

  addById: () => addMembers(tagsById(settings.id, settings.version)),

  // A loop that is alone: reads, counts one up among the properties, writes the whole back and waits for the end.
  countUpById: () => addMembers({
    ...tagsById(settings.id, settings.version),
    change: (resource) => { resource.properties = { ...resource.properties, capacity: resource.properties.capacity + 1 }; } }),

  // Looks whether it is there, and makes it if it is not.
  createIfAbsent: async () => {
    const result = { acknowledged: [], refused: 0, undeserved: 0, errors: [] };
    const there = await network.virtualNetworks.get(group, name).catch((error) => error);
    if (there.statusCode !== 404) result.errors.push("it was there already");
    await awaitOthers();
    try {
      await network.virtualNetworks.beginCreateOrUpdateAndWait(
        group, name, { location: "westeurope", tags: { [settings.client]: "1" }, addressSpace: { addressPrefixes: ["10.0.0.0/16"] } }, POLL);
      result.acknowledged.push(settings.client);
    } catch (error) {
      if (error.statusCode === 412) result.refused += 1;
      else result.errors.push(describe(error));
    }
    return result;
  },

  scale: () => attempt(async () => {
    const updated = await compute.virtualMachineScaleSets.update(group, name, { sku: { capacity: settings.capacity } }, POLL).pollUntilDone();
    return updated.sku.capacity;
  }),

  restart: () => attempt(async () => { await compute.virtualMachineScaleSets.restart(group, name, POLL).pollUntilDone(); }),

  // What scripts do: make the group and, at once, something in it.
  groupThenNetwork: () => attempt(async () => {
    await resources.resourceGroups.createOrUpdate(group, { location: "westeurope" });
    const made = await network.virtualNetworks.beginCreateOrUpdateAndWait(
      group, name, { location: "westeurope", addressSpace: { addressPrefixes: ["10.0.0.0/16"] } }, POLL);
    return made.provisioningState;
  }),
};

if (!(command in commands)) throw new Error(`no command ${command}; there are: ${Object.keys(commands).join(", ")}`);
console.log(JSON.stringify(await commands[command]()));
process.exit(0);
