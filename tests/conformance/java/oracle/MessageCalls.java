package oracle;

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
import org.apache.kafka.common.protocol.MessageUtil;
import org.apache.kafka.common.utils.Utils;

/** Messages of the wire protocol and of the internal topics, as kafka-clients reads them. */
final class MessageCalls {
    private static final String[] PACKAGES = {
        "org.apache.kafka.common.message.",
        "org.apache.kafka.coordinator.group.generated.",
        "org.apache.kafka.coordinator.transaction.generated.",
    };

    static void register(Calls calls) {
        calls.add("rewrite_messages", MessageCalls::rewrite);
        calls.add("errors", arguments -> errors());
        calls.add("api_keys", arguments -> apiKeys());
    }

    /** Each [name, version, bytes] parsed to the end: [bytes written anew, JSON], or a complaint. */
    private static Object rewrite(JsonNode arguments) throws Exception {
        List<Object> answers = new ArrayList<>();
        for (JsonNode message : arguments.get("messages")) {
            try {
                answers.add(rewrite(message.get(0).asText(), (short) message.get(1).asInt(),
                    Calls.bytes(message.get(2))));
            } catch (Exception problem) {
                answers.add(problem.toString());
            }
        }
        return answers;
    }

    private static Object rewrite(String name, short version, byte[] data) throws Exception {
        Class<?> messageClass = messageClass(name);
        Message message = (Message) messageClass.getDeclaredConstructor().newInstance();
        ByteBuffer buffer = ByteBuffer.wrap(data);
        message.read(new ByteBufferAccessor(buffer), version);
        if (buffer.hasRemaining()) {
            throw new IllegalStateException(buffer.remaining() + " bytes left over");
        }
        return new Object[] {
            Utils.toArray(MessageUtil.toByteBuffer(message, version)),
            Class.forName(messageClass.getName() + "JsonConverter")
                .getMethod("write", messageClass, short.class, boolean.class)
                .invoke(null, message, version, true),
        };
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
