// Releasing what will not end: only on this machine, only after it was confirmed, and with a name for the service's log.
import { age, brief, count } from "./text.mjs";

// Whether the service would take it from here: it does from loopback only.
export const isLoopback = (hostname) => hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);

export function say(text) {
  document.getElementById("message-text").textContent = text;
  document.getElementById("message-dialog").showModal();
}

// "/subscriptions/..." of "PUT /subscriptions/...", as it stands in a URL.
export const pathOf = (what) => what.slice(what.indexOf(" ") + 1).split("/").map(encodeURIComponent).join("/");

async function release(write, who) {
  try {
    const answer = await fetch(`/unlock${pathOf(write.what)}`, { method: "POST", headers: { "x-armgate-operator": who }, cache: "no-store" });
    const body = await answer.text();
    if (!answer.ok) return say(`Nothing was released: ${body.trim()}`);
    const told = JSON.parse(body);
    const released = told.released.map((one) => `${brief(one.what)} of ${one.client}, after ${age(one.held_ms)}`).join("; ");
    say(`Released: ${released}.${told.on_its_way ? " Another write is on its way to ARM and still has it." : ""}`);
  } catch (failure) {
    say(`No answer from the service (${failure.message}); whether it was released shows in the queue.`);
  }
}

// The claims behind it, itself not counted.
export const waitingFor = (write, writes) => {
  const behind = new Set([write.id]);
  for (let before = 0; before !== behind.size;) {
    before = behind.size;
    for (const one of writes) if (behind.has(one.behind)) behind.add(one.id);
  }
  return behind.size - 1;
};

export function askToUnlock(write, writes) {
  if (!write) return say("It has ended meanwhile.");
  const dialog = document.getElementById("unlock-dialog");
  const waiting = waitingFor(write, writes);
  document.getElementById("unlock-what").textContent = write.what;
  document.getElementById("unlock-whose").textContent = `of ${write.client}, since ${age(write.since_ms)}. ` +
    (waiting > 0 ? `${count(waiting, "write", "writes")} behind it would go on at once.` : "Nobody waits for it.");
  document.getElementById("unlock-sure").checked = false;
  dialog.returnValue = "";
  dialog.onclose = () => {
    if (dialog.returnValue === "unlock") release(write, document.getElementById("unlock-who").value);
  };
  dialog.showModal();
}
