package topologies;

import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Branched;

/** Operators that look at one record at a time. */
final class Stateless {
    static void addTo(Map<String, Consumer<StreamsBuilder>> named) {
        named.put("filter", builder -> builder.<String, String>stream("input")
            .filter((key, value) -> value.length() > 3)
            .to("output"));
        named.put("filter-not", builder -> builder.<String, String>stream("input")
            .filterNot((key, value) -> value.length() > 3)
            .to("output"));
        named.put("map", builder -> builder.<String, String>stream("input")
            .map((key, value) -> KeyValue.pair(value.toUpperCase(Locale.ROOT), key))
            .to("output"));
        named.put("map-values", builder -> builder.<String, String>stream("input")
            .mapValues(value -> value.toUpperCase(Locale.ROOT))
            .to("output"));
        named.put("flat-map", builder -> builder.<String, String>stream("input")
            .flatMap((key, value) -> Arrays.stream(value.split(" "))
                .map(word -> KeyValue.pair(word, key)).collect(Collectors.toList()))
            .to("output"));
        named.put("flat-map-values", builder -> builder.<String, String>stream("input")
            .flatMapValues(value -> Arrays.asList(value.split(" ")))
            .to("output"));
        named.put("select-key", builder -> builder.<String, String>stream("input")
            .selectKey((key, value) -> value.substring(0, 1))
            .to("output"));
        named.put("branch", builder -> builder.<String, String>stream("input")
            .split()
            .branch((key, value) -> value.startsWith("a"),
                Branched.withConsumer(stream -> stream.to("apples")))
            .branch((key, value) -> value.endsWith("r"),
                Branched.withConsumer(stream -> stream.to("pears")))
            .defaultBranch(Branched.withConsumer(stream -> stream.to("rest"))));
        named.put("merge", builder -> builder.<String, String>stream("left")
            .merge(builder.stream("right"))
            .to("output"));
        named.put("repartition", builder -> builder.<String, String>stream("input")
            .selectKey((key, value) -> value.substring(0, 1))
            .repartition()
            .to("output"));
        named.put("peek", builder -> builder.<String, String>stream("input")
            .peek((key, value) -> {})
            .to("output"));
        // What Kafka Streams once called through.
        named.put("through", builder -> {
            builder.<String, String>stream("input")
                .selectKey((key, value) -> value.substring(0, 1))
                .to("between");
            builder.<String, String>stream("between")
                .mapValues(value -> value.toUpperCase(Locale.ROOT))
                .to("output");
        });
    }

    private Stateless() {}
}
