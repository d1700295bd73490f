// Uses Hive's Streaming Mutation API otherwise than it asks for, and tells what the library throws.
//
// groovy mutations.groovy MUTATE REQUEST REPLY: MUTATE is the harness's own program, whose records are
// used; the others are files of JSON. The request is as that program takes it, with `acts` for `rows`: a
// row is sent by the coordinator of the number `by`, in the order given. An act may also be
//
// | abort from outside | another client of the metastore aborts the transaction |
// | wait for the loss | until the listener is told that the lock is lost |
// | wait for the end | until the metastore has the transaction as aborted |
// | update by another | another client begins a transaction, updates a row, and commits |
//
// The first error ends the acts, and the transaction is aborted then. The reply is {"thrown", "lost",
// "others"}: class and message of each error, in order, what the listener was told, and what the other
// client met.

import groovy.json.JsonOutput
import groovy.json.JsonSlurper
import org.apache.hadoop.hive.conf.HiveConf
import org.apache.hadoop.hive.metastore.HiveMetaStoreClient
import org.apache.hadoop.hive.metastore.api.TxnState
import org.apache.hive.hcatalog.streaming.mutate.client.MutatorClientBuilder
import org.apache.hive.hcatalog.streaming.mutate.client.lock.LockFailureListener
import org.apache.hive.hcatalog.streaming.mutate.worker.MutatorCoordinatorBuilder

LIMIT_MS = 180_000
LOOK_MS = 200

def loader = new GroovyClassLoader(getClass().classLoader)
loader.parseClass(new File(args[0]))
def request = new JsonSlurper().parse(new File(args[1]))
def thrown = [].asSynchronized()
def lost = [].asSynchronized()
def others = []

def clientOf(listener) {
    def client = new MutatorClientBuilder()
        .metaStoreUri(asked.metastore).configuration(conf)
        .addSinkTable(asked.database, asked.table, asked.creates)
        .lockFailureListener(listener as LockFailureListener).build()
    client.connect()
    client.@lockOptions.lockRetries(2).retryWaitSeconds(1)
    return client
}

def coordinatorOf(table, records) {
    new MutatorCoordinatorBuilder().metaStoreUri(asked.metastore).table(table).mutatorFactory(records).build()
}

/** Update a row in a transaction of its own. */
def updateBy(client, records, each) {
    def transaction = client.newTransaction()
    transaction.begin()
    def coordinator = coordinatorOf(client.tables.first(), records)
    coordinator.update(each.partition as List<String>, records.of(each))
    coordinator.close()
    transaction.commit()
}

/** Look again and again until something is so. */
def until(what) {
    def end = System.currentTimeMillis() + LIMIT_MS
    while (!what()) {
        if (System.currentTimeMillis() > end) throw new IllegalStateException("not so within ${LIMIT_MS} ms")
        Thread.sleep(LOOK_MS)
    }
}

def tell(all, each) {
    def root = each
    while (root.cause) root = root.cause
    def cause = root.is(each) ? "" : "; cause: ${root.class.simpleName}: ${root.message}"
    all << [kind: each.class.simpleName, message: "${each.message}${cause}".toString()]
}

conf = new HiveConf()
asked = request
if (asked.timeout) conf.set("hive.txn.timeout", asked.timeout)
conf.set("hive.metastore.uris", asked.metastore)
def records = loader.loadedClasses.find { it.name == "Records" }.newInstance(asked)
def client = clientOf { lock, transaction, tables, why -> tell(lost, why) }
def transaction = client.newTransaction()
def table = client.tables.first()
def other = new HiveMetaStoreClient(conf)
def coordinators = []

def act = { each ->
    switch (each.do) {
        case "abort from outside": other.rollbackTxn(transaction.transactionId); break
        case "wait for the loss": until { lost }; break
        case "wait for the end":
            until {
                def still = other.showTxns().open_txns.find { it.id == transaction.transactionId }
                still == null || still.state == TxnState.ABORTED
            }
            break
        case "update by another":
            try {
                updateBy(clientOf { lock, id, tables, why -> tell(others, why) }, records, each)
            } catch (Exception why) {
                tell(others, why)
            }
            break
        default:
            def record = records.of(each)
            if (each.do == "insert") records.newBucketIdResolver(table.totalBuckets).attachBucketIdToRecord(record)
            coordinators[each.by ?: 0]."${each.do}"(each.partition as List<String>, record)
    }
}

try {
    transaction.begin()
    (asked.coordinators ?: 1).times {
        coordinators << coordinatorOf(table, records)
    }
    asked.acts.each(act)
} catch (Exception why) {
    tell(thrown, why)
}
def end = thrown ? ["close", "abort"] : ["close", "commit"]
end.each { last ->
    try {
        last == "close" ? coordinators*.close() : transaction."$last"()
    } catch (Exception why) {
        tell(thrown, why)
    }
}
new File(args[2]).text = JsonOutput.toJson([thrown: thrown, lost: lost, others: others])
System.exit(0)
