// Adds, changes and takes away rows of one table in one transaction, by Hive's Streaming Mutation API.
//
// groovy mutate.groovy REQUEST REPLY: both are files of JSON.
//
// | request | |
// | --- | --- |
// | metastore, database, table | where the table is |
// | columns, types | those that are not of partitions, in the table's order, with Hive's types |
// | buckets_by | the numbers of the columns that the table's buckets go by |
// | rows | each with `do` (insert, update, delete), `partition` (its values as text), `row` (column: value;
//   bytes as hexadecimal digits) and, unless it is inserted, `id`: `ROW__ID` as [write id, bucket, row id] |
// | ends | commit, or abort |
//
// The reply is {"write_id", "transaction"}, or {"error": [{"kind", "message"}, …]}: what was thrown,
// then its causes. An error aborts the transaction, as the API's documentation advises. Rows are sent
// in the order that it asks for: by partition and bucket, then by write id and row id.

import groovy.json.JsonOutput
import groovy.json.JsonSlurper
import org.apache.hadoop.fs.Path
import org.apache.hadoop.hive.conf.HiveConf
import org.apache.hadoop.hive.ql.io.AcidOutputFormat
import org.apache.hadoop.hive.ql.io.BucketCodec
import org.apache.hadoop.hive.ql.io.RecordIdentifier
import org.apache.hadoop.hive.serde2.objectinspector.ObjectInspectorFactory
import org.apache.hadoop.hive.serde2.objectinspector.ObjectInspectorFactory.ObjectInspectorOptions
import org.apache.hadoop.hive.serde2.objectinspector.ObjectInspectorUtils
import org.apache.hadoop.hive.serde2.typeinfo.TypeInfoUtils
import org.apache.hadoop.io.Text
import org.apache.hive.hcatalog.data.JsonSerDe
import org.apache.hive.hcatalog.streaming.mutate.client.MutatorClientBuilder
import org.apache.hive.hcatalog.streaming.mutate.client.TransactionException
import org.apache.hive.hcatalog.streaming.mutate.client.lock.LockFailureListener
import org.apache.hive.hcatalog.streaming.mutate.worker.BucketIdResolverImpl
import org.apache.hive.hcatalog.streaming.mutate.worker.MutatorCoordinatorBuilder
import org.apache.hive.hcatalog.streaming.mutate.worker.MutatorFactory
import org.apache.hive.hcatalog.streaming.mutate.worker.MutatorImpl
import org.apache.hive.hcatalog.streaming.mutate.worker.RecordInspectorImpl

/** Records as the library takes them: a list with the values of a row, and its identifier as the last one. */
class Records implements MutatorFactory {
    final HiveConf conf = new HiveConf()
    final JsonSerDe parser = new JsonSerDe()
    final def inspector
    final int[] bucketsBy

    Records(Map request) {
        def properties = new Properties()
        properties.setProperty("columns", request.columns.join(","))
        properties.setProperty("columns.types", request.types.join(":"))
        parser.initialize(conf, properties)
        def inspectors = TypeInfoUtils.getTypeInfosFromTypeString(request.types.join(":")).collect {
            TypeInfoUtils.getStandardJavaObjectInspectorFromTypeInfo(it)
        }
        def identifiers = ObjectInspectorFactory.getReflectionObjectInspector(
            RecordIdentifier, ObjectInspectorOptions.JAVA)
        inspector = ObjectInspectorFactory.getStandardStructObjectInspector(
            (request.columns + "ROW__ID") as List<String>, inspectors + identifiers)
        bucketsBy = request.buckets_by as int[]
    }

    int getIdentifierAt() { inspector.allStructFieldRefs.size() - 1 }

    /** Return the record of a row. */
    List of(Map row) {
        def json = new Text(JsonOutput.toJson(row.row))
        def values = ObjectInspectorUtils.copyToStandardJavaObject(
            parser.deserialize(json), parser.objectInspector)
        // The parser takes the text of bytes for the bytes.
        def plain = values.collect { it instanceof byte[] ? new String(it).decodeHex() : it }
        return plain + (row.id ? new RecordIdentifier(*row.id) : null)
    }

    MutatorImpl newMutator(AcidOutputFormat format, long writeId, Path path, int bucket) {
        new MutatorImpl(conf, identifierAt, inspector, format, writeId, path, bucket)
    }

    RecordInspectorImpl newRecordInspector() { new RecordInspectorImpl(inspector, identifierAt) }

    BucketIdResolverImpl newBucketIdResolver(int buckets) {
        new BucketIdResolverImpl(inspector, identifierAt, buckets, bucketsBy)
    }
}

/** Return what rows are sorted by; added ones come last in their group, as their identifiers say nothing. */
static List place(Map each, List record) {
    def id = record.last()
    def added = each.do == "insert"
    return [each.partition, BucketCodec.determineVersion(id.bucketProperty).decodeWriterId(id.bucketProperty),
            added ? 1 : 0, id.writeId, id.rowId]
}

/** Return what was thrown and its causes. */
static List causes(Throwable thrown) {
    def all = []
    for (def each = thrown; each != null && !all.any { it.is(each) }; each = each.cause) all << each
    return all.collect { [kind: it.class.name, message: it.message ?: ""] }
}

/** Send all rows within a transaction. */
static void send(Map request, Records records, table) {
    def resolver = records.newBucketIdResolver(table.totalBuckets)
    def sent = request.rows.collect { row ->
        def record = records.of(row)
        if (row.do == "insert") resolver.attachBucketIdToRecord(record)
        [row, record, place(row, record)]
    }
    sent.sort { a, b -> compare(a[2], b[2]) }
    def coordinator = new MutatorCoordinatorBuilder()
        .metaStoreUri(request.metastore).table(table).mutatorFactory(records).build()
    try {
        sent.each { row, record, place -> coordinator."${row.do}"(row.partition as List<String>, record) }
    } finally {
        coordinator.close()
    }
}

/** Compare two values, or two lists of them from the first on. */
static int compare(a, b) {
    if (!(a instanceof List)) return a <=> b
    return [a, b].transpose().findResult(0) { x, y -> compare(x, y) ?: null }
}

/** Carry out a request; return the reply. */
static Map mutate(Map request) {
    def client = new MutatorClientBuilder()
        .metaStoreUri(request.metastore).configuration(new HiveConf())
        .addSinkTable(request.database, request.table, true)
        .lockFailureListener({ lock, transaction, tables, thrown -> thrown.printStackTrace() } as LockFailureListener)
        .build()
    client.connect()
    try {
        def records = new Records(request)
        def transaction = client.newTransaction()
        def table = client.tables.first()
        try {
            transaction.begin()
            send(request, records, table)
        } catch (Throwable thrown) {
            try {
                transaction.abort()
            } catch (TransactionException again) {
                again.printStackTrace()
            }
            throw thrown
        }
        request.ends == "abort" ? transaction.abort() : transaction.commit()
        return [write_id: table.writeId, transaction: transaction.transactionId]
    } finally {
        client.close()
    }
}

def request = new JsonSlurper().parse(new File(args[0]))
def reply
try {
    reply = mutate(request)
} catch (GroovyRuntimeException ours) {
    throw ours // no answer of the library
} catch (Exception thrown) {
    reply = [error: causes(thrown)]
}
new File(args[1]).text = JsonOutput.toJson(reply)
System.exit(0)
