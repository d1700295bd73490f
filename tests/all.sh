#!/usr/bin/env bash
# `make test`: its parts, and at the end how long each took. Engines are fetched, images of them built and
# types checked (on one processor) beside the tests that need neither. Where no Docker daemon answers there
# are no containers, but on a build server (CI) there must be.
set -euo pipefail
cd "$(dirname "$0")/.."

times=$(mktemp)
log=$(mktemp)
lint_log=$(mktemp)
preparing=
linting=

# At the end: what took how long. After a failure engines may still be on their way.
finish() {
    for group in $preparing $linting; do kill -- "-$group" 2>/dev/null || true; done
    printf '\nmin:s   part\n'
    cat "$times"
    rm -f "$times" "$log" "$lint_log"
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

# Fetch engines; build images of them where containers can be run. A browser that cannot be had is said below.
prepare() {
    bash tests/browser.sh || true
    part "fetching engines, beside the tests without" fetch
    [ -z "$docker" ] || part "images of engines, beside the tests without" images
}

part "environment" venv
docker=${CI:-}
.venv/bin/python -c 'from harness.runtime import docker_daemon; docker_daemon.describe()' 2>/dev/null && docker=yes
set -m # the preparation can be ended with all that it started
prepare >"$log" 2>&1 &
preparing=$!
part "lint and types, beside the tests without engines" lint >"$lint_log" 2>&1 &
linting=$!
set +m
part "tests without engines" unit
wait $linting || { cat "$lint_log"; exit 1; }
# Where no browser can be had, the page is not opened in one: what it holds is tested all the same.
browser=
bash tests/browser.sh && browser=yes
[ -z "$browser" ] || part "the page in a browser" browser
wait $preparing || { cat "$log"; exit 1; }
part "tests with engines" engines
[ -z "$docker" ] || part "engines in containers" containers
[ -n "$docker" ] || echo "engines in containers: not tested, for no Docker daemon answers"
[ -n "$browser" ] || echo "the page in a browser: not tested, for there is no Chromium"
printf '%3d:%02d  %s\n' $((SECONDS / 60)) $((SECONDS % 60)) "all" >>"$times"
