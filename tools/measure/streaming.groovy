// Writes rows by Hive's Streaming API: each transaction of a batch has one row, and ends by itself.
//
// groovy streaming.groovy REQUEST REPLY: files of JSON. The request has metastore, database, table, and
// `acts`: each with `line` (values with commas between) and `ends` (commit or abort). The reply is
// {"thrown"}: class and message of the errors.

import groovy.json.JsonOutput
import groovy.json.JsonSlurper
import org.apache.hadoop.hive.conf.HiveConf
import org.apache.hive.streaming.HiveStreamingConnection
import org.apache.hive.streaming.StrictDelimitedInputWriter

def request = new JsonSlurper().parse(new File(args[0]))
def conf = new HiveConf()
conf.set("hive.metastore.uris", request.metastore)
def thrown = []
try {
    def connection = HiveStreamingConnection.newBuilder()
        .withDatabase(request.database).withTable(request.table).withHiveConf(conf)
        .withTransactionBatchSize(request.acts.size())
        .withRecordWriter(StrictDelimitedInputWriter.newBuilder().withFieldDelimiter((char) ",").build())
        .connect()
    request.acts.each {
        connection.beginTransaction()
        connection.write(it.line.bytes)
        it.ends == "abort" ? connection.abortTransaction() : connection.commitTransaction()
    }
    connection.close()
} catch (Exception why) {
    thrown << [kind: why.class.simpleName, message: why.message ?: ""]
}
new File(args[1]).text = JsonOutput.toJson([thrown: thrown])
System.exit(0)
