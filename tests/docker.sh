#!/usr/bin/env bash
# tests/docker.sh [COMMAND …]: builds the images that the tests of engines in containers need, then runs a
# command. Where no Docker daemon runs and this is root on Debian, one is installed and started for as long
# as the script lasts. Nothing is pulled from elsewhere: Debian's own tool makes the images that the others
# are built on, and the registry of the tests runs on loopback.
set -euo pipefail
cd "$(dirname "$0")/.."

BIN=.venv/bin

DOCKER_PLACE=${DOCKER_PLACE:-/var/tmp/harness-docker} # short: a socket's path has 107 characters
docker_own=

docker_answers() {
    "$BIN/python" -c 'from harness.runtime import docker_daemon; docker_daemon.describe()' 2>/dev/null
}

# Install what is not there of Debian's packages where this is root.
docker_install() {
    local engine=docker wanted=()
    docker_answers || command -v dockerd >/dev/null || wanted+=("$engine.io")
    command -v debootstrap >/dev/null || wanted+=(debootstrap)
    command -v docker-registry >/dev/null || wanted+=(docker-registry)
    [ "${#wanted[@]}" != 0 ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 0
    apt-get -qq update
    DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends \
        "${wanted[@]}" >/dev/null
}

docker_start() {
    docker_install
    docker_answers && return 0
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

# Make the image of a release of Debian unless it is there: docker_base RELEASE
# Where it cannot be made here, the build pulls it or says what to do.
docker_base() {
    "$BIN/python" -m tests.engines.base_image "debian:$1-slim" && return 0
    command -v debootstrap >/dev/null && [ "$(id -u)" = 0 ] || return 0
    local folder
    folder=$(mktemp -d)
    debootstrap --variant=minbase --include=ca-certificates "$1" "$folder/root" >"$folder/log" \
        || { tail -5 "$folder/log" >&2; return 1; }
    "$BIN/python" -m tests.engines.base_image "debian:$1-slim" "$folder/root"
    rm -rf "$folder"
}

trap docker_stop EXIT
docker_start
docker_answers || { echo "no Docker daemon answers; root on Debian can start one here" >&2; exit 1; }
docker_base bookworm
docker_base trixie
"$BIN/harness" engines build --profile ci
[ $# = 0 ] || HARNESS_REQUIRE_DOCKER=1 "$@"
