-- drop_column then touch: stale (by position, base files only), trino-476{use-column-names=false}, snapshot of hudi-mor.
-- seen: misaligned. row 3 shows under f2 'f3s1r1', the value of f1 written at step 1; expected 'f4s3r1'; the files hold what was written
-- seen: stale. row 3 shows under ts 201001, the old value written at step 1; expected 203001; the files hold what was written
-- a reader of this way gives the same answer: by position, base files only
--
-- writer: spark 3.5.8, stock
--   org.apache.hudi:hudi-spark3.5-bundle_2.12:0.15.0:jar
-- reader: trino 476, stock
--   io.trino:trino-server:476:tar.gz
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
create table reproducer.t (`id` string, `ts` bigint, `f1` string, `f2` string) using hudi location '/tmp/reproducer/t' tblproperties ('type' = 'mor', 'primaryKey' = 'id', 'preCombineField' = 'ts');

-- step 1: insert 1 row
insert into reproducer.t select '3' as `id`, cast(201001 as bigint) as `ts`, 'f3s1r1' as `f1`, 'f4s1r1' as `f2`;

-- step 2: drop column f1
alter table reproducer.t drop column `f1`;

-- step 3: touch, rewrites some
insert into reproducer.t select '3' as `id`, cast(203001 as bigint) as `ts`, 'f4s3r1' as `f2` union all select '4' as `id`, cast(203002 as bigint) as `ts`, 'f4s3r2' as `f2`;

-- ===== the query: trino-476{use-column-names=false} =====
-- etc/catalog/hudi_by_position.properties:
--   connector.name=hudi
--   hive.metastore.uri=thrift://METASTORE:9083
--   fs.hadoop.enabled=true
--   hudi.parquet.use-column-names=false
select * from "hudi_by_position"."reproducer"."t_rt";

-- expected:
--   id (string) | ts (long) | f2 (string)
--   3           | 203001    | f4s3r1
--   4           | 203002    | f4s3r2
-- seen:
--   id (varchar) | ts (bigint) | f2 (varchar)
--   4            | 203002      | f4s3r2
--   3            | 201001      | f3s1r1
