package topologies;

import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.SessionWindows;
import org.apache.kafka.streams.kstream.SlidingWindows;
import org.apache.kafka.streams.kstream.Suppressed;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.kstream.Windowed;

/** Tables by key and by window. Windows last ten seconds, their grace is five. */
final class Aggregations {
    private static final Duration SIZE = Duration.ofSeconds(10);
    private static final Duration GRACE = Duration.ofSeconds(5);
    private static final TimeWindows TUMBLING = TimeWindows.ofSizeAndGrace(SIZE, GRACE);
    private static final TimeWindows HOPPING = TUMBLING.advanceBy(Duration.ofSeconds(5));
    private static final SlidingWindows SLIDING =
        SlidingWindows.ofTimeDifferenceAndGrace(SIZE, GRACE);
    private static final SessionWindows SESSIONS =
        SessionWindows.ofInactivityGapAndGrace(SIZE, GRACE);

    static void addTo(Map<String, Consumer<StreamsBuilder>> named) {
        byKey(named);
        ofTables(named);
        windowed(named);
        suppressed(named);
    }

    private static void byKey(Map<String, Consumer<StreamsBuilder>> named) {
        named.put("word-count", builder -> text(builder.<String, String>stream("input")
            .flatMapValues(line -> Arrays.asList(line.toLowerCase(Locale.ROOT).split("\\W+")))
            .groupBy((key, word) -> word)
            .count()));
        named.put("count", builder -> text(grouped(builder).count()));
        named.put("reduce", builder ->
            text(grouped(builder).reduce((one, other) -> one + "+" + other)));
        named.put("aggregate", builder -> text(grouped(builder).aggregate(
            () -> "", Aggregations::withLength)));
    }

    private static void ofTables(Map<String, Consumer<StreamsBuilder>> named) {
        named.put("table", builder -> text(builder.<String, String>table("input")));
        named.put("table-filter", builder -> text(builder.<String, String>table("input")
            .filter((key, value) -> value.length() > 3)));
        named.put("table-filter-not", builder -> text(builder.<String, String>table("input")
            .filterNot((key, value) -> value.length() > 3)));
        named.put("table-map-values", builder -> text(builder.<String, String>table("input")
            .mapValues(value -> value.toUpperCase(Locale.ROOT))));
        named.put("table-count", builder -> text(builder.<String, String>table("input")
            .groupBy((key, value) -> KeyValue.pair(value, key))
            .count()));
        named.put("table-reduce", builder -> text(builder.table(
                "input", Consumed.with(Serdes.String(), Serdes.String()))
            .groupBy((key, value) -> KeyValue.pair(key.substring(0, 1), Long.valueOf(value)),
                Grouped.with(Serdes.String(), Serdes.Long()))
            .reduce(Long::sum, (sum, gone) -> sum - gone)));
        named.put("table-aggregate", builder -> text(builder.<String, String>table("input")
            .groupBy((key, value) -> KeyValue.pair(key.substring(0, 1), value))
            .aggregate(() -> 0L, (key, value, sum) -> sum + 10 + value.length(),
                (key, value, sum) -> sum - 10 - value.length(),
                Materialized.with(Serdes.String(), Serdes.Long()))));
        named.put("to-table", builder -> text(builder.<String, String>stream("input").toTable()));
    }

    private static void windowed(Map<String, Consumer<StreamsBuilder>> named) {
        named.put("tumbling", builder -> windows(grouped(builder).windowedBy(TUMBLING).count()));
        named.put("hopping", builder -> windows(grouped(builder).windowedBy(HOPPING).count()));
        named.put("sliding", builder -> windows(grouped(builder).windowedBy(SLIDING).count()));
        named.put("session", builder -> windows(grouped(builder).windowedBy(SESSIONS).count()));
        named.put("tumbling-reduce", builder -> windows(grouped(builder).windowedBy(TUMBLING)
            .reduce((one, other) -> one + "+" + other)));
        named.put("tumbling-aggregate", builder -> windows(
            grouped(builder).windowedBy(TUMBLING).aggregate(() -> "", Aggregations::withLength)));
        named.put("hopping-reduce", builder -> windows(grouped(builder).windowedBy(HOPPING)
            .reduce((one, other) -> one + "+" + other)));
        named.put("hopping-aggregate", builder -> windows(
            grouped(builder).windowedBy(HOPPING).aggregate(() -> "", Aggregations::withLength)));
        named.put("sliding-reduce", builder -> windows(grouped(builder).windowedBy(SLIDING)
            .reduce((one, other) -> one + "+" + other)));
        named.put("sliding-aggregate", builder -> windows(
            grouped(builder).windowedBy(SLIDING).aggregate(() -> "", Aggregations::withLength)));
        named.put("session-reduce", builder -> windows(grouped(builder).windowedBy(SESSIONS)
            .reduce((one, other) -> one + "+" + other)));
        named.put("session-aggregate", builder -> windows(grouped(builder).windowedBy(SESSIONS)
            .aggregate(() -> 0L, (key, value, sum) -> sum + value.length(),
                (key, one, other) -> one + other,
                Materialized.with(Serdes.String(), Serdes.Long()))));
    }

    private static void suppressed(Map<String, Consumer<StreamsBuilder>> named) {
        named.put("tumbling-suppressed", builder -> windows(
            whenClosed(grouped(builder).windowedBy(TUMBLING).count())));
        named.put("hopping-suppressed", builder -> windows(
            whenClosed(grouped(builder).windowedBy(HOPPING).count())));
        named.put("sliding-suppressed", builder -> windows(
            whenClosed(grouped(builder).windowedBy(SLIDING).count())));
        named.put("session-suppressed", builder -> windows(
            whenClosed(grouped(builder).windowedBy(SESSIONS).count())));
        named.put("time-limit", builder -> text(builder.<String, String>table("input")
            .suppress(Suppressed.untilTimeLimit(SIZE, Suppressed.BufferConfig.unbounded()))));
        named.put("size-limit", builder -> text(builder.<String, String>table("input")
            .suppress(Suppressed.untilTimeLimit(
                SIZE, Suppressed.BufferConfig.maxRecords(2).emitEarlyWhenFull()))));
    }

    private static String withLength(String key, String value, String sum) {
        return sum + key + value.length();
    }

    private static KGroupedStream<String, String> grouped(StreamsBuilder builder) {
        return builder.<String, String>stream("input")
            .groupByKey(Grouped.with(Serdes.String(), Serdes.String()));
    }

    private static <V> KTable<Windowed<String>, V> whenClosed(KTable<Windowed<String>, V> table) {
        return table.suppress(Suppressed.untilWindowCloses(Suppressed.BufferConfig.unbounded()));
    }

    private static void text(KTable<String, ?> table) {
        table.toStream()
            .mapValues(value -> value == null ? null : value.toString())
            .to("output", Produced.with(Serdes.String(), Serdes.String()));
    }

    /** A window's key reads key@start/end, in milliseconds. */
    private static void windows(KTable<Windowed<String>, ?> table) {
        table.toStream((key, value) ->
                key.key() + "@" + key.window().start() + "/" + key.window().end())
            .mapValues(value -> value == null ? null : value.toString())
            .to("output", Produced.with(Serdes.String(), Serdes.String()));
    }

    private Aggregations() {}
}
