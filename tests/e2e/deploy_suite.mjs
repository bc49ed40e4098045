// deploy/: manifests are what Kubernetes takes and fit together, dashboard and alerts ask for metrics that are there.
import assert from "node:assert/strict";
import { cpSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { startSim } from "./cluster_race.mjs";
import { curl, sending } from "./curl.mjs";
import { Cluster, Postgres } from "./engines.mjs";
import { freePort, must, run } from "./harness.mjs";
import { checkManifest, documentsOf } from "./manifests.mjs";
import { samples } from "./samples.mjs";
import { PATH, startWithScaleSet, waitFor } from "./scale_set.mjs";

const TREE = fileURLToPath(new URL("../../", import.meta.url));
const KUBERNETES = path.join(TREE, "deploy/kubernetes");
const ALERTS = path.join(TREE, "deploy/monitoring/alerts.yaml");

const armgate = (world, ...words) => run(path.join(world.bin, "armgate"), words, { env: { HOME: world.directory } });

// What `kubectl apply -k` would send, with an authority that was made for it.
async function rendered(world) {
  const copy = world.file("kubernetes");
  cpSync(KUBERNETES, copy, { recursive: true });
  assert.equal((await armgate(world, "ca", "init", "--directory", path.join(copy, "ca"))).code, 0);
  const documents = documentsOf(await must("kubectl", "kustomize", copy));
  // It breaks long base64 into lines, which Kubernetes reads and the schema's format does not know.
  const { data } = named(documents, "Secret");
  for (const name of Object.keys(data)) data[name] = data[name].replaceAll("\n", "");
  return documents;
}

const named = (documents, kind) => {
  const found = documents.filter((document) => document.kind === kind);
  assert.equal(found.length, 1, kind);
  return found[0];
};

const settingsIn = (configMap) => JSON.parse(configMap.data["armgate.json"].replace(/^\s*\/\/.*$/gm, ""));

// Who reaches the admin pages of the pods in these documents, though no policy names that port: "NAME: ADDRESS".
function openAdmin(documents, imageSettings) {
  const policies = documents.filter(({ kind }) => kind === "NetworkPolicy").map(({ spec }) => spec);
  const found = [];
  for (const { spec: { template }, metadata: { name } } of documents.filter(({ kind }) => kind === "Deployment")) {
    const { containers, initContainers = [], volumes } = template.spec;
    for (const container of [...initContainers, ...containers].filter(({ image }) => /^armgate:/.test(image))) {
      const mount = container.volumeMounts.find(({ mountPath }) => mountPath === "/etc/armgate");
      const map = volumes.find((volume) => volume.name === mount?.name)?.configMap.name;
      const settings = map ? settingsIn(documents.find(({ kind, metadata }) => kind === "ConfigMap" && metadata.name === map)) : imageSettings;
      const [, address, port] = /^(.*):([0-9]+)$/.exec(settings.listen.admin);
      if (["127.0.0.1", "[::1]"].includes(address)) continue;
      const names = [Number(port), ...(container.ports ?? []).filter(({ containerPort }) => containerPort === Number(port)).map((one) => one.name)];
      const guards = policies.filter(({ podSelector, policyTypes }) => policyTypes.includes("Ingress") &&
        Object.entries(podSelector.matchLabels).every(([label, value]) => template.metadata.labels[label] === value));
      const rules = guards.flatMap(({ ingress }) => ingress);
      const isNamed = rules.some(({ from, ports }) => from?.length > 0 && ports?.some((one) => names.includes(one.port)));
      const isOpen = rules.some(({ from, ports }) => !from?.length && (!ports || ports.some((one) => names.includes(one.port))));
      if (!isNamed || isOpen) found.push(`${name}: ${settings.listen.admin}`);
    }
  }
  return found;
}

const seconds = (duration) => Number(/^([0-9]+)s$/.exec(duration)[1]);

// Every expression that the dashboard and the alerts ask Prometheus, with Grafana's variables filled in.
function expressions() {
  const dashboard = JSON.parse(readFileSync(path.join(TREE, "deploy/monitoring/dashboard.json"), "utf8"));
  const panels = dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ of: title, expr })));
  const alerts = documentsOf(readFileSync(ALERTS, "utf8"))[0].groups.flatMap(({ rules }) => rules.map(({ alert, expr }) => ({ of: alert, expr })));
  const filled = (expr) => expr.replaceAll("$__rate_interval", "1m").replaceAll("$instance", ".*");
  return [...panels, ...alerts].map(({ of, expr }) => ({ of, expr: filled(expr) }));
}

// The metrics that an expression names, with the values of each label that it asks for, [] where it takes any.
function asked(expr) {
  return [...expr.matchAll(/\b(armgate_[a-z_]+)(?:\{([^}]*)\})?/g)].map(([, name, matchers = ""]) => ({
    name,
    labels: [...matchers.matchAll(/([a-z_]+)=(~?)"([^"]*)"/g)].filter(([, label]) => label !== "instance")
      .flatMap(([, label, isPattern, text]) => (isPattern ? text.split("|") : [text]).map((value) => [label, value])),
  }));
}

const isOfCluster = ({ expr }) => expr.includes("armgate_cluster_");

export const tests = {
  "every manifest is one of its kind, and a mistake in one would be found": async (world) => {
    const single = readdirSync(KUBERNETES).filter((name) => name.endsWith(".yaml") && name !== "kustomization.yaml")
      .flatMap((name) => documentsOf(readFileSync(path.join(KUBERNETES, name), "utf8")));
    const documents = [...single, ...(await rendered(world))];
    for (const document of documents) checkManifest(document);
    assert.deepEqual([...new Set(documents.map(({ kind }) => kind))].sort(),
                     ["ConfigMap", "Deployment", "Namespace", "NetworkPolicy", "PersistentVolumeClaim", "PodMonitor", "Secret", "Service"]);

    const broken = (kind, spoil) => {
      const document = structuredClone(single.find((one) => one.kind === kind && one.metadata.name === "armgate"));
      spoil(document.spec);
      return () => checkManifest(document);
    };
    assert.throws(broken("Deployment", (spec) => { spec.template.spec.containers[0].livenessProbe.httpGet.port = {}; }));
    assert.throws(broken("Deployment", (spec) => { spec.template.spec.containers[0].readinesProbe = {}; }), /knows no .*readinesProbe/);
    assert.throws(broken("NetworkPolicy", (spec) => { spec.ingres = []; }), /knows no \/spec\/ingres/);
    assert.throws(broken("PodMonitor", (spec) => { spec.podMetricsEndpoints[0].prot = "admin"; }), /additional properties/);
  },

  "they fit together: names, ports, the authority, what the group may read, and the time to drain": async (world) => {
    const documents = await rendered(world);
    const { template, selector } = named(documents, "Deployment").spec;
    const { containers: [container], volumes, securityContext, terminationGracePeriodSeconds } = template.spec;
    const configuration = named(documents, "ConfigMap");
    const authority = named(documents, "Secret");
    for (const document of documents.filter(({ kind }) => kind !== "Namespace")) assert.equal(document.metadata.namespace, "armgate");
    assert.deepEqual(volumes.map(({ configMap, secret, persistentVolumeClaim }) => configMap?.name ?? secret?.secretName ?? persistentVolumeClaim.claimName),
                     [configuration.metadata.name, authority.metadata.name, named(documents, "PersistentVolumeClaim").metadata.name]);
    assert.deepEqual(Object.keys(authority.data).sort(), ["ca.pem", "intermediate.key", "intermediate.pem"]);
    assert.deepEqual([volumes[1].secret.defaultMode, securityContext.fsGroup], [0o440, securityContext.runAsGroup]);
    // Else each start lets the group at every file of the claim's volume.
    assert.equal(securityContext.fsGroupChangePolicy, "OnRootMismatch");

    const file = world.file("armgate.json");
    writeFileSync(file, configuration.data["armgate.json"]);
    const checked = await armgate(world, "check", "--config", file, "--output", "json");
    assert.deepEqual(JSON.parse(checked.stdout).faults.filter(({ pointer }) => !/^\/(ca|journal)\//.test(pointer)), []);
    const settings = JSON.parse(configuration.data["armgate.json"].replace(/^\s*\/\/.*$/gm, ""));
    const places = Object.fromEntries(container.volumeMounts.map(({ name, mountPath }) => [name, mountPath]));
    assert.deepEqual([places.authority, places.journal], [settings.ca.directory, path.dirname(settings.journal.file)]);
    assert.ok(terminationGracePeriodSeconds > seconds(settings.drain_max) + 5);
    const ports = Object.fromEntries(container.ports.map(({ name, containerPort }) => [name, `0.0.0.0:${containerPort}`]));
    assert.deepEqual(ports, settings.listen);

    const service = named(documents, "Service").spec;
    const policy = named(documents, "NetworkPolicy").spec;
    const monitor = documentsOf(readFileSync(path.join(KUBERNETES, "pod-monitor.yaml"), "utf8"))[0].spec;
    for (const labels of [selector.matchLabels, service.selector, policy.podSelector.matchLabels, monitor.selector.matchLabels]) {
      assert.deepEqual(labels, template.metadata.labels);
    }
    for (const name of [service.ports[0].targetPort, monitor.podMetricsEndpoints[0].port, ...policy.ingress.map((rule) => rule.ports[0].port)]) {
      assert.ok(name in ports, name);
    }
    for (const probe of [container.livenessProbe, container.readinessProbe]) assert.ok(probe.httpGet.port in ports);
  },

  "several behind one engine: no journal, the key where the configuration says, and one at a time": async (world) => {
    await rendered(world);
    const copy = world.file("kubernetes-replicas");
    cpSync(path.join(TREE, "deploy/kubernetes-replicas"), copy, { recursive: true });
    for (const [name, text] of [["cluster.key", "k".repeat(48)], ["password", "p"]]) writeFileSync(path.join(copy, name), text);
    const documents = documentsOf(await must("kubectl", "kustomize", copy));
    for (const document of documents.filter(({ kind }) => kind !== "Secret")) checkManifest(document);
    assert.deepEqual(openAdmin(documents), []);
    assert.deepEqual(documents.filter(({ kind }) => kind === "PersistentVolumeClaim"), []);
    const { replicas, strategy, template: { spec: { containers: [container], volumes, terminationGracePeriodSeconds }, metadata } } = named(documents, "Deployment").spec;
    assert.deepEqual([replicas > 1, strategy.type, strategy.rollingUpdate.maxUnavailable], [true, "RollingUpdate", 0]);
    assert.deepEqual(named(documents, "PodDisruptionBudget").spec.selector.matchLabels, metadata.labels);
    const settings = JSON.parse(named(documents, "ConfigMap").data["armgate.json"].replace(/^\s*\/\/.*$/gm, ""));
    assert.ok(terminationGracePeriodSeconds > seconds(settings.drain_delay) + seconds(settings.drain_max) + 5);
    assert.ok(container.readinessProbe.periodSeconds * container.readinessProbe.failureThreshold < seconds(settings.drain_delay));
    const places = Object.fromEntries(container.volumeMounts.map(({ name, mountPath }) => [name, mountPath]));
    assert.deepEqual(Object.keys(places).sort(), volumes.map(({ name }) => name).sort());
    const [{ secret }] = volumes.filter(({ name }) => name === "cluster");
    // The policy lets armgate to each server of the engine.
    const [, servers] = /^postgres:\/\/(?:[^@/]*@)?([^/?]+)/.exec(settings.cluster.engine);
    const open = named(documents, "NetworkPolicy").spec.egress.flatMap(({ ports }) => ports.map(({ port }) => port));
    for (const server of servers.split(",")) {
      const port = Number(/:([0-9]+)$/.exec(server)?.[1] ?? 5432);
      assert.ok(open.includes(port), `${server}: the policy lets nobody to port ${port}`);
    }
    assert.equal(settings.cluster.key_file, path.join(places.cluster, secret.items[0].path));
    const made = documents.find(({ kind, metadata: { name } }) => kind === "Secret" && name === secret.secretName);
    assert.deepEqual(Object.keys(made.data).sort(), ["cluster.key", "password"]);
    assert.equal(container.env.find(({ name }) => name === "PGPASSWORD").valueFrom.secretKeyRef.name, secret.secretName);
    const file = world.file("replicas.json");
    writeFileSync(file, named(documents, "ConfigMap").data["armgate.json"]);
    const checked = await armgate(world, "check", "--config", file, "--output", "json");
    assert.deepEqual(JSON.parse(checked.stdout).faults.filter(({ pointer }) => !pointer.startsWith("/ca/") && pointer !== "/cluster/key_file"), []);
  },

  "no example opens the admin pages to a network without a policy that says who may come": async (world) => {
    const image = settingsIn({ data: { "armgate.json": readFileSync(path.join(TREE, "conf/image/armgate.json"), "utf8") } });
    const single = await rendered(world);
    const sidecar = documentsOf(readFileSync(path.join(KUBERNETES, "cluster-autoscaler-sidecar.yaml"), "utf8"));
    for (const documents of [single, sidecar]) assert.deepEqual(openAdmin(documents, image), []);
    // The test would see it.
    assert.deepEqual(openAdmin(single.filter(({ kind }) => kind !== "NetworkPolicy"), image), ["armgate: 0.0.0.0:9478"]);
    const bare = structuredClone(sidecar);
    named(bare, "Deployment").spec.template.spec.initContainers[0].volumeMounts.pop();
    assert.deepEqual(openAdmin(bare, image), ["cluster-autoscaler: 0.0.0.0:9478"]);
    // What a document has one run publishes it on this machine alone.
    for (const name of ["README.md", ...readdirSync(path.join(TREE, "docs")).filter((one) => one.endsWith(".md")).map((one) => `docs/${one}`)]) {
      const text = readFileSync(path.join(TREE, name), "utf8");
      for (const [published] of text.matchAll(/(?<=\s(?:-p|--publish) )\S*:?9478\b/g)) assert.match(published, /^127\.0\.0\.1:/, name);
    }
  },

  "the sidecar's pod shares its authority with armgate alone, and its tool finds armgate": async (world) => {
    const documents = documentsOf(readFileSync(path.join(KUBERNETES, "cluster-autoscaler-sidecar.yaml"), "utf8"));
    const { initContainers: [gateway], containers: [tool], volumes, securityContext } = named(documents, "Deployment").spec.template.spec;
    const configuration = named(documents, "ConfigMap");
    const file = world.file("sidecar.json");
    writeFileSync(file, configuration.data["armgate.json"]);
    const checked = await armgate(world, "check", "--config", file, "--output", "json");
    assert.deepEqual(JSON.parse(checked.stdout).faults.filter(({ pointer }) => !pointer.startsWith("/ca/")), []);
    const { listen, ca } = settingsIn(configuration);
    const variables = Object.fromEntries(tool.env.map(({ name, value }) => [name, value]));
    assert.equal(new URL(variables.HTTPS_PROXY).host, listen.proxy);
    assert.deepEqual([gateway.restartPolicy, securityContext.fsGroup], ["Always", gateway.securityContext.runAsGroup]);
    const [own, settings, shared] = volumes;
    assert.ok(own.secret && settings.configMap.name === configuration.metadata.name && shared.configMap);
    assert.deepEqual(gateway.volumeMounts.map(({ name, mountPath }) => [name, mountPath]), [[own.name, ca.directory], [settings.name, "/etc/armgate"]]);
    for (const probe of [gateway.startupProbe, gateway.livenessProbe]) assert.deepEqual(probe.exec.command, ["/usr/bin/armgate", "status"]);
    assert.deepEqual(tool.volumeMounts.map(({ name, mountPath }) => [name, mountPath]), [[shared.name, variables.SSL_CERT_DIR]]);
  },

  "dashboard and alerts ask only for what /metrics tells, and promtool takes all of it": async (world) => {
    const admin = await freePort();
    const { gateway } = await startWithScaleSet(world, "0", { listen: { admin: `127.0.0.1:${admin}` } });
    assert.equal((await curl(world, gateway, PATH)).status, 200);
    assert.equal((await curl(world, gateway, PATH, { args: sending("PATCH", { tags: { a: "1" } }) })).status, 200);
    const fails = ["x-sim-operation-ms: 100", "x-sim-operation-result: Failed"];
    assert.equal((await curl(world, gateway, PATH, { args: sending("PATCH", { sku: { capacity: 2 } }, ...fails) })).status, 200);
    // Whoever waits for it has armgate look whether it has ended.
    assert.equal((await curl(world, gateway, PATH, { user: "next", args: sending("PATCH", { sku: { capacity: 3 } }) })).status, 200);
    const metrics = () => must("curl", "--silent", `http://127.0.0.1:${admin}/metrics`);
    await waitFor("the failure to be seen", async () => (await metrics()).includes('result="Failed"'));
    const text = await metrics();
    const told = Object.keys(samples(text));
    let count = 0;
    for (const { of, expr } of expressions().filter((one) => !isOfCluster(one))) {
      for (const { name, labels } of asked(expr)) {
        ++count;
        assert.ok(told.some((sample) => sample.split("{")[0] === name), `${of}: nobody tells ${name}`);
        for (const [label, value] of labels) {
          assert.ok(told.some((sample) => sample.startsWith(`${name}{`) && sample.includes(`${label}="${value}"`)), `${of}: ${name} has no ${label} "${value}"`);
        }
      }
    }
    assert.ok(count > 20, `${count} metrics are named`);

    const checked = await run("promtool", ["check", "metrics"], { input: text });
    assert.equal(checked.code, 0, checked.stdout + checked.stderr);
    await must("promtool", "check", "rules", ALERTS);
    const recorded = expressions().map(({ expr }, number) => `      - {record: "x:${number}", expr: ${JSON.stringify(expr)}}\n`).join("");
    writeFileSync(world.file("recorded.yaml"), `groups:\n  - name: all\n    rules:\n${recorded}`);
    await must("promtool", "check", "rules", world.file("recorded.yaml"));
  },

  "what they ask of a cluster a replica tells, and promtool takes it": async (world) => {
    const [sim, postgres] = await Promise.all([startSim(world), Postgres.make(world)]);
    const cluster = await Cluster.start(world, sim, postgres.url, { count: 1, admin: true });
    const { text } = await cluster.askAdmin(0, "GET", "/metrics");
    const names = expressions().filter(isOfCluster).flatMap(({ expr }) => asked(expr)).map(({ name }) => name);
    assert.ok(names.length >= 4);
    for (const name of names) assert.ok(Object.keys(samples(text)).some((sample) => sample.split("{")[0] === name), `nobody tells ${name}`);
    const checked = await run("promtool", ["check", "metrics"], { input: text });
    assert.equal(checked.code, 0, checked.stdout + checked.stderr);
  },

  "each alert is raised when its time has come, and none while all is well": async (world) => {
    const directory = world.file("promtool");
    mkdirSync(directory);
    const cases = readFileSync(new URL("alerts_test.yaml", import.meta.url), "utf8").replace("[RULES]", `[${ALERTS}]`);
    writeFileSync(path.join(directory, "test.yaml"), cases);
    await must("promtool", "test", "rules", path.join(directory, "test.yaml"));
  },
};
