#!/bin/sh
# Run in a checkout: renames the words, moves the files, formats what changed, tells how many. Commits nothing.
set -e
here=$(dirname "$(readlink -f "$0")")
cd "$(git rev-parse --show-toplevel)"
{ [ ! -d json ] || python3 "$here/json.py"; python3 "$here/rename.py"; } > /tmp/rename-changed.$$
sort -u /tmp/rename-changed.$$ | while read -r f; do [ -f "$f" ] && echo "$f"; done | xargs -r clang-format -i
wc -l < /tmp/rename-changed.$$ | xargs echo "sources changed:"
rm -f /tmp/rename-changed.$$
