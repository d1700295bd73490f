#!/usr/bin/env bash
# tests/browser.sh: sees to it that there is a Chromium for the tests of the page. Where there is none and
# this is root on Debian, it is installed. Ends with 1 where there is none afterwards.
set -euo pipefail

browser_there() {
    command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null
}

browser_there && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get -qq update
    DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends chromium >/dev/null
fi
browser_there || { echo "there is no Chromium; root on Debian can install one here" >&2; exit 1; }
