#!/bin/sh
# The official entrypoint's variables: SERVICE_NAME, DB_DRIVER, SERVICE_OPTS, IS_RESUME, HADOOP_CLASSPATH.
set -eu
cd /tmp
value() {
  tr -d '\n' < "$HIVE_CONF_DIR/hive-site.xml" \
    | sed -n "s#.*<name>$1</name> *<value>\([^<]*\)</value>.*#\1#p"
}
if [ "${IS_RESUME:-false}" != true ]; then
  [ "${DB_DRIVER:-derby}" = derby ] || { echo "this image has Derby alone" >&2; exit 1; }
  java -Dij.database="$(value javax.jdo.option.ConnectionURL);create=true" \
    -cp "/opt/hive/schema/*:/opt/hive/lib/*" org.apache.derby.tools.ij \
    /opt/hive/schema/schema.sql > /dev/null
fi
case "$SERVICE_NAME" in
  metastore) main="org.apache.hadoop.hive.metastore.HiveMetaStore -p ${METASTORE_PORT:-9083}" ;;
  hiveserver2) main=org.apache.hive.service.server.HiveServer2 ;;
  *) echo "SERVICE_NAME is metastore or hiveserver2" >&2; exit 1 ;;
esac
before="" after="${HADOOP_CLASSPATH:-}"
if [ "${HADOOP_USER_CLASSPATH_FIRST:-false}" = true ]; then before="$after:" after=""; fi
exec java -Xmx1G ${SERVICE_OPTS:-} -cp "$HIVE_CONF_DIR:$before/opt/hive/lib/*:$after" $main
