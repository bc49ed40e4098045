// Texts and elements. Nothing is ever put in as HTML: clients choose their names.

export function make(tag, { text, name, title, ...attributes } = {}, ...children) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (name) element.className = name;
  if (title) element.title = title;
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

export function age(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds}.${Math.floor(Math.max(0, ms) % 1000 / 100)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor(seconds % 3600 / 60)} min`;
}

export function short(value) {
  if (value >= 10_000) return `${(value / 1000).toFixed(0)}k`;
  if (value >= 1000) return `${(value / 1000).toFixed(1)}k`;
  return value >= 10 || Number.isInteger(value) ? String(Math.round(value)) : value.toFixed(1);
}

export function milliseconds(value) {
  return value >= 1000 ? `${(value / 1000).toFixed(value >= 10_000 ? 0 : 1)} s` : `${Math.round(value)} ms`;
}

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
