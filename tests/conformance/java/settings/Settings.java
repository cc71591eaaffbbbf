package settings;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.StringReader;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.stream.Collectors;
import kafka.server.ConfigAdminManager$;
import kafka.server.ConfigHelper;
import kafka.server.DynamicBrokerConfig$;
import kafka.server.KafkaConfig;
import kafka.server.MetadataCache;
import kafka.server.metadata.ConfigRepository;
import line.Calls;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.message.DescribeConfigsRequestData.DescribeConfigsResource;
import org.apache.kafka.server.config.ServerTopicConfigSynonyms;
import org.apache.kafka.storage.internals.log.LogConfig;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/** What Kafka 3.9 knows about its settings. */
public final class Settings {
    public static void main(String[] arguments) throws Exception {
        new Calls()
            .add("broker_settings", call -> brokerSettings())
            .add("topic_settings", call -> topicSettings())
            .add("start", call -> new KafkaConfig(properties(call.get("texts")), false).brokerId())
            .add("validate_dynamic", Settings::validateDynamic)
            .add("describe", Settings::describe)
            .add("alter", Settings::alter)
            .add("properties", call -> load(call.get("text").asText()))
            .serve();
    }

    private static List<Map<String, Object>> brokerSettings() {
        Map<String, String> modes = DynamicBrokerConfig$.MODULE$.dynamicConfigUpdateModes();
        List<Map<String, Object>> rows = new ArrayList<>();
        for (ConfigDef.ConfigKey key : KafkaConfig.configDef().configKeys().values()) {
            Map<String, Object> row = row(key);
            row.put("update", modes.getOrDefault(key.name, "read-only"));
            row.put("internal", String.valueOf(key.internalConfig));
            rows.add(row);
        }
        return rows;
    }

    private static List<Map<String, Object>> topicSettings() {
        List<Map<String, Object>> rows = new ArrayList<>();
        for (ConfigDef.ConfigKey key : LogConfig.configDefCopy().configKeys().values()) {
            Map<String, Object> row = row(key);
            row.put("synonyms", ServerTopicConfigSynonyms.ALL_TOPIC_CONFIG_SYNONYMS
                .getOrDefault(key.name, List.of()).stream()
                .map(synonym -> synonym.name() + ":" + synonym.converter().apply("1"))
                .collect(Collectors.joining(",")));
            rows.add(row);
        }
        return rows;
    }

    private static Map<String, Object> row(ConfigDef.ConfigKey key) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("name", key.name);
        row.put("type", key.type.toString());
        row.put("default", ConfigDef.convertToString(key.defaultValue, key.type));
        row.put("importance", key.importance.toString());
        row.put("validator", key.validator == null ? null : key.validator.toString());
        return row;
    }

    private static Object validateDynamic(JsonNode call) {
        boolean isForOneBroker = call.get("is_for_one_broker").asBoolean();
        DynamicBrokerConfig$.MODULE$.validateConfigs(properties(call.get("texts")), isForOneBroker);
        return true;
    }

    /** Settings of broker 3, of all brokers and of a topic, out of four layers of texts. */
    private static Object describe(JsonNode call) {
        KafkaConfig config = new KafkaConfig(properties(call.get("static")), false);
        config.dynamicConfig().initialize(Option.empty(), Option.empty());
        config.dynamicConfig().updateDefaultConfig(properties(call.get("cluster")), true);
        config.dynamicConfig().updateBrokerConfig(3, properties(call.get("broker")), true);
        Properties topic = properties(call.get("topic"));
        ConfigHelper helper = new ConfigHelper(
            stub(MetadataCache.class, true), config, stub(ConfigRepository.class, topic));
        List<Object> entries = new ArrayList<>();
        describe(helper, "broker", ConfigResource.Type.BROKER, "3", entries);
        describe(helper, "cluster", ConfigResource.Type.BROKER, "", entries);
        describe(helper, "topic", ConfigResource.Type.TOPIC, "t", entries);
        return entries;
    }

    private static void describe(
        ConfigHelper helper, String label, ConfigResource.Type type, String name, List<Object> entries
    ) {
        DescribeConfigsResource resource = new DescribeConfigsResource()
            .setResourceType(type.id()).setResourceName(name).setConfigurationKeys(null);
        var result = helper.describeConfigs(
            CollectionConverters.asScala(List.of(resource)).toList(), true, false).head();
        for (var entry : result.configs()) {
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("resource", label);
            row.put("name", entry.name());
            row.put("value", entry.value());
            row.put("source", (int) entry.configSource());
            row.put("is_read_only", entry.readOnly());
            row.put("is_sensitive", entry.isSensitive());
            row.put("type", (int) entry.configType());
            row.put("synonyms", entry.synonyms().stream()
                .map(each -> Arrays.asList(each.name(), each.value(), (int) each.source()))
                .collect(Collectors.toList()));
            entries.add(row);
        }
    }

    /** The interface with every method answering the same; enough for what is asked here. */
    private static <T> T stub(Class<T> type, Object answer) {
        return type.cast(Proxy.newProxyInstance(
            type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> answer));
    }

    private static Object alter(JsonNode call) {
        Properties changed = properties(call.get("current"));
        JsonNode value = call.get("value");
        AlterConfigOp operation = new AlterConfigOp(
            new ConfigEntry(call.get("setting").asText(), value.isNull() ? null : value.asText()),
            AlterConfigOp.OpType.forId((byte) call.get("operation").asInt()));
        ConfigAdminManager$.MODULE$.prepareIncrementalConfigs(
            CollectionConverters.asScala(List.of(operation)).toSeq(), changed,
            CollectionConverters.asScala(LogConfig.configKeys()));
        return new TreeMap<>(changed);
    }

    private static Object load(String text) throws Exception {
        Properties loaded = new Properties();
        loaded.load(new StringReader(text));
        return new TreeMap<>(loaded);
    }

    private static Properties properties(JsonNode texts) {
        Properties properties = new Properties();
        texts.fields().forEachRemaining(
            field -> properties.setProperty(field.getKey(), field.getValue().asText()));
        return properties;
    }
}
