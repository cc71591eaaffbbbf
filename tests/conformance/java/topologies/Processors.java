package topologies;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;

/** Processors with a store of their own. */
final class Processors {
    static void addTo(Map<String, Consumer<StreamsBuilder>> named) {
        named.put("processor", builder -> {
            builder.addStateStore(Stores.keyValueStoreBuilder(
                Stores.inMemoryKeyValueStore("seen"), Serdes.String(), Serdes.Long()));
            builder.<String, String>stream("input").process(Numbering::new, "seen").to("output");
        });
        named.put("processor-timers", builder -> {
            builder.addStateStore(Stores.keyValueStoreBuilder(
                Stores.inMemoryKeyValueStore("count"), Serdes.String(), Serdes.Long()));
            builder.addStateStore(Stores.keyValueStoreBuilder(
                Stores.inMemoryKeyValueStore("due"), Serdes.String(), Serdes.Long()));
            builder.<String, String>stream("input")
                .process(Closing::new, "count", "due").to("output");
        });
    }

    /** Numbers the records of each key. */
    private static final class Numbering implements Processor<String, String, String, String> {
        private ProcessorContext<String, String> context;
        private KeyValueStore<String, Long> seen;

        @Override
        public void init(ProcessorContext<String, String> given) {
            context = given;
            seen = given.getStateStore("seen");
        }

        @Override
        public void process(Record<String, String> record) {
            Long before = seen.get(record.key());
            long number = before == null ? 1 : before + 1;
            seen.put(record.key(), number);
            context.forward(record.withValue(number + ":" + record.value()));
        }
    }

    /** Tells how much came for a key, ten seconds after its first record. */
    private static final class Closing implements Processor<String, String, String, String> {
        private ProcessorContext<String, String> context;
        private KeyValueStore<String, Long> count;
        private KeyValueStore<String, Long> due;

        @Override
        public void init(ProcessorContext<String, String> given) {
            context = given;
            count = given.getStateStore("count");
            due = given.getStateStore("due");
            given.schedule(Duration.ofMillis(1), PunctuationType.STREAM_TIME, this::close);
        }

        @Override
        public void process(Record<String, String> record) {
            if (due.get(record.key()) == null) {
                due.put(record.key(), record.timestamp() + 10_000);
                count.put(record.key(), 0L);
            }
            count.put(record.key(), count.get(record.key()) + 1);
        }

        private void close(long now) {
            List<KeyValue<String, Long>> over = new ArrayList<>();
            try (KeyValueIterator<String, Long> all = due.all()) {
                all.forEachRemaining(each -> {
                    if (each.value <= now) {
                        over.add(each);
                    }
                });
            }
            for (KeyValue<String, Long> each : over) {
                due.delete(each.key);
                context.forward(
                    new Record<>(each.key, count.get(each.key).toString(), each.value));
            }
        }
    }

    private Processors() {}
}
