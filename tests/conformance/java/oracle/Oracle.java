package oracle;

import line.Calls;

/** Answers what Apache Kafka itself would do with bytes, logs and messages. */
public final class Oracle {
    public static void main(String[] arguments) throws Exception {
        Calls calls = new Calls();
        RecordCalls.register(calls);
        LogCalls.register(calls);
        MessageCalls.register(calls);
        calls.serve();
    }
}
