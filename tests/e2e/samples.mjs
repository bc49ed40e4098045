// What /metrics tells, line by line.
import assert from "node:assert/strict";

// {"name{labels}": value} of the text format, each line of which must be one.
export function samples(text) {
  const found = {};
  for (const line of text.trimEnd().split("\n")) {
    if (/^# (HELP|TYPE) [a-z_]+ .+$/.test(line)) continue;
    const parts = /^([a-z_]+(?:\{[a-z_]+="[^"]*"(?:,[a-z_]+="[^"]*")*\})?) (\+Inf|[0-9.e+-]+)$/.exec(line);
    assert.ok(parts, `no line of the text format: ${line}`);
    assert.ok(!(parts[1] in found), `told twice: ${parts[1]}`);
    found[parts[1]] = Number(parts[2]);
  }
  return found;
}
