package oracle;

import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.server.util.Scheduler;

/** Runs what is due at once, nothing else: a log under test changes only when told to. */
final class NoScheduler implements Scheduler {
    private static final ScheduledExecutorService NEVER =
        Executors.newSingleThreadScheduledExecutor(task -> {
            Thread thread = new Thread(task);
            thread.setDaemon(true);
            return thread;
        });

    @Override
    public void startup() {}

    @Override
    public void shutdown() {}

    @Override
    public ScheduledFuture<?> schedule(String name, Runnable task, long delayMs, long periodMs) {
        if (delayMs == 0 && periodMs < 0) {
            task.run();
        }
        return NEVER.schedule(() -> { }, 1, TimeUnit.DAYS);
    }

    @Override
    public void resizeThreadPool(int newSize) {}
}
