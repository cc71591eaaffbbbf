package topologies;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeSet;
import java.util.function.Consumer;
import line.Calls;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.TestOutputTopic;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.test.TestRecord;

/**
 * Runs topologies of Kafka Streams on given records, in its own test driver.
 *
 * The call "run" takes the name of a topology, or flows of steps, and its records, each with topic, key, value,
 * timestamp in milliseconds and headers as pairs of texts, and whether stores are cached; it answers all records that came out, in their order.
 */
public final class Topologies {
    private static final Map<String, Consumer<StreamsBuilder>> NAMED = new LinkedHashMap<>();

    public static void main(String[] arguments) throws Exception {
        Stateless.addTo(NAMED);
        Aggregations.addTo(NAMED);
        Joins.addTo(NAMED);
        Processors.addTo(NAMED);
        new Calls()
            .add("names", request -> NAMED.keySet())
            .add("run", Topologies::run)
            .serve();
    }

    private static Object run(JsonNode request) {
        StreamsBuilder builder = new StreamsBuilder();
        if (request.has("flows")) {
            Flows.addTo(builder, request.get("flows"));
        } else {
            NAMED.get(request.get("topology").asText()).accept(builder);
        }
        List<Object> answers = new ArrayList<>();
        try (TopologyTestDriver driver =
                new TopologyTestDriver(builder.build(), settings(request), Instant.EPOCH)) {
            for (JsonNode record : request.get("records")) {
                pipe(driver, record);
            }
            // Topics in order of their names; within one, records as they were written.
            for (String topic : new TreeSet<>(driver.producedTopicNames())) {
                collect(driver, topic, answers);
            }
        }
        return answers;
    }

    private static Properties settings(JsonNode request) {
        Properties properties = new Properties();
        properties.put(StreamsConfig.APPLICATION_ID_CONFIG, "topologies");
        properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "localhost:1");
        properties.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        properties.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        // Otherwise records of an outer join wait for the clock.
        properties.put("__emit.interval.ms.kstreams.outer.join.spurious.results.fix__", 0L);
        if (!request.get("cached").asBoolean()) {
            properties.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 0L);
        }
        return properties;
    }

    private static void pipe(TopologyTestDriver driver, JsonNode record) {
        TestInputTopic<String, String> topic = driver.createInputTopic(
            record.get("topic").asText(), new StringSerializer(), new StringSerializer());
        topic.pipeInput(new TestRecord<>(
            text(record.get("key")), text(record.get("value")), headers(record),
            Instant.ofEpochMilli(record.get("timestamp").asLong())));
    }

    private static void collect(TopologyTestDriver driver, String topic, List<Object> answers) {
        if (topic.endsWith("-changelog") || topic.endsWith("-repartition")
                || topic.endsWith("-topic")) {
            return;
        }
        TestOutputTopic<String, String> output = driver.createOutputTopic(
            topic, new StringDeserializer(), new StringDeserializer());
        for (TestRecord<String, String> record : output.readRecordsToList()) {
            Map<String, Object> answer = new LinkedHashMap<>();
            answer.put("topic", topic);
            answer.put("key", record.key());
            answer.put("value", record.value());
            answer.put("timestamp", record.timestamp());
            answer.put("headers", pairs(record.headers()));
            answers.add(answer);
        }
    }

    private static Headers headers(JsonNode record) {
        Headers headers = new RecordHeaders();
        for (JsonNode pair : record.get("headers")) {
            headers.add(pair.get(0).asText(), pair.get(1).asText().getBytes(StandardCharsets.UTF_8));
        }
        return headers;
    }

    private static List<Object> pairs(Headers headers) {
        List<Object> pairs = new ArrayList<>();
        for (Header header : headers) {
            pairs.add(List.of(header.key(), new String(header.value(), StandardCharsets.UTF_8)));
        }
        return pairs;
    }

    private static String text(JsonNode node) {
        return node == null || node.isNull() ? null : node.asText();
    }
}
