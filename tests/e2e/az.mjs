// The Azure CLI as a client. It logs in first, so there is a simulated login beside the simulated ARM.
//
// Debian's azure-cli and its SDK packages do not match: under the default profile the network and vmss commands die with
// AttributeError, under 2020-09-01-hybrid those that are used here work.
import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { ARM_HOST } from "./harness.mjs";
import { launch, tokenOf } from "./tools.mjs";

export const LOGIN_HOST = "login.microsoftonline.com";
const TENANT = "22222222-2222-2222-2222-222222222222";
const PRINCIPAL = "33333333-3333-3333-3333-333333333333";

const json = (value) => ({ headers: ["Content-Type", "application/json"], body: JSON.stringify(value) });

function loginAnswer({ url }) {
  const base = `https://${LOGIN_HOST}/${TENANT}`;
  if (url.includes("/.well-known/openid-configuration")) {
    return json({ issuer: `${base}/v2.0`, authorization_endpoint: `${base}/oauth2/v2.0/authorize`, token_endpoint: `${base}/oauth2/v2.0/token`,
                  device_authorization_endpoint: `${base}/oauth2/v2.0/devicecode` });
  }
  if (url.includes("/token")) return json({ token_type: "Bearer", expires_in: 3600, ext_expires_in: 3600, access_token: tokenOf(PRINCIPAL) });
  return { status: 404 };
}

// Where it is, and in `config` what a gateway's configuration needs, so that the login is reached as well.
export async function startLogin(world) {
  const login = await world.startRecorder(loginAnswer, { name: LOGIN_HOST });
  const hosts = { [LOGIN_HOST]: { address: `127.0.0.1:${login.port}`, ca_file: login.caFile } };
  return { ...login, config: { intercept: [ARM_HOST, LOGIN_HOST], hosts } };
}

const environmentOf = (world, name) => ({ AZURE_CONFIG_DIR: world.file(`az-${name}`), AZURE_CORE_COLLECT_TELEMETRY: "0", AZURE_CORE_NO_COLOR: "1" });

// One command; not an error if it fails.
export async function az(world, gateway, way, name, ...words) {
  const done = await launch(world, gateway, way, name, ["/usr/bin/az", ...words, "--output", "json"], { env: environmentOf(world, name) });
  return { ok: done.code === 0, stale: /\(PreconditionFailed\)|ArmgateStaleWrite|ArmgateConflict/.test(done.stderr), stderr: done.stderr };
}

const ATTEMPTS_MAX = 10;

// The command again and again until it is not refused as stale; how often it was.
export async function insist(world, gateway, way, name, ...words) {
  for (let refused = 0; refused < ATTEMPTS_MAX; ++refused) {
    const done = await az(world, gateway, way, name, ...words);
    if (done.ok) return refused;
    assert.ok(done.stale, `az ${words.join(" ")}: ${done.stderr}`);
  }
  return assert.fail(`az ${words.join(" ")} was refused ${ATTEMPTS_MAX} times`);
}

// Signs `names` in: one of them really, the others with what that left on disk.
export async function signIn(world, gateway, way, names) {
  const must = async (...words) => {
    const done = await az(world, gateway, way, names[0], ...words);
    if (!done.ok) throw new Error(`az ${words.join(" ")}:\n${done.stderr}`);
  };
  await must("cloud", "set", "--name", "AzureCloud", "--profile", "2020-09-01-hybrid");
  await must("login", "--service-principal", "--username", PRINCIPAL, "--password", "secret", "--tenant", TENANT);
  for (const name of names.slice(1)) cpSync(world.file(`az-${names[0]}`), world.file(`az-${name}`), { recursive: true });
}
