package members;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import line.Calls;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Consumers that are polled all the time, each by a thread of its own, until they are stopped. */
public final class Members {
    private static final Map<String, Member> members = new ConcurrentHashMap<>();

    public static void main(String[] arguments) throws Exception {
        new Calls()
            .add("start", Members::start)
            .add("seen", Members::seen)
            .add("stop", Members::stop)
            .serve();
    }

    /** A member subscribes to "topics", or by the broker to what matches "regex". */
    private static Object start(JsonNode request) throws Exception {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", request.get("bootstrap").asText());
        request.get("settings").fields().forEachRemaining(
            setting -> properties.put(setting.getKey(), setting.getValue().asText()));
        KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(
            properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        if (request.has("regex")) {
            Class<?> pattern = Class.forName("org.apache.kafka.clients.consumer.SubscriptionPattern");
            KafkaConsumer.class.getMethod("subscribe", pattern).invoke(consumer,
                pattern.getConstructor(String.class).newInstance(request.get("regex").asText()));
        } else {
            List<String> topics = new ArrayList<>();
            request.get("topics").forEach(topic -> topics.add(topic.asText()));
            consumer.subscribe(topics);
        }
        Member member = new Member(consumer);
        members.put(request.get("member").asText(), member);
        member.start();
        return null;
    }

    /** What a member has and has read. */
    private static Object seen(JsonNode request) {
        return members.get(request.get("member").asText()).seen();
    }

    private static Object stop(JsonNode request) throws Exception {
        Member member = members.remove(request.get("member").asText());
        member.isStopping = true;
        member.join();
        return member.seen();
    }

    private static final class Member extends Thread {
        private final KafkaConsumer<byte[], byte[]> consumer;
        private final List<String> values = new ArrayList<>();
        private TreeSet<String> partitions = new TreeSet<>();
        private String problem = null;
        private volatile boolean isStopping = false;

        Member(KafkaConsumer<byte[], byte[]> consumer) {
            this.consumer = consumer;
            setDaemon(true);
        }

        @Override
        public void run() {
            try {
                while (!isStopping) {
                    for (ConsumerRecord<byte[], byte[]> row : consumer.poll(Duration.ofMillis(50))) {
                        note(new String(row.value()));
                    }
                    note();
                }
                consumer.close();
            } catch (Exception exception) {
                synchronized (this) {
                    problem = exception.toString();
                }
            }
        }

        private synchronized void note(String value) {
            values.add(value);
        }

        private synchronized void note() {
            partitions = new TreeSet<>();
            for (TopicPartition partition : consumer.assignment()) {
                partitions.add(partition.toString());
            }
        }

        synchronized Map<String, Object> seen() {
            Map<String, Object> seen = new HashMap<>();
            seen.put("partitions", new ArrayList<>(partitions));
            seen.put("values", new ArrayList<>(values));
            seen.put("problem", problem);
            return seen;
        }
    }
}
