-- write_frame: misaligned (by id, the table's own order under the catalog's names or by name, the table's own order under the catalog's names), hive-3.1.3{path=fetch}, snapshot of hudi-cow.
-- seen: misaligned. in row 1, f1 shows 'f4s1r1', the value of f3 written at step 1; expected 'f3s1r1' (and 1 more place); the files hold what was written
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
create table reproducer.t (`id` string, `ts` bigint, `f1` string, `f3` string) using hudi location '/tmp/reproducer/t' tblproperties ('type' = 'cow', 'primaryKey' = 'id', 'preCombineField' = 'ts');

-- step 1: write a DataFrame of 1 row: id, ts, f3, f1
-- in PySpark:
--   frame = spark.sql("""select '1' as `id`, cast(201001 as bigint) as `ts`, 'f4s1r1' as `f3`, 'f3s1r1' as `f1` union all select cast(null as string) as `id`, cast(null as bigint) as `ts`, cast(null as string) as `f3`, cast(null as string) as `f1` where false""")
--   writer = frame.write.format("hudi").mode("append")
--   writer = writer.option("hoodie.schema.on.read.enable", "true")
--   writer = writer.option("hoodie.spark.sql.insert.into.operation", "upsert")
--   writer = writer.option("hoodie.parquet.small.file.limit", "0")
--   writer = writer.option("hoodie.compact.inline", "false")
--   writer = writer.option("hoodie.compact.inline.max.delta.commits", "1")
--   writer = writer.option("hoodie.datasource.write.schema.allow.auto.evolution.column.drop", "false")
--   writer = writer.option("hoodie.embed.timeline.server", "false")
--   writer = writer.option("hoodie.insert.shuffle.parallelism", "2")
--   writer = writer.option("hoodie.upsert.shuffle.parallelism", "2")
--   writer = writer.option("hoodie.delete.shuffle.parallelism", "2")
--   writer = writer.option("hoodie.index.bloom.num_entries", "100")
--   writer = writer.option("hoodie.bloom.index.filter.dynamic.max.entries", "100")
--   writer = writer.option("hoodie.metadata.enable", "false")
--   writer = writer.option("hoodie.table.name", "t")
--   writer = writer.option("hoodie.datasource.write.operation", "upsert")
--   writer = writer.option("hoodie.datasource.write.hive_style_partitioning", "true")
--   writer = writer.option("hoodie.datasource.hive_sync.enable", "true")
--   writer = writer.option("hoodie.datasource.hive_sync.mode", "hms")
--   writer = writer.option("hoodie.datasource.hive_sync.support_timestamp", "true")
--   writer = writer.option("hoodie.datasource.hive_sync.database", "reproducer")
--   writer = writer.option("hoodie.datasource.hive_sync.table", "t")
--   writer = writer.option("hoodie.datasource.write.reconcile.schema", "false")
--   writer = writer.option("hoodie.datasource.write.recordkey.field", "id")
--   writer = writer.option("hoodie.datasource.write.precombine.field", "ts")
--   writer.save("/tmp/reproducer/t")

-- ===== the query: hive-3.1.3{path=fetch} =====
set hive.fetch.task.conversion=more;
select * from `reproducer`.`t`;

-- expected:
--   id (string) | ts (long) | f1 (string) | f3 (string)
--   1           | 201001    | f3s1r1      | f4s1r1
-- seen:
--   id (string) | ts (bigint) | f1 (string) | f3 (string)
--   1           | 201001      | f4s1r1      | f3s1r1
