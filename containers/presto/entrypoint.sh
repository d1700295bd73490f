#!/bin/sh
# What the official entrypoint and launcher do: a node.id of its own, then the server in the foreground.
set -eu
etc="$PRESTO_HOME/etc"
grep -qs '^node.id=' "$etc/node.properties" || echo "node.id=$(hostname)" >> "$etc/node.properties"
properties() { sed -n 's/^\([^#][^=]*=.*\)$/-D\1/p' "$1"; }
options() { grep -v '^ *\(#\|$\)' "$1"; }
cd /data/presto
ln -sfn "$PRESTO_HOME/plugin" plugin
IFS='
'
exec "$JAVA_HOME/bin/java" $(options "$etc/jvm.config") $(properties "$etc/node.properties") \
    -Dconfig="$etc/config.properties" -cp "$PRESTO_HOME/lib/*" com.facebook.presto.server.PrestoServer
