package topologies;

import java.time.Duration;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.GlobalKTable;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.ValueJoiner;

/** Joins of the topics left and right; a value out of them reads left|right. */
final class Joins {
    private static final ValueJoiner<String, String, String> BOTH =
        (left, right) -> left + "|" + right;
    private static final JoinWindows WITHIN =
        JoinWindows.ofTimeDifferenceAndGrace(Duration.ofSeconds(10), Duration.ofSeconds(5));

    static void addTo(Map<String, Consumer<StreamsBuilder>> named) {
        streams(named);
        tables(named);
        foreignKeys(named);
        named.put("stream-table", builder ->
            left(builder).join(table(builder), BOTH).to("output"));
        named.put("stream-table-left", builder ->
            left(builder).leftJoin(table(builder), BOTH).to("output"));
        named.put("stream-global", builder ->
            left(builder).join(global(builder), (key, value) -> value, BOTH).to("output"));
        named.put("stream-global-left", builder ->
            left(builder).leftJoin(global(builder), (key, value) -> value, BOTH).to("output"));
    }

    private static void streams(Map<String, Consumer<StreamsBuilder>> named) {
        named.put("stream-stream", builder ->
            left(builder).join(right(builder), BOTH, WITHIN).to("output"));
        named.put("stream-stream-before-after", builder -> left(builder)
            .join(right(builder), BOTH,
                WITHIN.before(Duration.ofSeconds(2)).after(Duration.ofSeconds(5)))
            .to("output"));
        named.put("stream-stream-left", builder ->
            left(builder).leftJoin(right(builder), BOTH, WITHIN).to("output"));
        named.put("stream-stream-outer", builder ->
            left(builder).outerJoin(right(builder), BOTH, WITHIN).to("output"));
    }

    private static void tables(Map<String, Consumer<StreamsBuilder>> named) {
        named.put("table-table", builder ->
            leftTable(builder).join(table(builder), BOTH).toStream().to("output"));
        named.put("table-table-left", builder ->
            leftTable(builder).leftJoin(table(builder), BOTH).toStream().to("output"));
        named.put("table-table-outer", builder ->
            leftTable(builder).outerJoin(table(builder), BOTH).toStream().to("output"));
    }

    /** A row on the left refers to the right row that its value is the key of. */
    private static void foreignKeys(Map<String, Consumer<StreamsBuilder>> named) {
        named.put("foreign-key", builder -> leftTable(builder)
            .join(table(builder), value -> value, BOTH).toStream().to("output"));
        named.put("foreign-key-left", builder -> leftTable(builder)
            .leftJoin(table(builder), value -> value, BOTH).toStream().to("output"));
    }

    private static KStream<String, String> left(StreamsBuilder builder) {
        return builder.stream("left");
    }

    private static KStream<String, String> right(StreamsBuilder builder) {
        return builder.stream("right");
    }

    private static KTable<String, String> leftTable(StreamsBuilder builder) {
        return builder.table("left");
    }

    private static KTable<String, String> table(StreamsBuilder builder) {
        return builder.table("right");
    }

    private static GlobalKTable<String, String> global(StreamsBuilder builder) {
        return builder.globalTable("right");
    }

    private Joins() {}
}
