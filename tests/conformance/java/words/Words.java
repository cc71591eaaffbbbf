package words;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.Properties;
import line.Calls;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;

/** Counts words as Kafka Streams' first example does: by way of a topic that groups them. */
public final class Words {
    private static KafkaStreams streams;

    public static void main(String[] arguments) throws Exception {
        new Calls()
            .add("start", Words::start)
            .add("state", request -> streams.state().name())
            .add("stop", request -> streams.close(Duration.ofSeconds(30)))
            .serve();
    }

    private static Object start(JsonNode request) {
        Properties properties = new Properties();
        request.get("settings").fields().forEachRemaining(
            setting -> properties.put(setting.getKey(), setting.getValue().asText()));
        streams = new KafkaStreams(
            topology(request.get("input").asText(), request.get("output").asText()), properties);
        streams.start();
        return null;
    }

    private static Topology topology(String input, String output) {
        StreamsBuilder builder = new StreamsBuilder();
        builder.stream(input, Consumed.with(Serdes.String(), Serdes.String()))
            .flatMapValues(line -> Arrays.asList(line.toLowerCase(Locale.ROOT).split("\\W+")))
            .groupBy((key, word) -> word, Grouped.with("words", Serdes.String(), Serdes.String()))
            .count(Materialized.as("counts"))
            .toStream()
            .mapValues(count -> Long.toString(count))
            .to(output, Produced.with(Serdes.String(), Serdes.String()));
        return builder.build();
    }
}
