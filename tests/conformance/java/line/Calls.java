package line;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/**
 * Serves named calls on standard input and output, until the input ends.
 *
 * A request is one line, {"call": name, ...arguments}; the answer is one line, {"result": ...} or
 * {"error": exception class, "message": ...}. Bytes travel as base64, which is Jackson's default.
 */
public final class Calls {
    public interface Call {
        Object answer(JsonNode arguments) throws Exception;
    }

    public static final ObjectMapper JSON = new ObjectMapper(JsonFactory.builder()
        .streamReadConstraints(StreamReadConstraints.builder().maxStringLength(1 << 30).build())
        .build());

    private final Map<String, Call> calls = new HashMap<>();

    public Calls add(String name, Call call) {
        calls.put(name, call);
        return this;
    }

    public void serve() throws Exception {
        PrintStream answers = System.out;
        // Nothing else may write among the answers.
        System.setOut(System.err);
        BufferedReader requests =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        String request;
        while ((request = requests.readLine()) != null) {
            byte[] answer = JSON.writeValueAsBytes(answer(request));
            answers.write(answer, 0, answer.length);
            answers.write('\n');
            answers.flush();
        }
    }

    private ObjectNode answer(String request) {
        ObjectNode answer = JSON.createObjectNode();
        try {
            JsonNode arguments = JSON.readTree(request);
            Call call = calls.get(arguments.get("call").asText());
            answer.putPOJO("result", call.answer(arguments));
        } catch (Throwable problem) {
            answer.put("error", problem.getClass().getName());
            answer.put("message", String.valueOf(problem.getMessage()));
        }
        return answer;
    }

    /** An absent or null argument is null, as keys and values of records may be. */
    public static byte[] bytes(JsonNode node) throws Exception {
        return node == null || node.isNull() ? null : node.binaryValue();
    }
}
