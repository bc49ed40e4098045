// Texts and elements. Nothing is ever put in as HTML: clients choose their names.

// What would turn the text around it, or not be seen, is seen.
export const visible = (text) => String(text).replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, "\ufffd");

export function make(tag, { text, name, title, ...attributes } = {}, ...children) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = visible(text);
  if (name) element.className = name;
  if (title) element.title = visible(title);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

// A part of a picture; the page's own empty one knows the namespace.
export function draw(tag, attributes = {}, ...children) {
  const element = document.createElementNS(document.getElementById("empty-picture").namespaceURI, tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

const keyOf = (node) => node.dataset?.key ?? "";
const isSame = (there, wanted) => there?.nodeType === wanted.nodeType && there.nodeName === wanted.nodeName && keyOf(there) === keyOf(wanted);

// Makes what is in `place` like `wanted`, and touches nothing that is so already: who has the focus, selects a text or points at
// something is not disturbed by the next look. What has a key is known again wherever it stands.
export function fill(place, ...wanted) {
  const keys = new Set(wanted.map(keyOf));
  const known = new Map();
  for (const node of [...place.childNodes]) {
    if (keyOf(node) === "") continue;
    if (keys.has(keyOf(node))) known.set(keyOf(node), node);
    else node.remove();
  }
  let at = place.firstChild;
  for (const node of wanted) {
    const same = known.get(keyOf(node));
    if (same && same !== at) place.insertBefore(same, at);
    else if (isSame(at, node)) at = at.nextSibling;
    else place.insertBefore(node, at);
    if (node.parentNode !== place) become(same ?? (at ? at.previousSibling : place.lastChild), node);
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

function become(there, wanted) {
  if (there.nodeType !== Node.ELEMENT_NODE) {
    if (there.data !== wanted.data) there.data = wanted.data;
    return;
  }
  for (const { name } of [...there.attributes]) if (!wanted.hasAttribute(name)) there.removeAttribute(name);
  for (const { name, value } of wanted.attributes) if (there.getAttribute(name) !== value) there.setAttribute(name, value);
  fill(there, ...wanted.childNodes);
}

export function age(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds}.${Math.floor(Math.max(0, ms) % 1000 / 100)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor(seconds % 3600 / 60)} min`;
}

// For what need not be exact: "12 s", "5 min", "3 h".
export function about(ms) {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  return seconds < 3600 ? `${Math.floor(seconds / 60)} min` : `${Math.floor(seconds / 3600)} h`;
}

// "21:03:11", of today; else with the day. By the clock of who looks.
export function clockOf(text, now = new Date()) {
  const when = new Date(text);
  const time = when.toLocaleTimeString([], { hour12: false });
  return when.toDateString() === now.toDateString() ? time : `${when.toLocaleDateString([], { month: "short", day: "numeric" })}, ${time}`;
}

export function short(value) {
  if (value >= 10_000) return `${(value / 1000).toFixed(0)}k`;
  if (value >= 1000) return `${(value / 1000).toFixed(1)}k`;
  return value >= 10 || Number.isInteger(value) ? String(Math.round(value)) : value.toFixed(1);
}

export function milliseconds(value) {
  return value >= 1000 ? `${(value / 1000).toFixed(value >= 10_000 ? 0 : 1)} s` : `${Math.round(value)} ms`;
}

export const count = (number, one, many = `${one}s`) => `${number} ${number === 1 ? one : many}`;

// "PUT /subscriptions/s/resourcegroups/rg/providers/microsoft.x/y/z" -> "PUT y z in rg": what tells one from another, for a narrow place.
export function brief(what) {
  const [method, id] = what.includes(" ") ? [what.slice(0, what.indexOf(" ") + 1), what.slice(what.indexOf(" ") + 1)] : ["", what];
  const parts = id.split("/");
  const group = parts[3] === "resourcegroups" ? parts[4] : "";
  const provider = parts.lastIndexOf("providers");
  if (provider < 0 || parts.length < provider + 4) return method + (group ? `group ${group}` : id);
  const pairs = parts.slice(provider + 2);
  const own = [];
  for (let i = 0; i + 1 < pairs.length; i += 2) own.push(`${pairs[i]} ${pairs[i + 1]}`);
  return `${method}${own.join(" / ")}${group ? ` in ${group}` : ""}`;
}

// What is known of one thing, a term and what it is each.
export function listOf(rows) {
  const told = rows.filter(([, text]) => text !== undefined && text !== "");
  return make("dl", { name: "explained" }, ...told.flatMap(([term, text]) =>
    [make("dt", { text: term }), typeof text === "string" ? make("dd", { text }) : make("dd", {}, text)]));
}

// A table whose rows open: `columns` are [title, class]; each row is {id, name, cells, opened}, where a cell is a text or an element.
export function tableOf(columns, rows, { open = "", empty = "None." } = {}) {
  const head = make("thead", {}, make("tr", {}, ...columns.map(([text, name]) => make("th", { text, name, scope: "col" }))));
  const body = make("tbody");
  for (const { id = "", name = "", cells, opened } of rows) {
    const cell = (content, i) => (typeof content === "string" ? make("td", { name: columns[i][1], text: content }) : make("td", { name: columns[i][1] }, content));
    const key = id ? { "data-key": id } : {};
    body.append(make("tr", { name, ...key }, ...cells.map(cell)));
    if (opened && open === id) body.append(make("tr", { name: "opened", "data-key": `${id}-opened` }, make("td", { colspan: String(columns.length) }, opened())));
  }
  if (rows.length === 0) body.append(make("tr", {}, make("td", { colspan: String(columns.length), name: "quiet", text: empty })));
  return [head, body];
}

// What opens a row.
export const opener = (text, { id, open, title }) =>
  make("button", { text, title, type: "button", name: "opener", "data-row": id, "aria-expanded": String(open === id) });
