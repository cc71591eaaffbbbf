package traffic;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.Future;
import line.Calls;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Ordinary Java clients, driven by calls: topics made, records produced and consumed. */
public final class Traffic {
    private static final Map<String, KafkaProducer<byte[], byte[]>> producers = new HashMap<>();

    public static void main(String[] arguments) throws Exception {
        new Calls()
            .add("create_topic", Traffic::createTopic)
            .add("administer", new Administration()::administer)
            .add("produce", Traffic::produce)
            .add("begin", Traffic::begin)
            .add("commit", Traffic::commit)
            .add("abort", Traffic::abort)
            .add("consume", Traffic::consume)
            .add("consume_in_group", Traffic::consumeInGroup)
            .serve();
    }

    private static Object createTopic(JsonNode request) throws Exception {
        Map<String, String> settings = new HashMap<>();
        request.get("config").fields().forEachRemaining(
            setting -> settings.put(setting.getKey(), setting.getValue().asText()));
        NewTopic topic = new NewTopic(request.get("topic").asText(),
            request.get("partition_count").asInt(), (short) 1).configs(settings);
        try (AdminClient admin = AdminClient.create(properties(request))) {
            admin.createTopics(Collections.singleton(topic)).all().get();
        }
        return null;
    }

    /** Sends every [timestamp, key, value, headers] and waits; answers the offset of the last. */
    private static Object produce(JsonNode request) throws Exception {
        KafkaProducer<byte[], byte[]> producer = producer(request);
        long offset = -1;
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        for (JsonNode row : request.get("records")) {
            List<Header> headers = new ArrayList<>();
            for (JsonNode header : row.get(3)) {
                headers.add(new RecordHeader(header.get(0).asText(), Calls.bytes(header.get(1))));
            }
            sent.add(producer.send(new ProducerRecord<>(request.get("topic").asText(),
                request.get("partition").asInt(), row.get(0).asLong(), Calls.bytes(row.get(1)),
                Calls.bytes(row.get(2)), headers)));
        }
        producer.flush();
        for (Future<RecordMetadata> one : sent) {
            offset = one.get().offset();
        }
        return offset;
    }

    private static Object begin(JsonNode request) throws Exception {
        producer(request).beginTransaction();
        return null;
    }

    private static Object commit(JsonNode request) throws Exception {
        producer(request).commitTransaction();
        return null;
    }

    private static Object abort(JsonNode request) throws Exception {
        producer(request).abortTransaction();
        return null;
    }

    /** Producers are known by "producer", a name; the first call with it gives their settings. */
    private static KafkaProducer<byte[], byte[]> producer(JsonNode request) {
        return producers.computeIfAbsent(request.get("producer").asText(), name -> {
            Properties properties = properties(request);
            KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                properties, new ByteArraySerializer(), new ByteArraySerializer());
            if (properties.containsKey("transactional.id")) {
                producer.initTransactions();
            }
            return producer;
        });
    }

    /** Everything from the start of a partition to its end at the time of the call. */
    private static Object consume(JsonNode request) {
        TopicPartition partition = new TopicPartition(
            request.get("topic").asText(), request.get("partition").asInt());
        List<Object> rows = new ArrayList<>();
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(
                properties(request), new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.assign(Collections.singleton(partition));
            long end = consumer.endOffsets(Collections.singleton(partition)).get(partition);
            consumer.seekToBeginning(Collections.singleton(partition));
            while (consumer.position(partition) < end) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(100))) {
                    rows.add(row(record));
                }
            }
        }
        return rows;
    }

    /** The next "count" records of a group, which then commits them. */
    private static Object consumeInGroup(JsonNode request) {
        List<Object> rows = new ArrayList<>();
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(
                properties(request), new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.subscribe(Collections.singleton(request.get("topic").asText()));
            while (rows.size() < request.get("count").asInt()) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(100))) {
                    rows.add(row(record));
                }
            }
            consumer.commitSync();
        }
        return rows;
    }

    private static List<Object> row(ConsumerRecord<byte[], byte[]> record) {
        List<Object> headers = new ArrayList<>();
        for (Header header : record.headers()) {
            List<Object> pair = new ArrayList<>();
            pair.add(header.key());
            pair.add(header.value());
            headers.add(pair);
        }
        List<Object> row = new ArrayList<>();
        row.add(record.offset());
        row.add(record.timestamp());
        row.add(record.key());
        row.add(record.value());
        row.add(headers);
        return row;
    }

    static Properties properties(JsonNode request) {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", request.get("bootstrap").asText());
        JsonNode settings = request.get("settings");
        if (settings != null) {
            settings.fields().forEachRemaining(
                setting -> properties.put(setting.getKey(), setting.getValue().asText()));
        }
        return properties;
    }
}
