// The site of the documents: `make docs` builds it, every link in it leads somewhere, lists and tables are what they look like; and what commands in them answer.
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { run } from "./harness.mjs";

const TREE = fileURLToPath(new URL("../../", import.meta.url));

const decoded = (text) => text.replaceAll("&amp;", "&").replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"');

// {"file": {text, ids}} of all pages but the one that a server would show for what is missing, at any path.
function pagesOf(site) {
  const pages = new Map();
  for (const name of readdirSync(site, { recursive: true }).filter((one) => one.endsWith(".html") && one !== "404.html")) {
    const text = readFileSync(path.join(site, name), "utf8");
    pages.set(path.join(site, name), { name, text, ids: new Set([...text.matchAll(/\s(?:id|name)="([^"]+)"/g)].map(([, id]) => decoded(id))) });
  }
  return pages;
}

function* danglingLinks(pages, site) {
  for (const [file, { name, text }] of pages) {
    for (const [, , target] of text.matchAll(/\s(href|src)="([^"]*)"/g)) {
      if (/^(https?:|mailto:|data:|\/\/)/.test(target)) continue;
      const [place, fragment] = decoded(target).split("#");
      const where = place === "" ? file : path.resolve(path.dirname(file), decodeURIComponent(place.replace(/\?.*$/, "")));
      const isThere = where.startsWith(path.resolve(site)) && existsSync(where);
      const page = pages.get(where);
      if (!isThere || (fragment && page && !page.ids.has(decodeURIComponent(fragment)))) yield `${name}: ${target}`;
    }
  }
}

export const tests = {
  "the site builds in strict mode, every page is reached, every link leads somewhere, nothing is loaded from elsewhere": async () => {
    const made = await run(path.join(TREE, "scripts/docs"), []);
    assert.equal(made.code, 0, made.stdout + made.stderr);
    const index = path.join(TREE, made.stdout.toString().trim());
    const site = path.dirname(index);
    const pages = pagesOf(site);
    assert.ok(pages.size > 30, `${pages.size} pages`);
    assert.deepEqual([...danglingLinks(pages, site)], []);

    const navigation = /<ul class="nav navbar-nav">[\s\S]*?<\/ul>\s*<ul class="nav navbar-nav/.exec(pages.get(index).text)[0];
    for (const name of readdirSync(path.join(TREE, "docs")).filter((one) => one.endsWith(".md"))) {
      assert.ok(navigation.includes(`href="${name.replace(/md$/, "html")}"`), `${name} is not in the navigation (mkdocs.yml)`);
    }
    for (const { name, text } of pages.values()) {
      for (const [, paragraph] of text.matchAll(/<p>([\s\S]*?)<\/p>/g)) {
        assert.ok(!/^(- |\| |\d+\. )/m.test(paragraph), `${name}: a list or table that wants an empty line before it: ${paragraph.slice(0, 200)}`);
      }
      assert.ok(!/<(script|link|img)[^>]+(src|href)="(https?:)?\/\//.test(text), `${name} loads something from elsewhere`);
    }
  },

  // A phase that never has a ratio to HAProxy.
  "bench/compare --check says at once that nothing is recorded of what was asked for": async () => {
    const done = await run(path.join(TREE, "bench/compare"), ["--check", "--phases", "fresh-host"], { seconds: 10 });
    assert.equal(done.code, 2);
    assert.match(done.stderr, /--check: bench\/ratios\.json has no ratio of CPU time for fresh-host: --record first/);
  },

  // Without, what follows would go around armgate, and nobody would notice.
  "a recipe that pipes the variables on fails where armgate fails, and keeps to the length of a name": () => {
    const blocks = readFileSync(path.join(TREE, "docs/recipes.md"), "utf8").split(/\n(?! {4}|$)/m).filter((block) => /armgate env .*\|\s*$/m.test(block));
    assert.equal(blocks.length, 2);
    for (const block of blocks) {
      assert.match(block, /pipefail|shell: bash/);
      assert.match(block, /cut -c1-64/);
    }
  },

  "each recipe says whether it was tried, and its table says the same": () => {
    const text = readFileSync(path.join(TREE, "docs/recipes.md"), "utf8");
    const sections = text.split(/^## /m).slice(1).map((section) => [section.split("\n")[0], section]);
    const rows = new Map([...text.matchAll(/^\| \[([^\]]+)\]\(#[^)]+\) \|.*\| \*(tried with [0-9.]+|not tried)\* \|$/gm)].map(([, tool, word]) => [tool, word]));
    for (const tool of ["Azure CLI", "Terraform", "Pulumi", "GitHub Actions", "Azure DevOps", "Jenkins", "cluster-autoscaler", "Spinnaker"]) assert.ok(rows.has(tool), tool);
    assert.deepEqual(sections.map(([tool]) => tool), [...rows.keys()]);
    for (const [tool, section] of sections) {
      const [, word] = /^\n\*(Tried with [0-9.]+|Not tried)\b/.exec(section.slice(tool.length + 1)) ?? assert.fail(tool);
      assert.equal(word.toLowerCase(), rows.get(tool), tool);
    }
  },
};
