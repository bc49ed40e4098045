// Runs the Azure SDK for JavaScript as processes of their own: js/client.mjs, with the environment a user would set.
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { run } from "./harness.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
export const modules = path.resolve(here, "../../build/e2e-js");

// Installs what js/package-lock.json says into build/, once for each lock.
export async function installSdk() {
  const source = path.join(here, "js");
  const wanted = createHash("sha256").update(readFileSync(path.join(source, "package-lock.json"))).digest("hex");
  const stamp = path.join(modules, "installed");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  mkdirSync(modules, { recursive: true });
  for (const name of ["package.json", "package-lock.json", ".npmrc"]) copyFileSync(path.join(source, name), path.join(modules, name));
  console.log("installing the Azure SDK for JavaScript");
  const extra = process.env.NODE_EXTRA_CA_CERTS ? { NODE_EXTRA_CA_CERTS: process.env.NODE_EXTRA_CA_CERTS } : {};
  const done = await run("npm", ["ci", "--prefix", modules, "--no-progress"], { env: extra, seconds: 600 });
  if (done.code !== 0) throw new Error(`npm ci failed:\n${done.stderr}`);
  writeFileSync(stamp, wanted);
}

// Runs one command of js/client.mjs. `through` is a gateway, or a sim to go there directly. Gives what the command printed.
export async function sdk(through, client, command, settings) {
  const isGateway = "configFile" in through;
  const env = { NODE_EXTRA_CA_CERTS: through.caFile, ARMGATE_E2E_MODULES: modules };
  if (isGateway) env.HTTPS_PROXY = `http://${client}:x@127.0.0.1:${through.port}`;
  const endpoint = isGateway ? undefined : `https://localhost:${through.port}`;
  const done = await run(process.execPath, [path.join(here, "js", "client.mjs"), command, JSON.stringify({ client, endpoint, ...settings })],
                         { env, seconds: 200 });
  if (done.code !== 0) throw new Error(`${client}: ${command} ended with ${done.code}\n${done.stdout}\n${done.stderr}`);
  return JSON.parse(done.stdout);
}
