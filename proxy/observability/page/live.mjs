// The live page: asks the service, and shows what it answers. Everything it knows is in `state`; show() draws it.
import { filtered, showDecisions, showTroubles } from "./decisions.mjs";
import { showPlots } from "./plots.mjs";
import { showQueues } from "./queue.mjs";
import { showSick } from "./sick.mjs";
import { age, make, short } from "./text.mjs";
import { askToUnlock, isLoopback } from "./unlock.mjs";

const ASK_STATUS_MS = 1000;
const ASK_DECISIONS_MS = 2000;
const ASK_RECENT_MS = 10_000;
const DECISIONS_SHOWN = 100;

const state = { status: null, rate: 0, recent: null, decisions: null, open: "", paused: false, failure: "" };
const at = (id) => document.getElementById(id);

// ---- showing ----

function showService() {
  const service = at("service");
  const { status, failure } = state;
  service.className = failure || status?.draining || status?.journal_writable === false ? "bad" : "";
  if (failure) service.textContent = `no answer from the service (${failure})${status ? "; what is below is old" : ""}`;
  else if (status) {
    service.textContent = `${status.version}, mode ${status.mode}, ${status.rules} rules, up ${age(status.up_ms)}` +
      (status.draining ? "; it ends and takes no new connections" : "") + (status.journal_writable === false ? "; the journal cannot be written, so no write is sent" : "");
  }
}

function showNumbers() {
  const { status, rate } = state;
  const of = (word) => status.writes.filter((write) => write.state === word).length;
  const number = (label, value, name = "") => make("li", { name }, make("b", { text: typeof value === "number" ? short(value) : value }), label);
  const { counts } = status;
  at("numbers").replaceChildren(
    number("requests/s", rate), number("run", of("runs"), of("runs") ? "runs" : ""), number("wait", of("waits"), of("waits") ? "waits" : ""), number("places kept", of("kept")),
    number("guarded", counts.guarded), number("merged", counts.merged), number("stale (412)", counts.stale), number("refused", counts.refused),
    number("sent again", counts.repeated), number("unanswered", counts.unanswered), number("failed", (status.results?.failed ?? 0) + (status.results?.canceled ?? 0)), number("connections", status.connections));
  document.title = of("waits") > 0 ? `(${of("waits")}) armgate` : "armgate";
}

function show() {
  showService();
  const focused = document.activeElement?.dataset?.row;
  if (state.status) {
    showNumbers();
    showSick(at("sick"), at("sick-tables"), state.status);
    showQueues(at("queues"), state.status, { open: state.open, onOpen: (write) => toggle(`write-${write.id}`),
                                             onUnlock: isLoopback(location.hostname) ? askToUnlock : null });
  }
  if (state.decisions) {
    const chosen = filtered(state.decisions.decisions, { text: at("filter-text").value, kind: at("filter-kind").value });
    at("filter-count").textContent = `${Math.min(chosen.length, DECISIONS_SHOWN)} of ${state.decisions.decisions.length}`;
    const options = { open: state.open, onOpen: toggle, now: state.decisions.now_ms };
    showDecisions(at("decisions"), chosen.slice(0, DECISIONS_SHOWN), options);
    showTroubles(at("clients"), "client", state.decisions.clients, options);
    showTroubles(at("resources"), "resource", state.decisions.resources, options);
  }
  if (focused) document.querySelector(`[data-row="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
}

function toggle(row) {
  state.open = state.open === row ? "" : row;
  show();
}

// ---- asking ----

async function ask(page) {
  const answer = await fetch(page, { cache: "no-store", signal: AbortSignal.timeout(5000) });
  if (!answer.ok) throw new Error(`the service answers ${answer.status}`);
  return answer.json();
}

// Asks every so often; not while nobody looks.
function repeat(page, everyMs, take) {
  const turn = async () => {
    if (!state.paused && !document.hidden) {
      try {
        take(await ask(page));
        state.failure = "";
      } catch (failure) {
        state.failure = failure.message;
        showService();
      }
    }
    setTimeout(turn, everyMs);
  };
  turn();
}

function takeStatus(status) {
  const now = performance.now();
  const before = state.before?.status.started === status.started ? state.before : null;
  state.rate = before ? (status.requests - before.status.requests) * 1000 / (now - before.now) : 0;
  state.before = { status, now };
  state.status = status;
  show();
}

function takeRecent(recent) {
  state.recent = recent;
  showPlots(at("plots"), recent);
}

function takeDecisions(decisions) {
  state.decisions = decisions;
  show();
}

// ---- settings and keys ----

function pause() {
  state.paused = !state.paused;
  at("pause").setAttribute("aria-pressed", String(state.paused));
  at("pause").textContent = state.paused ? "go on" : "pause";
}

function changeTheme() {
  const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "light" : "dark";
  try {
    localStorage.setItem("armgate-theme", document.documentElement.dataset.theme);
  } catch {
    // A browser may keep nothing for pages; the choice then ends with this one.
  }
}

function rememberedTheme() {
  try {
    return localStorage.getItem("armgate-theme");
  } catch {
    return null;
  }
}

function move(step) {
  const rows = [...document.querySelectorAll("[data-row]")];
  const here = rows.indexOf(document.activeElement);
  const next = rows[here < 0 ? (step > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, here + step))];
  next?.focus();
}

const KEYS = { j: () => move(1), k: () => move(-1), p: pause, t: changeTheme, "?": () => at("help-dialog").showModal(), "/": () => at("filter-text").focus() };

document.addEventListener("keydown", (event) => {
  const isTyping = event.target.closest("input, select, textarea, dialog");
  if (event.key === "Escape" && event.target === at("filter-text")) return event.target.blur();
  if (isTyping || event.ctrlKey || event.altKey || event.metaKey || !(event.key in KEYS)) return;
  event.preventDefault();
  KEYS[event.key]();
});
at("pause").addEventListener("click", pause);
at("theme").addEventListener("click", changeTheme);
at("help").addEventListener("click", KEYS["?"]);
at("filter").addEventListener("submit", (event) => event.preventDefault());
at("filter").addEventListener("input", show);

const theme = rememberedTheme();
if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
repeat("/status", ASK_STATUS_MS, takeStatus);
repeat("/decisions", ASK_DECISIONS_MS, takeDecisions);
repeat("/recent", ASK_RECENT_MS, takeRecent);
