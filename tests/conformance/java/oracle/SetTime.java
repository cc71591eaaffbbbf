package oracle;

import java.util.function.Supplier;
import org.apache.kafka.common.utils.Time;

/** A clock that shows what the caller has set. */
final class SetTime implements Time {
    volatile long nowMs;

    @Override
    public long milliseconds() {
        return nowMs;
    }

    @Override
    public long nanoseconds() {
        return nowMs * 1_000_000;
    }

    @Override
    public void sleep(long durationMs) {
        nowMs += durationMs;
    }

    @Override
    public void waitObject(Object watched, Supplier<Boolean> condition, long deadlineMs) {
        throw new UnsupportedOperationException("nobody else would move this clock");
    }
}
