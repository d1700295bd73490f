-- add_column: misaligned, spark-3.5.8-hudi-1.0.2{schema-on-read=on}, snapshot of hudi-cow.
-- seen: misaligned. in row 2, f3 shows 'f4s1r1', the value of f2 written at step 1; expected NULL; the files hold what was written
--
-- writer: spark 3.5.8, stock
--   org.apache.hudi:hudi-spark3.5-bundle_2.12:0.15.0:jar
-- reader: spark 3.5.8, stock
--   org.apache.hudi:hudi-spark3.5-bundle_2.12:1.0.2:jar
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
insert into reproducer.t select '2' as `id`, cast(201001 as bigint) as `ts`, 'f3s1r1' as `f1`, 'f4s1r1' as `f2`;

-- step 2: drop column f2
alter table reproducer.t drop column `f2`;

-- step 3: rename column f1 to g
alter table reproducer.t rename column `f1` to `g`;

-- step 4: add column f3 string after ts
alter table reproducer.t add columns (`f3` string after `ts`);

-- ===== the query: spark-3.5.8-hudi-1.0.2{schema-on-read=on} =====
set hoodie.schema.on.read.enable=true;
select * from `reproducer`.`t`;

-- expected:
--   id (string) | ts (long) | f3 (string) | g (string)
--   2           | 201001    | NULL        | f3s1r1
-- seen:
--   id (string) | ts (bigint) | f3 (string) | g (string)
--   2           | 201001      | f4s1r1      | f3s1r1
