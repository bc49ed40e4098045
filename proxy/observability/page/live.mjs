// The live page: asks the service, and shows what it answers. Everything it knows is in `state`; show() draws it.
import { showBudgets } from "./budgets.mjs";
import { filtered, showDecisions, showTroubles } from "./decisions.mjs";
import { shortHistory, showHistory } from "./history.mjs";
import { showPlots } from "./plots.mjs";
import { askOnce, sentenceOf, showFailures } from "./polls.mjs";
import { showQueues } from "./queue.mjs";
import { showSick } from "./sick.mjs";
import { age } from "./text.mjs";
import { askToUnlock, isLoopback, pathOf } from "./unlock.mjs";
import { showNumbers, showVerdict } from "./verdict.mjs";

const ASK_STATUS_MS = 1000;
const ASK_DECISIONS_MS = 2000;
const ASK_HISTORY_MS = 5000;
const ASK_RECENT_MS = 10_000;
const DECISIONS_SHOWN = 100;
const HISTORY_SHOWN = 20;
const SHORT_HISTORY = 5;

const state = { status: null, rate: 0, recent: null, decisions: null, history: null, of: { resource: "", writes: null }, open: "", paused: false, failures: {}, known: new Set() };
const at = (id) => document.getElementById(id);

// ---- showing ----

function showService() {
  const { status, failures, known, paused } = state;
  const failure = failures["/status"];
  const words = [];
  if (failure) words.push(sentenceOf(failure, { of: "the service", isKnown: known.has("/status") }));
  else if (!status) words.push("asking the service…");
  else words.push(`${status.version}, mode ${status.mode}, ${status.rules} rules, up ${age(status.up_ms).replace(/\.\d s$/, " s")}`);
  if (paused) words.push("paused");
  const service = at("service");
  service.className = failure ? "bad" : "";
  if (service.textContent !== words.join("; ")) service.textContent = words.join("; ");
  showFailures(document.querySelectorAll("[data-of]"), failures, known);
}

// The last writes of the resource whose explanation is open, as soon as they are known.
function historyOf(resource) {
  if (state.of.resource !== resource) {
    state.of = { resource, writes: null };
    askAbout(resource);
  }
  return state.of.writes ? shortHistory(state.of.writes) : "";
}

async function askAbout(resource) {
  const told = await ask(`/history${pathOf(resource)}?last=${SHORT_HISTORY}`).catch(() => null);
  if (state.of.resource !== resource || !told) return;
  state.of.writes = told.writes;
  show();
}

function show() {
  showService();
  const { status, decisions, open } = state;
  const focused = document.activeElement?.dataset?.row;
  const options = { open, history: historyOf, mayUnlock: isLoopback(location.hostname) };
  if (status) {
    const { waits } = status.totals;
    document.title = waits > 0 ? `(${waits}) armgate` : "armgate";
    showVerdict(at("verdict"), status);
    showNumbers(at("now"), at("since"), state);
    showQueues(at("queues"), status, options);
    showSick(at("sick"), at("sick-tables"), status);
    showBudgets(at("budgets"), at("budget-table"), status.budgets ?? [], open);
  }
  if (decisions) {
    const filter = { text: at("filter-text").value, kind: at("filter-kind").value };
    const chosen = filtered(decisions.decisions, filter);
    const isFiltered = filter.text !== "" || filter.kind !== "";
    at("filter-count").textContent = isFiltered || chosen.length > DECISIONS_SHOWN ? `${Math.min(chosen.length, DECISIONS_SHOWN)} of ${decisions.decisions.length}` : "";
    showDecisions(at("decisions"), chosen.slice(0, DECISIONS_SHOWN), { ...options, now: decisions.now_ms, isFiltered });
    at("trouble").hidden = decisions.clients.length + decisions.resources.length === 0;
    showTroubles(at("clients"), "client", decisions.clients, options);
    showTroubles(at("resources"), "resource", decisions.resources, options);
  }
  if (state.history) showHistory(at("history"), state.history.writes, open);
  // A write whose place in line has changed may stand in another lane now.
  if (focused && document.activeElement?.dataset?.row !== focused) document.querySelector(`[data-row="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
}

function toggle(row) {
  state.open = state.open === row ? "" : row;
  state.of = { resource: "", writes: null };
  show();
}

// ---- asking ----

async function ask(page) {
  const answer = await fetch(page, { cache: "no-store", signal: AbortSignal.timeout(5000) });
  if (!answer.ok) throw new Error(`it answers ${answer.status}`);
  return answer.json();
}

// Asks every so often; not while nobody looks.
function repeat(page, everyMs, take, query = "") {
  const round = async () => {
    if (!state.paused && !document.hidden) {
      await askOnce(state.failures, page, () => ask(page + query), (answer) => {
        state.known.add(page);
        take(answer);
      });
      showService();
    }
    setTimeout(round, everyMs);
  };
  round();
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

function takeHistory(history) {
  state.history = history;
  show();
}

// ---- settings and keys ----

function pause() {
  state.paused = !state.paused;
  at("pause").setAttribute("aria-pressed", String(state.paused));
  at("pause").textContent = state.paused ? "go on" : "pause";
  showService();
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
  const rows = [...document.querySelectorAll("[data-row]")].filter((row) => row.checkVisibility?.() ?? true);
  const here = rows.indexOf(document.activeElement);
  const next = rows[here < 0 ? (step > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, here + step))];
  next?.focus();
}

function close() {
  if (state.open) toggle(state.open);
}

const KEYS = { j: () => move(1), k: () => move(-1), p: pause, t: changeTheme, "?": () => at("help-dialog").showModal(), "/": () => at("filter-text").focus(), Escape: close };

document.addEventListener("keydown", (event) => {
  const isTyping = event.target.closest("input, select, textarea, dialog");
  if (event.key === "Escape" && event.target === at("filter-text")) return event.target.blur();
  if (isTyping || event.ctrlKey || event.altKey || event.metaKey || !(event.key in KEYS)) return;
  event.preventDefault();
  KEYS[event.key]();
});
// Rows come and go; who listens stays.
document.addEventListener("click", (event) => {
  const row = event.target.closest("[data-row]");
  const unlock = event.target.closest("[data-unlock]");
  if (row) toggle(row.dataset.row);
  if (unlock) askToUnlock(state.status.writes.find((write) => String(write.id) === unlock.dataset.unlock), state.status.writes);
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
repeat("/history", ASK_HISTORY_MS, takeHistory, `?last=${HISTORY_SHOWN}`);
