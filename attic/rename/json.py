#!/usr/bin/env python3
"""json/ is the only place that includes nlohmann and simdjson: mends includes and namespaces of whatever still does otherwise."""
import re, subprocess, os
os.chdir(subprocess.check_output(["git", "rev-parse", "--show-toplevel"], text=True).strip())
FILES = {"json_scan": "scan", "json_select": "select", "json_spans": "spans", "json_value": "document"}
NAMES = "scan_string_members?|may_have_member|ScannedMember|without_byte_order_mark|pointer_tokens|StringSelection|kSelectDepthMax|JsonSpans|JsonDocument|JsonMember|JsonNumber|number_of|kJsonNestingMax|list_items"
for path in subprocess.check_output(["git", "ls-files"], text=True).splitlines():
    if not path.endswith((".cc", ".h")) or path.startswith(("json/", "tests/tidy")) or not os.path.isfile(path): continue
    text = old = open(path).read()
    for a, b in FILES.items(): text = text.replace(f'"arm/json/{a}.h"', f'"json/{b}.h"')
    text = re.sub(r"\barm::(" + NAMES + r")\b", r"\1", text)
    added = []
    for lib, ours in (("<nlohmann/json.hpp>", "json/tree.h"), ("<nlohmann/json_fwd.hpp>", "json/tree_fwd.h"), ("<simdjson.h>", "json/document.h")):
        text, n = re.subn(r"^#include " + re.escape(lib) + r"[^\n]*\n", "", text, flags=re.M)
        if n and f'#include "{ours}"' not in text: added.append(f'#include "{ours}"\n')
    if added:
        own = [m for m in re.finditer(r'^#include "[^"\n]+"[^\n]*\n', text, flags=re.M)]
        # after the file's own header, if it is the first line; the formatter sorts
        first = own[0] if own else None
        stem = os.path.splitext(path)[0]
        if first and stem + ".h" in first.group(0): own = own[1:]
        if own: at = own[-1].end()
        else:
            any_ = list(re.finditer(r"^#include [^\n]*\n", text, flags=re.M))
            at = any_[-1].end() if any_ else re.search(r"#pragma once\n", text).end()
            added = ["\n"] + added
        text = text[:at] + "".join(added) + text[at:]
    if text != old:
        open(path, "w").write(re.sub(r"\n{3,}#include", "\n\n#include", text))
        print(path)
