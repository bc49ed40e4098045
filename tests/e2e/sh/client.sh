#!/bin/sh
# A script that adds members to resources in turn, with curl and sed alone: client.sh CLIENT WRITES BARRIER SECONDS THINK PERSIST URL...
# It reads the whole resource, adds a tag (or a rule, where there are rules), writes the whole back, waits for the operation, and begins
# again, from the read, when refused with 412. If PERSIST is yes, whatever else goes wrong is looked into by reading. Prints one JSON
# value, like the other clients here.
set -u
client=$1 writes=$2 barrier=$3 seconds=$4 think=$5 persist=$6
shift 6
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# request URL [OPTION...]: sets status; 000 for a broken connection. The body goes to $scratch/answer, the head to $scratch/head.
request() {
  : >"$scratch/answer"
  status=$(curl --silent --http1.1 --max-time 60 --header "Authorization: Bearer ${TOKEN:-test-token}" --output "$scratch/answer" \
    --dump-header "$scratch/head" --write-out '%{http_code}' "$@") || status=000
}

# Polls the operation that the last answer has announced.
follow() {
  operation=$(sed -n 's/^azure-asyncoperation: *//ip' "$scratch/head" | tr -d '\r')
  [ -n "$operation" ] || return 0
  for _ in $(seq 100); do
    sleep 0.1
    request "$operation"
    grep -q InProgress "$scratch/answer" || return 0
  done
}

# The names of what was added, as the last answer shows them.
members() { grep -o "\"[a-z]*-[0-9]*-[0-9]*\"" "$scratch/answer" | sort | tr '\n' ' '; }

# add URL NAME: sets outcome, refused, undeserved and unsure.
add() {
  refused=0 undeserved=0 unsure='' shown=none attempt=0 outcome=unfinished
  while [ "$(date +%s)" -lt "$until" ]; do
    request "$1"
    if [ "$status" = 200 ]; then
      if grep -q "\"$2\"" "$scratch/answer"; then
        if [ -n "$unsure" ]; then outcome=found; else outcome='done but refused'; fi
        return
      fi
      if [ "$shown" = "$(members)" ]; then undeserved=$((undeserved + 1)); fi
      shown=$(members)
      sed "s/\"tags\":{/\"tags\":{\"$2\":\"1\",/; s/\"securityRules\":\[/\"securityRules\":[{\"name\":\"$2\",\"properties\":{}},/" \
        "$scratch/answer" >"$scratch/body"
      sleep "$think"
      request "$1" --request PUT --header 'Content-Type: application/json' --header "x-sim-write-id: $2/$attempt" \
        --header "x-sim-client: $client" --data-binary "@$scratch/body"
      attempt=$((attempt + 1))
    fi
    case $status in
      200 | 201) follow; outcome=acknowledged; return ;;
      412) refused=$((refused + 1)) ;;
      *)
        unsure="$unsure${unsure:+,}{\"status\":\"$status\"}" shown=none
        if [ "$persist" != yes ]; then outcome=failed; return; fi
        sleep 0.1
        ;;
    esac
  done
}

: >"$barrier.$client"
until [ -e "$barrier" ]; do sleep 0.02; done

until=$(($(date +%s) + seconds))
adds='' acknowledged='' errors='' all_refused=0 all_undeserved=0 i=0
while [ "$i" -lt "$writes" ]; do
  target=$((i % $#))
  eval "url=\${$((target + 1))}"
  started=$(date +%s%3N)
  add "$url" "$client-$i"
  ms=$(($(date +%s%3N) - started))
  adds="$adds${adds:+,}{\"name\":\"$client-$i\",\"target\":$target,\"refused\":$refused,\"undeserved\":$undeserved,\"unsure\":[$unsure],\"outcome\":\"$outcome\",\"ms\":$ms}"
  if [ "$outcome" = acknowledged ]; then acknowledged="$acknowledged${acknowledged:+,}\"$client-$i\""; fi
  if [ "$outcome" = failed ]; then errors="$errors${errors:+,}$unsure"; fi
  all_refused=$((all_refused + refused)) all_undeserved=$((all_undeserved + undeserved)) i=$((i + 1))
done
echo "{\"acknowledged\":[$acknowledged],\"refused\":$all_refused,\"undeserved\":$all_undeserved,\"errors\":[$errors],\"adds\":[$adds]}"
