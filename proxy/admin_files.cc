#include "proxy/admin_files.h"

#include <algorithm>
#include <array>

namespace armgate {
namespace {

constexpr std::string_view kPage = R"html(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>armgate</title>
<link rel="stylesheet" href="/live.css">
<script src="/live.js" defer></script>
</head>
<body>
<header>
<h1>armgate</h1>
<p id="service" aria-live="polite">asking the service…</p>
</header>
<main>
<ul id="numbers"></ul>
<h2>Who runs, and who waits for it</h2>
<div id="queues"></div>
</main>
<footer>
<p>Every second from <a href="/status">/status</a>; the counters are at <a href="/metrics">/metrics</a>. What will not end is
released by <code>armgate unlock RESOURCE</code>.</p>
<noscript><p>This page needs JavaScript; <code>armgate top</code> shows the same in a terminal.</p></noscript>
</footer>
</body>
</html>
)html";

constexpr std::string_view kStyle =
    R"css(:root { color-scheme: light dark; --quiet: #6b7280; --line: #d1d5db66; --runs: #15803d; --waits: #b45309; --bad: #b91c1c; }
@media (prefers-color-scheme: dark) { :root { --quiet: #9ca3af; --runs: #4ade80; --waits: #fbbf24; --bad: #f87171; } }
body { font: 15px/1.45 system-ui, sans-serif; margin: 0 auto; max-width: 72rem; padding: 1rem 1.25rem; }
h1 { font-size: 1.4rem; margin: 0; }
h2 { font-size: 1.05rem; margin: 1.5rem 0 .5rem; }
p { margin: .25rem 0; }
#service, footer { color: var(--quiet); }
#service.bad { color: var(--bad); }
#numbers { display: flex; flex-wrap: wrap; gap: .5rem 2rem; list-style: none; margin: 1rem 0; padding: 0; }
#numbers b { display: block; font-size: 1.5rem; font-variant-numeric: tabular-nums; }
.queue { border: 1px solid var(--line); border-radius: .5rem; margin: .5rem 0; overflow-x: auto; padding: .25rem .75rem; }
table { border-collapse: collapse; width: 100%; }
td { padding: .2rem .75rem .2rem 0; vertical-align: top; white-space: nowrap; }
td.what { font-family: ui-monospace, monospace; font-size: .85rem; overflow-wrap: anywhere; white-space: normal; width: 100%; }
td.time { font-variant-numeric: tabular-nums; text-align: right; }
.runs { color: var(--runs); font-weight: 600; }
.waits { color: var(--waits); }
.kept { color: var(--quiet); }
footer { border-top: 1px solid var(--line); font-size: .85rem; margin-top: 2rem; padding-top: .5rem; }
)css";

constexpr std::string_view kScript = R"js("use strict";
const EVERY_MS = 1000;
let before = null;  // the last status, and when it came

function make(tag, text, name) {
  const element = document.createElement(tag);
  element.textContent = text;  // never as HTML: clients choose their names
  if (name) element.className = name;
  return element;
}

function time(ms) {
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds}.${Math.floor(ms % 1000 / 100)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor(seconds % 3600 / 60)} min`;
}

function number(label, value) {
  const item = document.createElement("li");
  item.append(make("b", value), label);
  return item;
}

// The write that it waits for in the end, itself if it waits for none that is shown.
function rootOf(write, byId) {
  for (let at = write, steps = 0; ; at = byId.get(at.behind), ++steps) {
    if (!at.behind || !byId.has(at.behind) || steps > byId.size) return at;
  }
}

function queuesOf(writes) {
  const byId = new Map(writes.map((write) => [write.id, write]));
  const queues = new Map();
  for (const write of writes) {
    const root = rootOf(write, byId);
    if (!queues.has(root)) queues.set(root, []);
    if (write !== root) queues.get(root).push(write);
  }
  for (const queue of queues.values()) queue.sort((a, b) => a.ahead - b.ahead || a.id - b.id);
  return [...queues].sort(([, a], [, b]) => b.length - a.length);
}

function row(write) {
  const line = document.createElement("tr");
  line.append(make("td", write.phase ?? write.state, write.state), make("td", time(write.since_ms), "time"), make("td", write.client),
    make("td", write.what, "what"));
  return line;
}

function show(status, now) {
  const service = document.getElementById("service");
  service.className = status.draining ? "bad" : "";
  service.textContent = `${status.version}, mode ${status.mode}, ${status.rules} rules, up ${time(status.up_ms)}` +
    (status.draining ? "; it ends and takes no new connections" : "");
  const since = before && before.status.started === status.started ? before : null;
  const rate = since ? Math.round((status.requests - since.status.requests) * 1000 / (now - since.now)) : 0;
  const of = (state) => status.writes.filter((write) => write.state === state).length;
  document.getElementById("numbers").replaceChildren(
    number("requests a second", rate), number("run", of("runs")), number("wait", of("waits")), number("places kept", of("kept")),
    number("guarded", status.counts.guarded), number("stale (412)", status.counts.stale), number("refused", status.counts.refused),
    number("sent again", status.counts.repeated), number("unanswered", status.counts.unanswered),
    number("connections", status.connections));
  const queues = queuesOf(status.writes).map(([root, waiting]) => {
    const table = document.createElement("table");
    table.append(row(root), ...waiting.map(row));
    const box = make("div", "", "queue");
    box.append(table);
    return box;
  });
  if (status.writes_left_out > 0) queues.push(make("p", `and ${status.writes_left_out} more`));
  if (queues.length === 0) queues.push(make("p", "No write runs or waits.", "kept"));
  document.getElementById("queues").replaceChildren(...queues);
  document.title = of("waits") > 0 ? `(${of("waits")}) armgate` : "armgate";
  before = { status, now };
}

async function ask() {
  try {
    const answer = await fetch("/status", { cache: "no-store", signal: AbortSignal.timeout(5000) });
    if (!answer.ok) throw new Error(`the service answers ${answer.status}`);
    show(await answer.json(), performance.now());
  } catch (failure) {
    const service = document.getElementById("service");
    service.className = "bad";
    service.textContent = `no answer from the service (${failure.message}); what is below is old`;
  }
  setTimeout(ask, EVERY_MS);
}

ask();
)js";

constexpr std::array<AdminFile, 3> kFiles{{
    {"/", "text/html; charset=utf-8", kPage},
    {"/live.css", "text/css; charset=utf-8", kStyle},
    {"/live.js", "text/javascript; charset=utf-8", kScript},
}};

}  // namespace

const AdminFile* find_admin_file(std::string_view path) {
  const auto* const found =
      std::find_if(kFiles.begin(), kFiles.end(), [&](const AdminFile& file) { return file.path == path; });
  return found == kFiles.end() ? nullptr : found;
}

}  // namespace armgate
