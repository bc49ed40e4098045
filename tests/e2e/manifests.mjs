// Kubernetes manifests held against the schemas of kubernetes-models, and PodMonitors against our own.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { modules } from "./sdk.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const load = (name) => createRequire(path.join(modules, "package.json"))(name);

// The documents of a file; Kubernetes reads YAML 1.1, where 0440 is octal.
export function documentsOf(text) {
  const { parseAllDocuments } = load("yaml");
  return parseAllDocuments(text, { version: "1.1" }).map((document) => {
    assert.deepEqual(document.errors, []);
    return document.toJS();
  });
}

// The same value, and in `seen` the paths of the members that somebody has asked for.
function watched(value, seen, at = "") {
  if (typeof value !== "object" || value === null) return value;
  return new Proxy(value, {
    get(target, key) {
      if (typeof key === "symbol") return target[key];
      seen.add(`${at}/${key}`);
      return watched(target[key], seen, `${at}/${key}`);
    },
  });
}

function* pathsIn(value, at = "") {
  if (typeof value !== "object" || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    yield `${at}/${key}`;
    yield* pathsIn(member, `${at}/${key}`);
  }
}

function modelOf({ apiVersion, kind }) {
  const models = load(`kubernetes-models/${apiVersion.replace(/^(networking)\//, "$1.k8s.io/")}`);
  assert.ok(models[kind], `${apiVersion} has no ${kind}`);
  return models[kind];
}

// Throws unless the document is one of its kind. The schemas take members that they do not know, but never look at them.
export function checkManifest(document) {
  if (document.kind === "PodMonitor") {
    const Ajv = load("ajv").default;
    const ajv = new Ajv({ allErrors: true });
    const isGood = ajv.compile(JSON.parse(readFileSync(path.join(here, "pod_monitor.schema.json"), "utf8")));
    if (!isGood(document)) throw new Error(ajv.errorsText(isGood.errors));
    return;
  }
  const Model = modelOf(document);
  const seen = new Set(["/apiVersion", "/kind"]);
  Model.prototype.validate.call(watched(new Model(document), seen));
  const unknown = [...pathsIn(document)].filter((member) => !seen.has(member));
  if (unknown.length > 0) throw new Error(`${document.kind}: the schema knows no ${unknown.join(", ")}`);
}
