-- merge: lost_value, writer spark-3.5.8-hudi-1.0.2, snapshot of hudi-mor.
-- seen: lost value. in row 2, f1 shows NULL; expected 201001; the files hold the same: the writer is to blame
--
-- writer: spark 3.5.8, stock
--   org.apache.hudi:hudi-spark3.5-bundle_2.12:1.0.2:jar
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

-- ===== in Spark SQL: spark-3.5.8-hudi-1.0.2 =====
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
set hoodie.index.type=GLOBAL_BLOOM;
create database if not exists reproducer;

-- step 0: create the table
create table reproducer.t (`id` bigint, `f1` bigint, `f2` bigint) using hudi location '/tmp/reproducer/t' tblproperties ('type' = 'mor', 'primaryKey' = 'id');

-- step 1: insert 1 row
insert into reproducer.t select cast(2 as bigint) as `id`, cast(201001 as bigint) as `f1`, cast(301001 as bigint) as `f2`;

-- step 2: merge: update id, f2 of 1 row, insert 0 rows, delete 0 rows
merge into reproducer.t as t using (select cast(2 as bigint) as `id`, cast(302001 as bigint) as `f2`) as s on t.`id` = s.`id` when matched then update set `id` = s.`id`, `f2` = s.`f2`;

-- ===== the query: hive-3.1.3{path=fetch} =====
set hive.fetch.task.conversion=more;
select * from `reproducer`.`t_rt`;

-- expected:
--   id (long) | f1 (long) | f2 (long)
--   2         | 201001    | 302001
-- seen:
--   id (bigint) | f1 (bigint) | f2 (bigint)
--   2           | NULL        | 302001
