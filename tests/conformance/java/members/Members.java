package members;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import line.Calls;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
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
            .add("position", Members::position)
            .serve();
    }

    /** Subscribes to "topics", or to what matches: "regex" by the broker, "pattern" by the client. */
    private static Object start(JsonNode request) throws Exception {
        KafkaConsumer<byte[], byte[]> consumer = consumer(request);
        Member member = new Member(consumer);
        if (request.has("regex")) {
            Class<?> pattern = Class.forName("org.apache.kafka.clients.consumer.SubscriptionPattern");
            KafkaConsumer.class.getMethod("subscribe", pattern).invoke(consumer,
                pattern.getConstructor(String.class).newInstance(request.get("regex").asText()));
        } else if (request.has("pattern")) {
            consumer.subscribe(Pattern.compile(request.get("pattern").asText()), member);
        } else {
            List<String> topics = new ArrayList<>();
            request.get("topics").forEach(topic -> topics.add(topic.asText()));
            consumer.subscribe(topics, member);
        }
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

    /** Where a consumer begins in partition 0 of "topic", or with "time" would by that. */
    private static Object position(JsonNode request) {
        TopicPartition partition = new TopicPartition(request.get("topic").asText(), 0);
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(request)) {
            if (request.has("time")) {
                return consumer.offsetsForTimes(Collections.singletonMap(
                    partition, request.get("time").asLong())).get(partition).offset();
            }
            consumer.assign(Collections.singleton(partition));
            return consumer.position(partition);
        }
    }

    private static KafkaConsumer<byte[], byte[]> consumer(JsonNode request) {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", request.get("bootstrap").asText());
        request.get("settings").fields().forEachRemaining(
            setting -> properties.put(setting.getKey(), setting.getValue().asText()));
        return new KafkaConsumer<>(
            properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    private static final class Member extends Thread implements ConsumerRebalanceListener {
        private final KafkaConsumer<byte[], byte[]> consumer;
        private final List<String> values = new ArrayList<>();
        private TreeSet<String> partitions = new TreeSet<>();
        private final TreeSet<String> revoked = new TreeSet<>();
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

        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> assigned) {
            // Said by the consumer itself after every poll.
        }

        @Override
        public synchronized void onPartitionsRevoked(Collection<TopicPartition> given) {
            given.forEach(partition -> revoked.add(partition.toString()));
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
            seen.put("revoked", new ArrayList<>(revoked));
            seen.put("values", new ArrayList<>(values));
            seen.put("problem", problem);
            return seen;
        }
    }
}
