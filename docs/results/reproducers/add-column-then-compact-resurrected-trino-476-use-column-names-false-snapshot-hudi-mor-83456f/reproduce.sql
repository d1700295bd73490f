-- add_column then compact: resurrected (by name or by position), trino-476{use-column-names=false}, snapshot of hudi-mor.
-- seen: resurrected. row 1 shows under f1 'f3s1r1', the value of the dropped column f1 written at step 1; expected NULL; the files hold what was written
-- a reader of this way gives the same answer: by name
-- a reader of this way gives the same answer: by position
-- a reader of this way gives the same answer: by id, catalog of step 0
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
create table reproducer.t (`id` string, `ts` bigint, `f1` string) using hudi location '/tmp/reproducer/t' tblproperties ('type' = 'mor', 'primaryKey' = 'id', 'preCombineField' = 'ts');

-- step 1: insert 1 row
insert into reproducer.t select '1' as `id`, cast(201001 as bigint) as `ts`, 'f3s1r1' as `f1`;

-- step 2: drop column f1
alter table reproducer.t drop column `f1`;

-- step 3: add column f1 string after ts
alter table reproducer.t add columns (`f1` string after `ts`);

-- step 4: compact
call run_compaction(op => 'execute', table => 'reproducer.t');
call run_compaction(op => 'run', table => 'reproducer.t');

-- ===== the query: trino-476{use-column-names=false} =====
-- etc/catalog/hudi_by_position.properties:
--   connector.name=hudi
--   hive.metastore.uri=thrift://METASTORE:9083
--   fs.hadoop.enabled=true
--   hudi.parquet.use-column-names=false
select * from "hudi_by_position"."reproducer"."t_rt";

-- expected:
--   id (string) | ts (long) | f1 (string)
--   1           | 201001    | NULL
-- seen:
--   id (varchar) | ts (bigint) | f1 (varchar)
--   1            | 201001      | f3s1r1
