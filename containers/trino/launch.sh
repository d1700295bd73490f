#!/bin/sh
# What the official launchers do of the files in the folder of configuration.
set -eu
properties() { sed -n 's/^\([^#][^=]*=.*\)$/-D\1/p' "$1"; }
options() { grep -v '^ *\(#\|$\)' "$1"; }
cd "$SERVER_DATA"
ln -sfn "$SERVER_HOME/plugin" plugin
ln -sfn "$SERVER_ETC" etc
IFS='
'
exec "$JAVA_HOME/bin/java" $(options "$SERVER_ETC/jvm.config") \
    $(properties "$SERVER_ETC/node.properties") -Dnode.id="$(hostname)" \
    "-Dconfig=$SERVER_ETC/config.properties" -cp "$SERVER_HOME/patches:$SERVER_HOME/lib/*" "$SERVER_MAIN"
