package topologies;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Branched;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.kstream.Windowed;

/**
 * Topologies that are described by a caller: flows of steps, each from the topic input to one of its own.
 *
 * What is null has no length and no words.
 */
final class Flows {
    private static final TimeWindows TUMBLING =
        TimeWindows.ofSizeAndGrace(Duration.ofSeconds(10), Duration.ofDays(1));

    /** Flows as lists of steps' names; the n-th writes to out-n, by the last of its steps. */
    static void addTo(StreamsBuilder builder, JsonNode flows) {
        KStream<String, String> input = builder.stream("input");
        for (int number = 0; number < flows.size(); number++) {
            KStream<String, String> stream = input;
            JsonNode steps = flows.get(number);
            for (JsonNode step : steps) {
                stream = after(stream, step.asText());
            }
            stream.to("out-" + number, Produced.with(Serdes.String(), Serdes.String()));
        }
    }

    private static KStream<String, String> after(KStream<String, String> stream, String step) {
        switch (step) {
            case "filter":
                return stream.filter((key, value) -> isLong(value));
            case "filter-not":
                return stream.filterNot((key, value) -> isLong(value));
            case "map":
                return stream.map((key, value) -> KeyValue.pair(value, key));
            case "map-values":
                return stream.mapValues(
                    value -> value == null ? null : value.toUpperCase(Locale.ROOT));
            case "select-key":
                return stream.selectKey((key, value) -> value == null ? null
                    : value.substring(0, Math.min(1, value.length())));
            case "flat-map":
                return stream.flatMap((key, value) -> words(value).stream()
                    .map(word -> KeyValue.pair(word, key)).collect(Collectors.toList()));
            case "flat-map-values":
                return stream.flatMapValues(Flows::words);
            case "merge":
                return stream.merge(stream.filter((key, value) -> isLong(value)));
            case "branch":
                return stream.split()
                    .branch((key, value) -> value == null)
                    .branch((key, value) -> isLong(value), Branched.as("-long"))
                    .noDefaultBranch().entrySet().stream()
                    .filter(each -> each.getKey().endsWith("-long"))
                    .findAny().get().getValue();
            case "default-branch":
                return stream.split()
                    .branch((key, value) -> isLong(value))
                    .defaultBranch(Branched.as("-rest")).entrySet().stream()
                    .filter(each -> each.getKey().endsWith("-rest"))
                    .findAny().get().getValue();
            default:
                return table(stream, step);
        }
    }

    private static KStream<String, String> table(KStream<String, String> stream, String step) {
        KGroupedStream<String, String> grouped =
            stream.groupByKey(Grouped.with(Serdes.String(), Serdes.String()));
        switch (step) {
            case "count":
                return text(grouped.count());
            case "tumbling":
                return windows(grouped.windowedBy(TUMBLING).count());
            case "hopping":
                return windows(grouped
                    .windowedBy(TUMBLING.advanceBy(Duration.ofSeconds(5))).count());
            default:
                throw new IllegalArgumentException(step);
        }
    }

    private static KStream<String, String> text(KTable<String, ?> table) {
        return table.toStream().mapValues(value -> value == null ? null : value.toString());
    }

    private static KStream<String, String> windows(KTable<Windowed<String>, Long> table) {
        return table.toStream((key, value) ->
                key.key() + "@" + key.window().start() + "/" + key.window().end())
            .mapValues(value -> value == null ? null : value.toString());
    }

    private static boolean isLong(String value) {
        return value != null && value.length() > 3;
    }

    private static List<String> words(String text) {
        return text == null ? List.of() : Arrays.asList(text.split(" ", -1));
    }

    private Flows() {}
}
