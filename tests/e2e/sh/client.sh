#!/bin/sh
# A script that changes tags with curl alone: client.sh URL CLIENT WRITES BARRIER. It reads the whole resource, adds a tag, writes
# the whole back, and begins again, from the read, when refused with 412. Prints one JSON value, like the other clients here.
set -eu
url=$1 client=$2 writes=$3 barrier=$4
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
request() {
  curl --silent --http1.1 --header "Authorization: Bearer ${TOKEN:-test-token}" --output "$scratch/answer" --write-out '%{http_code}' "$@" "$url"
}

: >"$barrier.$client"
until [ -e "$barrier" ]; do sleep 0.02; done

acknowledged='' errors='' refused=0 i=0
while [ "$i" -lt "$writes" ]; do
  status=$(request)
  if [ "$status" = 200 ]; then
    sed "s/\"tags\":{/\"tags\":{\"$client-$i\":\"1\",/" "$scratch/answer" >"$scratch/body"
    status=$(request --request PUT --header 'Content-Type: application/json' --data-binary "@$scratch/body")
  fi
  case $status in
    200 | 201) acknowledged="$acknowledged${acknowledged:+,}\"$client-$i\"" i=$((i + 1)) ;;
    412) refused=$((refused + 1)) ;;
    *) errors="$errors${errors:+,}\"$status\"" i=$((i + 1)) ;;
  esac
done
echo "{\"acknowledged\":[$acknowledged],\"refused\":$refused,\"errors\":[$errors]}"
