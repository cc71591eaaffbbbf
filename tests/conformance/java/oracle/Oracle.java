package oracle;

import line.Calls;

/** Answers what Apache Kafka itself would do with records and logs. */
public final class Oracle {
    public static void main(String[] arguments) throws Exception {
        Calls calls = new Calls();
        RecordCalls.register(calls);
        LogCalls.register(calls);
        calls.serve();
    }
}
