#!/usr/bin/env bash
# `make containers`: the tests of engines in containers, with a Docker daemon and the images they need.
# Where none runs and this is root on Debian, one is installed and started for as long as the script
# lasts. Nothing is pulled: Debian's own tool makes the images that the others are built on.
set -euo pipefail
cd "$(dirname "$0")/.."

BIN=.venv/bin

DOCKER_PLACE=${DOCKER_PLACE:-/var/tmp/harness-docker} # short: a socket's path has 107 characters
docker_own=

docker_answers() {
    "$BIN/python" -c 'from harness.runtime import docker_daemon; docker_daemon.about()' 2>/dev/null
}

# Install Debian's packages where there are none and this is root.
docker_install() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 0
    command -v dockerd >/dev/null && command -v debootstrap >/dev/null && return 0
    local engine=docker
    apt-get -qq update
    DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends \
        "$engine.io" debootstrap >/dev/null
}

docker_start() {
    docker_answers && return 0
    docker_install || return 0
    [ "$(id -u)" = 0 ] && command -v dockerd >/dev/null || return 0
    mkdir -p "$DOCKER_PLACE"
    export DOCKER_HOST="unix://$DOCKER_PLACE/s"
    dockerd --data-root "$DOCKER_PLACE/data" --exec-root "$DOCKER_PLACE/exec" \
        --pidfile "$DOCKER_PLACE/pid" --host "$DOCKER_HOST" --ip 127.0.0.1 \
        >"$DOCKER_PLACE/log" 2>&1 &
    docker_own=$!
    until docker_answers; do
        kill -0 "$docker_own" 2>/dev/null || { tail -5 "$DOCKER_PLACE/log" >&2; return 0; }
        sleep 0.2
    done
}

docker_stop() {
    [ -z "$docker_own" ] || kill "$docker_own" 2>/dev/null || true
    [ -z "$docker_own" ] || wait "$docker_own" 2>/dev/null || true
}

# Make the image of a release of Debian, unless it is there or can be pulled: docker_base RELEASE
docker_base() {
    "$BIN/python" -m tests.engines.base_image "debian:$1-slim" && return 0
    command -v debootstrap >/dev/null && [ "$(id -u)" = 0 ] || return 1
    local folder
    folder=$(mktemp -d)
    debootstrap --variant=minbase --include=ca-certificates "$1" "$folder/root" >/dev/null
    "$BIN/python" -m tests.engines.base_image "debian:$1-slim" "$folder/root"
    rm -rf "$folder"
}

trap docker_stop EXIT
docker_start
docker_base bookworm
docker_base trixie
"$BIN/harness" engines build --profile ci
HARNESS_REQUIRE_DOCKER=1 "$BIN/pytest" -m "engines and nightly" \
    tests/engines/test_containers.py tests/engines/test_conformance.py
