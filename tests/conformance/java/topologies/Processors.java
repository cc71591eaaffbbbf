package topologies;

import java.util.Map;
import java.util.function.Consumer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
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

    private Processors() {}
}
