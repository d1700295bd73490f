-- rename_column: missing_rename (by name), hive-3.1.3{path=fetch}, snapshot of hudi-cow.
-- seen: missing rename. row t1 shows under f1_new NULL; expected 'f3s1r1'; the files hold what was written
-- a reader of this way gives the same answer: by name
--
-- writer: spark 3.5.8, stock
--   org.apache.hudi:hudi-spark3.5-bundle_2.12:0.15.0:jar
-- reader: hive 3.1.3, modified: assembled from the project's own jars; one class patched for Java 9 and later, two to listen on loopback; hudi-presto-bundle 1.0.2, jackson-datatype-jsr310 2.12.0 and parquet-hadoop-bundle 1.13.1 put before its own jars
--   org.apache.hive:hive-standalone-metastore:3.1.3:bin:tar.gz
--   org.codehaus.groovy:groovy-all:2.4.11:jar
--   org.apache.derby:derbytools:10.14.1.0:jar
--   com.zaxxer:HikariCP:2.6.1:jar
--   org.antlr:ST4:4.0.4:jar
--   io.airlift:aircompressor:0.10:jar
--   org.antlr:antlr-runtime:3.5.2:jar
--   org.apache.calcite.avatica:avatica:1.11.0:jar
--   org.apache.avro:avro:1.8.2:jar
--   com.jolbox:bonecp:0.8.0.RELEASE:jar
--   org.apache.calcite:calcite-core:1.16.0:jar
--   org.apache.calcite:calcite-druid:1.16.0:jar
--   org.apache.calcite:calcite-linq4j:1.16.0:jar
--   commons-cli:commons-cli:1.2:jar
--   commons-codec:commons-codec:1.15:jar
--   commons-collections:commons-collections:3.2.2:jar
--   org.codehaus.janino:commons-compiler:2.7.6:jar
--   org.apache.commons:commons-compress:1.19:jar
--   commons-dbcp:commons-dbcp:1.4:jar
--   commons-io:commons-io:2.6:jar
--   commons-lang:commons-lang:2.6:jar
--   org.apache.commons:commons-lang3:3.2:jar
--   commons-logging:commons-logging:1.1.3:jar
--   commons-pool:commons-pool:1.5.4:jar
--   org.apache.curator:curator-client:2.12.0:jar
--   org.apache.curator:curator-framework:2.12.0:jar
--   org.apache.curator:curator-recipes:2.12.0:jar
--   org.datanucleus:datanucleus-api-jdo:4.2.4:jar
--   org.datanucleus:datanucleus-core:4.1.17:jar
--   org.datanucleus:datanucleus-rdbms:4.1.19:jar
--   org.apache.derby:derby:10.14.1.0:jar
--   com.esri.geometry:esri-geometry-api:2.0.0:jar
--   com.vlkan:flatbuffers:1.2.0-3f79e055:jar
--   com.google.code.gson:gson:2.2.4:jar
--   com.google.guava:guava:19.0:jar
--   org.apache.hadoop:hadoop-client-api:3.3.4:jar
--   org.apache.hadoop:hadoop-client-runtime:3.3.4:jar
--   org.apache.hive:hive-classification:3.1.3:jar
--   org.apache.hive:hive-common:3.1.3:jar
--   org.apache.hive:hive-exec:3.1.3:jar
--   org.apache.hive:hive-metastore:3.1.3:jar
--   org.apache.hive:hive-serde:3.1.3:jar
--   org.apache.hive:hive-service:3.1.3:jar
--   org.apache.hive:hive-service-rpc:3.1.3:jar
--   org.apache.hive.shims:hive-shims-0.23:3.1.3:jar
--   org.apache.hive:hive-shims:3.1.3:jar
--   org.apache.hive.shims:hive-shims-common:3.1.3:jar
--   org.apache.hive.shims:hive-shims-scheduler:3.1.3:jar
--   org.apache.hive:hive-standalone-metastore:3.1.3:jar
--   org.apache.hive:hive-storage-api:2.7.0:jar
--   com.carrotsearch:hppc:0.7.2:jar
--   org.apache.httpcomponents:httpclient:4.4.1:jar
--   org.apache.httpcomponents:httpcore:4.4.1:jar
--   org.apache.ivy:ivy:2.4.0:jar
--   com.fasterxml.jackson.core:jackson-annotations:2.12.0:jar
--   com.fasterxml.jackson.core:jackson-core:2.12.0:jar
--   org.codehaus.jackson:jackson-core-asl:1.9.13:jar
--   com.fasterxml.jackson.core:jackson-databind:2.12.0:jar
--   org.codehaus.jackson:jackson-mapper-asl:1.9.13:jar
--   org.jamon:jamon-runtime:2.3.1:jar
--   org.codehaus.janino:janino:2.7.6:jar
--   org.datanucleus:javax.jdo:3.2.0-m3:jar
--   javax.servlet:javax.servlet-api:3.1.0:jar
--   javax.servlet.jsp:javax.servlet.jsp-api:2.3.1:jar
--   javolution:javolution:5.5.1:jar
--   javax.jdo:jdo-api:3.0.1:jar
--   org.eclipse.jetty:jetty-client:9.3.20.v20170531:jar
--   org.eclipse.jetty:jetty-http:9.3.20.v20170531:jar
--   org.eclipse.jetty:jetty-io:9.3.20.v20170531:jar
--   org.eclipse.jetty:jetty-rewrite:9.3.20.v20170531:jar
--   org.eclipse.jetty:jetty-security:9.3.20.v20170531:jar
--   org.eclipse.jetty:jetty-server:9.3.20.v20170531:jar
--   org.eclipse.jetty:jetty-servlet:9.3.20.v20170531:jar
--   org.eclipse.jetty:jetty-util:9.3.20.v20170531:jar
--   org.eclipse.jetty:jetty-webapp:9.3.20.v20170531:jar
--   org.eclipse.jetty:jetty-xml:9.3.20.v20170531:jar
--   jline:jline:0.9.94:jar
--   joda-time:joda-time:2.8.1:jar
--   com.tdunning:json:1.8:jar
--   com.google.code.findbugs:jsr305:3.0.2:jar
--   javax.transaction:jta:1.1:jar
--   org.apache.thrift:libfb303:0.9.3:jar
--   org.apache.thrift:libthrift:0.9.3:jar
--   org.apache.logging.log4j:log4j-1.2-api:2.17.1:jar
--   org.apache.logging.log4j:log4j-api:2.17.1:jar
--   org.apache.logging.log4j:log4j-core:2.17.1:jar
--   org.apache.logging.log4j:log4j-slf4j-impl:2.17.1:jar
--   com.yahoo.datasketches:memory:0.9.0:jar
--   io.dropwizard.metrics:metrics-core:3.1.0:jar
--   io.dropwizard.metrics:metrics-json:3.1.0:jar
--   io.dropwizard.metrics:metrics-jvm:3.1.0:jar
--   io.netty:netty:3.7.0.Final:jar
--   net.sf.opencsv:opencsv:2.3:jar
--   org.apache.orc:orc-core:1.5.1:jar
--   org.apache.orc:orc-shims:1.5.1:jar
--   com.thoughtworks.paranamer:paranamer:2.7:jar
--   org.apache.parquet:parquet-hadoop-bundle:1.10.0:jar
--   com.google.protobuf:protobuf-java:2.5.0:jar
--   com.yahoo.datasketches:sketches-core:0.9.0:jar
--   org.slf4j:slf4j-api:1.7.10:jar
--   org.xerial.snappy:snappy-java:1.1.8.2:jar
--   stax:stax-api:1.0.1:jar
--   javax.transaction:transaction-api:1.1:jar
--   org.tukaani:xz:1.5:jar
--   org.apache.zookeeper:zookeeper:3.4.6:jar
--   org.apache.parquet:parquet-hadoop-bundle:1.13.1:jar
--   org.apache.hudi:hudi-presto-bundle:1.0.2:jar
--   com.fasterxml.jackson.datatype:jackson-datatype-jsr310:2.12.0:jar
-- Both find the table through one Hive metastore. /tmp/reproducer/t is an empty folder
-- that both can reach; put another one in its place if you like.

-- ===== in Spark SQL: spark-3.5.8-hudi-0.15.0 =====
-- started with:
--   --conf spark.serializer=org.apache.spark.serializer.KryoSerializer
--   --conf spark.sql.extensions=org.apache.spark.sql.hudi.HoodieSparkSessionExtension
--   --conf spark.sql.catalog.spark_catalog=org.apache.spark.sql.hudi.catalog.HoodieCatalog
--   --conf spark.sql.catalogImplementation=hive
--   --conf spark.hadoop.hive.metastore.uris=thrift://METASTORE:9083
set spark.sql.session.timeZone=UTC;
set hoodie.schema.on.read.enable=true;
set hoodie.spark.sql.insert.into.operation=upsert;
set hoodie.parquet.small.file.limit=0;
set hoodie.compact.inline=false;
set hoodie.compact.inline.max.delta.commits=1;
set hoodie.datasource.write.schema.allow.auto.evolution.column.drop=true;
set hoodie.embed.timeline.server=false;
set hoodie.insert.shuffle.parallelism=2;
set hoodie.upsert.shuffle.parallelism=2;
set hoodie.delete.shuffle.parallelism=2;
set hoodie.index.bloom.num_entries=100;
set hoodie.bloom.index.filter.dynamic.max.entries=100;
set hoodie.metadata.enable=false;
create database if not exists reproducer;

-- step 0: create the table
create table reproducer.t (`id` string, `ts` bigint, `f1` string) using hudi location '/tmp/reproducer/t' tblproperties ('type' = 'cow', 'primaryKey' = 'id', 'preCombineField' = 'ts');

-- step 1: touch, rewrites none
insert into reproducer.t select 't1' as `id`, cast(201001 as bigint) as `ts`, 'f3s1r1' as `f1`;

-- step 2: rename column f1 to f1_new
alter table reproducer.t rename column `f1` to `f1_new`;

-- ===== the query: hive-3.1.3{path=fetch} =====
set hive.fetch.task.conversion=more;
select * from `reproducer`.`t`;

-- expected:
--   id (string) | ts (long) | f1_new (string)
--   t1          | 201001    | f3s1r1
-- seen:
--   id (string) | ts (bigint) | f1_new (string)
--   t1          | 201001      | NULL
