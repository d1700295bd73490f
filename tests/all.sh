#!/usr/bin/env bash
# `make test`: its parts, and at the end how long each took. Engines are fetched while what needs
# none of them is checked.
set -euo pipefail
cd "$(dirname "$0")/.."

times=$(mktemp)
log=$(mktemp)
fetching=

# At the end: what took how long. After a failure engines may still be on their way.
finish() {
    [ -z "$fetching" ] || kill -- "-$fetching" 2>/dev/null || true
    printf '\nmin:s   part\n'
    cat "$times"
    rm -f "$times" "$log"
}
trap finish EXIT

# Make a target, and note how long it took whatever comes of it: part NAME TARGET
part() {
    local began=$SECONDS status=0
    make --no-print-directory "$2" || status=$?
    local took=$((SECONDS - began))
    printf '%3d:%02d  %s\n' $((took / 60)) $((took % 60)) "$1" >>"$times"
    return $status
}

part "environment" venv
set -m # the fetching can be ended with all that it started
part "fetching engines, beside the next two" fetch >"$log" 2>&1 &
fetching=$!
set +m
part "lint and types" lint
part "tests without engines" unit
wait $fetching || { cat "$log"; exit 1; }
part "tests with engines" engines
printf '%3d:%02d  %s\n' $((SECONDS / 60)) $((SECONDS % 60)) "all" >>"$times"
