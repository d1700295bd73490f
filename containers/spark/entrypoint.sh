#!/bin/sh
# The official one runs any command that is not meant for Kubernetes.
set -eu
exec "$@"
