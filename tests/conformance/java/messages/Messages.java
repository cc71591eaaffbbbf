package messages;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import line.Calls;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.ObjectSerializationCache;

/** Answers how kafka-clients reads messages, of the wire and of internal topics. */
public final class Messages {
    private static final String[] PACKAGES = {
        "org.apache.kafka.common.message.",
        "org.apache.kafka.coordinator.group.generated.",
        "org.apache.kafka.coordinator.transaction.generated.",
    };

    public static void main(String[] arguments) throws Exception {
        new Calls()
            .add("rewrite", Messages::rewrite)
            .add("errors", request -> errors())
            .add("api_keys", request -> apiKeys())
            .serve();
    }

    /** Each [name, version, bytes] parsed to its end and written anew, or the complaint. */
    private static Object rewrite(JsonNode request) throws Exception {
        List<Object> answers = new ArrayList<>();
        for (JsonNode message : request.get("messages")) {
            try {
                answers.add(rewrite(message.get(0).asText(), (short) message.get(1).asInt(),
                    Calls.bytes(message.get(2))));
            } catch (Exception problem) {
                answers.add(Map.of("complaint", problem.toString()));
            }
        }
        return answers;
    }

    private static byte[] rewrite(String name, short version, byte[] data) throws Exception {
        Message message = (Message) messageClass(name).getDeclaredConstructor().newInstance();
        ByteBuffer buffer = ByteBuffer.wrap(data);
        message.read(new ByteBufferAccessor(buffer), version);
        if (buffer.hasRemaining()) {
            throw new IllegalStateException(buffer.remaining() + " bytes left over");
        }
        ObjectSerializationCache cache = new ObjectSerializationCache();
        ByteBuffer written = ByteBuffer.allocate(message.size(cache, version));
        message.write(new ByteBufferAccessor(written), cache, version);
        return written.array();
    }

    private static Class<?> messageClass(String name) throws ClassNotFoundException {
        for (String prefix : PACKAGES) {
            for (String suffix : new String[] {"Data", ""}) {
                try {
                    return Class.forName(prefix + name + suffix);
                } catch (ClassNotFoundException absent) {
                    continue;
                }
            }
        }
        throw new ClassNotFoundException(name);
    }

    private static Object errors() {
        List<Object> errors = new ArrayList<>();
        for (Errors error : Errors.values()) {
            Map<String, Object> facts = new LinkedHashMap<>();
            facts.put("code", error.code());
            facts.put("name", error.name());
            facts.put("is_retriable", error.exception() instanceof RetriableException);
            facts.put("exception", error.exceptionName());
            errors.add(facts);
        }
        return errors;
    }

    private static Object apiKeys() {
        List<Object> apis = new ArrayList<>();
        for (ApiKeys api : ApiKeys.values()) {
            for (short version : api.allVersions()) {
                apis.add(new Object[] {api.id, api.name, version,
                    api.requestHeaderVersion(version), api.responseHeaderVersion(version)});
            }
        }
        return apis;
    }
}
