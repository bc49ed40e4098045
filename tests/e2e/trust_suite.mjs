// armgate ca trust and untrust with the system's own tool. All of it happens in a mount namespace of its own, where the store is a copy:
// the machine's stays as it is. Where that cannot be had (no root, a container without the right) nothing is tested, and said so.
import assert from "node:assert/strict";
import { existsSync, mkdirSync } from "node:fs";
import path from "node:path";
import { ARM_HOST, run } from "./harness.mjs";

const STORE = ["/etc/ssl", "/usr/local/share/ca-certificates"];
const HOOKS = "/etc/ca-certificates/update.d";

// A hook of the tool, as Java's store has one, that only notes what it is told. The others would touch what is no copy.
const PRELUDE = `set -e
mount --make-rprivate /
mount -t tmpfs none "$SCRATCH"
for directory in ${STORE.join(" ")}; do
  mkdir -p "$SCRATCH$directory"
  cp -a $directory/. "$SCRATCH$directory/"
  mount --bind "$SCRATCH$directory" $directory
done
mkdir "$SCRATCH/hooks"
printf '#!/bin/sh\\ncat >> "$SCRATCH/told"\\n' > "$SCRATCH/hooks/note"
chmod 755 "$SCRATCH/hooks/note"
mount --bind "$SCRATCH/hooks" ${HOOKS}
`;

async function inCopiedStore(world, script, env) {
  const ended = await run("unshare", ["--mount", "bash", "-c", PRELUDE + script], { env: { HOME: world.directory, ...env } });
  assert.equal(ended.code, 0, `${ended.stdout}\n${ended.stderr}`);
  return ended.stdout.toString();
}

async function canCopy() {
  if (![...STORE, HOOKS, "/usr/sbin/update-ca-certificates"].every((file) => existsSync(file))) return false;
  return (await run("unshare", ["--mount", "bash", "-c", "mount --make-rprivate / && mount -t tmpfs none /mnt"])).code === 0;
}

export const tests = {
  "what the system trusts, a program with no certificate setting trusts, and forgets when it is told to": async (world) => {
    if (!(await canCopy())) return console.log("        (not tested: no Debian store, or no right to copy it)");
    const upstream = await world.startRecorder(() => ({ body: "from ARM" }));
    const gateway = await world.startGateway(upstream);
    const scratch = world.file("store");
    mkdirSync(scratch);
    const env = { SCRATCH: scratch, ARMGATE: path.join(world.bin, "armgate"), CA: path.dirname(gateway.caFile),
                  CURL: `curl --silent --proxy http://t:x@127.0.0.1:${gateway.port} https://${ARM_HOST}/subscriptions` };
    const printed = await inCopiedStore(world, `
      if $CURL; then echo "trusted before"; exit 1; fi
      "$ARMGATE" ca trust --directory "$CA"
      "$ARMGATE" ca show --directory "$CA" | grep "system store: trusts it, by /usr/local/share/ca-certificates/armgate-"
      $CURL; echo
      openssl verify -CApath /etc/ssl/certs "$CA/intermediate.pem"
      "$ARMGATE" ca trust --directory "$CA" | grep "trusted already"
      "$ARMGATE" ca untrust --directory "$CA"
      if $CURL; then echo "trusted still"; exit 1; fi
      if openssl verify -CApath /etc/ssl/certs "$CA/intermediate.pem" 2>&1; then echo "trusted by its link"; exit 1; fi
      echo "left: $(ls /etc/ssl/certs ${STORE[1]} | grep -c armgate)"
      echo "hooks: $(grep armgate "$SCRATCH/told" | cut -c1 | tr -d '\\n')"
      "$ARMGATE" ca trust --directory "$CA" > "$SCRATCH/out"
      "$ARMGATE" ca init --force --directory "$CA"
      "$ARMGATE" ca trust --directory "$CA" | grep -A1 "other authorities"
      "$ARMGATE" ca untrust --all
      echo "left at last: $(ls /etc/ssl/certs ${STORE[1]} | grep -c armgate)"
    `, env);
    assert.match(printed, /from ARM/);
    assert.match(printed, /intermediate\.pem: OK/);
    assert.match(printed, /left: 0\n/);
    assert.match(printed, /hooks: \+-\n/, "what hooks keep, Java's store for one, must forget it too");
    assert.match(printed, /other authorities/);
    assert.match(printed, /left at last: 0\n/);
  },
};
