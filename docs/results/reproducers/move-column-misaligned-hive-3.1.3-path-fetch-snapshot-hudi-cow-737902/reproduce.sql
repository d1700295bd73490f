-- move_column: misaligned (by position or by id, the table's own order under the catalog's names or by name, the table's own order under the catalog's names), hive-3.1.3{path=fetch}, snapshot of hudi-cow.
-- seen: misaligned. in row 1, f2 shows 'f3s1r1', the value of f1 written at step 1; expected 'f4s1r1' (and 1 more place); the files hold what was written
-- a reader of this way gives the same answer: by position
-- a reader of this way gives the same answer: by id, the table's own order under the catalog's names
-- a reader of this way gives the same answer: by name, the table's own order under the catalog's names
--
-- writer: spark 3.5.8, stock
--   org.apache.hudi:hudi-spark3.5-bundle_2.12:0.15.0:jar
-- reader: hive 3.1.3, modified: assembled from the project's own jars; one class patched for Java 9 and later, two to listen on loopback; hudi-presto-bundle 1.0.2, jackson-datatype-jsr310 2.12.0 and parquet-hadoop-bundle 1.13.1 put before its own jars
--   org.apache.hive:hive-standalone-metastore:3.1.3:bin:tar.gz
--   org.codehaus.groovy:groovy-all:2.4.11:jar
--   org.apache.derby:derbytools:10.14.1.0:jar
--   org.apache.parquet:parquet-hadoop-bundle:1.13.1:jar
--   org.apache.hudi:hudi-presto-bundle:1.0.2:jar
--   com.fasterxml.jackson.datatype:jackson-datatype-jsr310:2.12.0:jar
--   and 102 jars that hive itself is made of
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
create table reproducer.t (`id` string, `ts` bigint, `f1` string, `f2` string) using hudi location '/tmp/reproducer/t' tblproperties ('type' = 'cow', 'primaryKey' = 'id', 'preCombineField' = 'ts');

-- step 1: insert 1 row
insert into reproducer.t select '1' as `id`, cast(201001 as bigint) as `ts`, 'f3s1r1' as `f1`, 'f4s1r1' as `f2`;

-- step 2: move column f1 after f2
-- by Hudi's SparkRDDWriteClient of /tmp/reproducer/t: write client: reOrderColPosition('f1', 'f2', 'AFTER')

-- ===== the query: hive-3.1.3{path=fetch} =====
set hive.fetch.task.conversion=more;
select * from `reproducer`.`t`;

-- expected:
--   id (string) | ts (long) | f2 (string) | f1 (string)
--   1           | 201001    | f4s1r1      | f3s1r1
-- seen:
--   id (string) | ts (bigint) | f1 (string) | f2 (string)
--   1           | 201001      | f4s1r1      | f3s1r1
