package tools;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import line.Calls;
import org.apache.kafka.common.utils.Exit;

/** Runs main classes of Kafka 3.9 one after the other, so that the virtual machine starts once. */
public final class Tools {
    /** What a tool throws here instead of ending the virtual machine. */
    private static final class Ended extends Error {
        Ended() {
            super("the tool has ended", null, false, false);
        }
    }

    /** Scala remembers the first streams it sees, so these stay and only their target changes. */
    private static final class Switch extends OutputStream {
        volatile OutputStream target = OutputStream.nullOutputStream();

        @Override
        public void write(int one) throws java.io.IOException {
            target.write(one);
        }

        @Override
        public void write(byte[] bytes, int start, int size) throws java.io.IOException {
            target.write(bytes, start, size);
        }
    }

    private static final Switch OUT = new Switch();
    private static final Switch ERR = new Switch();
    private static final List<Runnable> HOOKS = new ArrayList<>();
    private static boolean isPrepared;
    private static Integer exitCode;

    public static void main(String[] arguments) throws Exception {
        new Calls().add("run", Tools::run).serve();
    }

    private static Object run(JsonNode call) throws Exception {
        prepare();
        List<String> arguments = new ArrayList<>();
        call.get("arguments").forEach(each -> arguments.add(each.asText()));
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        System.setIn(new ByteArrayInputStream(Calls.bytes(call.get("input"))));
        OUT.target = out;
        ERR.target = err;
        exitCode = null;
        runMain(call.get("main").asText(), arguments.toArray(new String[0]));
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("code", exitCode == null ? 0 : exitCode);
        result.put("stdout", out.toString(StandardCharsets.UTF_8));
        result.put("stderr", err.toString(StandardCharsets.UTF_8));
        return result;
    }

    private static void runMain(String name, String[] arguments) throws Exception {
        try {
            Class.forName(name).getMethod("main", String[].class).invoke(null, (Object) arguments);
            end(0);
        } catch (InvocationTargetException problem) {
            System.err.println("Exception in thread \"main\" " + problem.getCause());
            end(1);
        }
    }

    /** The first end counts; what a tool prints when it catches ours would not be printed. */
    private static void end(int code) {
        if (exitCode == null) {
            exitCode = code;
            HOOKS.forEach(Runnable::run);
            OUT.target = OutputStream.nullOutputStream();
            ERR.target = OutputStream.nullOutputStream();
        }
        HOOKS.clear();
    }

    private static void prepare() {
        if (isPrepared) {
            return;
        }
        isPrepared = true;
        System.setOut(new PrintStream(OUT, true));
        System.setErr(new PrintStream(ERR, true));
        Exit.Procedure throwing = (code, message) -> {
            end(code);
            throw new Ended();
        };
        Exit.setExitProcedure(throwing);
        Exit.setHaltProcedure(throwing);
        Exit.setShutdownHookAdder((name, hook) -> HOOKS.add(hook));
    }
}
