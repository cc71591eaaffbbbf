package traffic;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;

/** What an administrator does with the topic and the group of a request, in any version. */
final class Administration {
    Object administer(JsonNode request) throws Exception {
        Map<String, Object> seen = new HashMap<>();
        String topic = request.get("topic").asText();
        try (AdminClient admin = AdminClient.create(Traffic.properties(request))) {
            topics(admin, topic, seen);
            groups(admin, request.get("group").asText(), seen);
            seen.put("controller", admin.describeCluster().controller().get().id());
            for (Node node : admin.describeCluster().nodes().get()) {
                seen.put("node", node.id());
            }
            admin.deleteTopics(Collections.singleton(topic)).all().get();
            seen.put("is_gone", !admin.listTopics().names().get().contains(topic));
        }
        return seen;
    }

    private static void topics(AdminClient admin, String topic, Map<String, Object> seen)
            throws Exception {
        TopicPartition partition = new TopicPartition(topic, 0);
        seen.put("low_watermark", admin.deleteRecords(Collections.singletonMap(
            partition, RecordsToDelete.beforeOffset(4))).lowWatermarks().get(partition).get()
            .lowWatermark());
        admin.createPartitions(Collections.singletonMap(topic, NewPartitions.increaseTo(5)))
            .all().get();
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        Config config = admin.describeConfigs(Collections.singleton(resource)).all().get()
            .get(resource);
        seen.put("timestamp_type", config.get("message.timestamp.type").value());
        seen.put("is_default", config.get("retention.ms").isDefault());
    }

    private static void groups(AdminClient admin, String group, Map<String, Object> seen)
            throws Exception {
        ConsumerGroupDescription described = admin.describeConsumerGroups(
            Collections.singleton(group)).all().get().get(group);
        seen.put("members", described.members().size());
        seen.put("is_listed", admin.listConsumerGroups().all().get().stream()
            .anyMatch(each -> each.groupId().equals(group)));
        Map<String, Long> offsets = new TreeMap<>();
        Map<TopicPartition, OffsetAndMetadata> found = admin.listConsumerGroupOffsets(group)
            .partitionsToOffsetAndMetadata().get();
        found.forEach((partition, offset) -> offsets.put(partition.toString(), offset.offset()));
        seen.put("offsets", offsets);
        admin.deleteConsumerGroups(Collections.singleton(group)).all().get();
        seen.put("is_left", admin.listConsumerGroups().all().get().stream()
            .anyMatch(each -> each.groupId().equals(group)));
    }
}
