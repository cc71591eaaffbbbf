package schemas;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import line.Calls;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.CompatibilityLevel;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.ParsedSchema;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.ParsedSchemaHolder;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.SimpleParsedSchemaHolder;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.avro.AvroSchema;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.client.CachedSchemaRegistryClient;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.client.SchemaRegistryClient;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.client.rest.entities.SchemaReference;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.client.rest.exceptions.RestClientException;

/** Confluent's own client of its registry, and its own rules for Avro. */
public final class Schemas {
    private static final String FRUIT =
        "{\"type\":\"record\",\"name\":\"Berry\",\"fields\":[{\"name\":\"what\",\"type\":\"string\"}]}";
    private static final String BASKET =
        "{\"type\":\"record\",\"name\":\"Basket\",\"fields\":[{\"name\":\"of\",\"type\":\"Berry\"}]}";

    public static void main(String[] arguments) throws Exception {
        new Calls()
            .add("canonical", Schemas::canonical)
            .add("incompatibilities", Schemas::incompatibilities)
            .add("converse", Schemas::converse)
            .add("refusal", Schemas::refusal)
            .serve();
    }

    private static Object canonical(JsonNode request) {
        // As the registry parses what it has not seen before: defaults are checked.
        AvroSchema schema = new AvroSchema(
            request.get("text").asText(), List.of(), Map.of(), null, true);
        return List.of(schema.canonicalString(), schema.normalize().canonicalString());
    }

    private static Object incompatibilities(JsonNode request) {
        List<ParsedSchemaHolder> older = new ArrayList<>();
        for (JsonNode text : request.get("older")) {
            older.add(new SimpleParsedSchemaHolder(new AvroSchema(text.asText())));
        }
        Map<String, Object> found = new LinkedHashMap<>();
        for (CompatibilityLevel level : CompatibilityLevel.values()) {
            ParsedSchema schema = new AvroSchema(request.get("text").asText());
            found.put(level.name(), schema.isCompatible(level, older).size() > 0);
        }
        return found;
    }

    private static SchemaRegistryClient client(JsonNode request) {
        Map<String, String> settings = new LinkedHashMap<>();
        request.path("settings").fields().forEachRemaining(
            setting -> settings.put(setting.getKey(), setting.getValue().asText()));
        return new CachedSchemaRegistryClient(request.get("url").asText(), 100, settings);
    }

    private static Object converse(JsonNode request) throws Exception {
        Map<String, Object> found = new LinkedHashMap<>();
        String subject = request.get("subject").asText();
        AvroSchema fruit = new AvroSchema(FRUIT);
        try (SchemaRegistryClient client = client(request)) {
            int id = client.register(subject, fruit);
            client.reset();
            found.put("same", client.getSchemaById(id).equals(fruit));
            found.put("id again", client.getId(subject, fruit) == id);
            found.put("version", client.getVersion(subject, fruit));
            found.put("latest", client.getLatestSchemaMetadata(subject).getId() == id);
            found.put("compatible", client.testCompatibility(subject, fruit));
            found.put("reasons",
                client.testCompatibilityVerbose(subject, new AvroSchema("\"int\"")).size() > 0);
            found.put("level", client.updateCompatibility(subject, "FULL"));
            found.put("level again", client.getCompatibility(subject));
            found.put("mode", client.setMode("READONLY", subject));
            found.put("refused", codeOf(client, subject, new AvroSchema("\"int\"")));
            client.deleteMode(subject);
            found.put("incompatible", codeOf(client, subject, new AvroSchema("\"int\"")));
            references(client, subject, found);
            found.put("subjects of id", new TreeSet<>(client.getAllSubjectsById(id)));
            found.put("versions", client.getAllVersions(subject));
            found.put("deleted", client.deleteSubject(subject + "-basket"));
            client.deleteSubject(subject + "-basket", true);
            found.put("deleted version", client.deleteSchemaVersion(subject, "1"));
            found.put("deleted for ever", client.deleteSchemaVersion(subject, "1", true));
        }
        return found;
    }

    private static void references(
            SchemaRegistryClient client, String subject, Map<String, Object> found)
            throws Exception {
        List<SchemaReference> used =
            Collections.singletonList(new SchemaReference("Berry", subject, 1));
        AvroSchema basket = (AvroSchema) client.parseSchema("AVRO", BASKET, used).get();
        int id = client.register(subject + "-basket", basket, true);
        client.reset();
        found.put("reference", client.getSchemaById(id).references().get(0).getSubject());
    }

    private static Object refusal(JsonNode request) throws Exception {
        try (SchemaRegistryClient client = client(request)) {
            return codeOf(client, request.get("subject").asText(), new AvroSchema(FRUIT));
        }
    }

    private static int codeOf(SchemaRegistryClient client, String subject, AvroSchema schema)
            throws Exception {
        try {
            client.register(subject, schema);
            return 0;
        } catch (RestClientException refused) {
            return refused.getErrorCode();
        }
    }
}
