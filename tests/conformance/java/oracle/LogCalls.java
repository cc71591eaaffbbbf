package oracle;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.File;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import kafka.log.Cleaner;
import kafka.log.LogToClean;
import kafka.log.UnifiedLog;
import kafka.server.BrokerTopicStats;
import kafka.server.RequestLocal;
import line.Calls;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.FileRecords;
import org.apache.kafka.common.record.FileRecords.TimestampAndOffset;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.requests.ProduceRequest;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.storage.internals.log.AbortedTxn;
import org.apache.kafka.storage.internals.log.AppendOrigin;
import org.apache.kafka.storage.internals.log.EpochEntry;
import org.apache.kafka.storage.internals.log.FetchIsolation;
import org.apache.kafka.storage.internals.log.LogAppendInfo;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogOffsetsListener;
import org.apache.kafka.storage.internals.log.LogSegment;
import org.apache.kafka.storage.internals.log.ProducerStateEntry;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.RecordValidationException;
import org.apache.kafka.storage.internals.log.SkimpyOffsetMap;
import org.apache.kafka.storage.internals.log.VerificationGuard;
import org.apache.kafka.storage.internals.utils.Throttler;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.BoxedUnit;

/** One partition's log as Apache's broker keeps it, opened on a directory, without a broker. */
final class LogCalls {
    private static final SetTime time = new SetTime();
    private static UnifiedLog log;

    static void register(Calls calls) {
        calls.add("open_log", LogCalls::open);
        calls.add("produce", LogCalls::produce);
        calls.add("roll_log", arguments -> log.roll(Option.empty()).baseOffset());
        calls.add("truncate_log", arguments -> log.truncateTo(arguments.get("offset").asLong()));
        calls.add("clean_log", LogCalls::clean);
        calls.add("log_state", arguments -> state());
        calls.add("read_log", arguments -> read(
            arguments.get("offset").asLong(), arguments.get("max_bytes").asInt()));
        calls.add("offset_for_timestamp", LogCalls::offsetForTimestamp);
        calls.add("close_log", arguments -> close());
    }

    private static Object open(JsonNode arguments) throws Exception {
        Properties settings = new Properties();
        arguments.get("config").fields().forEachRemaining(
            setting -> settings.put(setting.getKey(), setting.getValue().asText()));
        time.nowMs = arguments.get("now_ms").asLong();
        int dayMs = 86_400_000;
        log = UnifiedLog.apply(new File(arguments.get("directory").asText()),
            new LogConfig(settings), arguments.get("log_start_offset").asLong(),
            arguments.get("recovery_point").asLong(), new NoScheduler(),
            new BrokerTopicStats(false), time, dayMs,
            new ProducerStateManagerConfig(dayMs, false), dayMs, new LogDirFailureChannel(10),
            arguments.get("is_clean").asBoolean(), Option.empty(), true,
            new ConcurrentHashMap<>(), false, LogOffsetsListener.NO_OP_OFFSETS_LISTENER);
        return state();
    }

    /** What a Produce request gets: an error code, or the base offset and the bytes stored. */
    private static Object produce(JsonNode arguments) {
        Map<String, Object> answer = new LinkedHashMap<>();
        try {
            MemoryRecords records = RecordCalls.records(arguments);
            ProduceRequest.validateRecords((short) arguments.get("version").asInt(), records);
            time.nowMs = arguments.get("now_ms").asLong();
            LogAppendInfo info = log.appendAsLeader(records, arguments.get("leader_epoch").asInt(),
                AppendOrigin.valueOf(arguments.get("origin").asText()),
                MetadataVersion.latestProduction(), RequestLocal.NoCaching(),
                VerificationGuard.SENTINEL);
            log.updateHighWatermark(log.logEndOffset());
            answer.put("error_code", 0);
            answer.put("base_offset", info.firstOffset());
            answer.put("stored", info.firstOffset() < 0 ? new byte[0]
                : read(info.firstOffset(), info.validBytes()));
        } catch (RecordValidationException refused) {
            refuse(answer, refused.invalidException());
        } catch (Throwable problem) {
            refuse(answer, problem);
        }
        return answer;
    }

    private static void refuse(Map<String, Object> answer, Throwable problem) {
        answer.put("error_code", Errors.forException(problem).code());
        answer.put("message", problem.toString());
    }

    /** Compacts the log up to an offset, as its cleaner thread would; answers how far it got. */
    private static Object clean(JsonNode arguments) throws Exception {
        time.nowMs = arguments.get("now_ms").asLong();
        int bufferSize = 1 << 20;
        Throttler unlimited = new Throttler(Double.MAX_VALUE, 300, "cleaner", "bytes", time);
        Cleaner cleaner = new Cleaner(0, new SkimpyOffsetMap(bufferSize), bufferSize, bufferSize,
            0.9, unlimited, time, partition -> BoxedUnit.UNIT);
        LogToClean dirty = new LogToClean(log.topicPartition(), log,
            arguments.get("first_dirty_offset").asLong(),
            arguments.get("first_uncleanable_offset").asLong(), false);
        return cleaner.doClean(dirty, time.nowMs)._1();
    }

    private static Object state() {
        Map<String, Object> facts = new LinkedHashMap<>();
        log.updateHighWatermark(log.logEndOffset());
        facts.put("log_start_offset", log.logStartOffset());
        facts.put("log_end_offset", log.logEndOffset());
        facts.put("last_stable_offset", log.lastStableOffset());
        List<Object> segments = new ArrayList<>();
        for (LogSegment segment : log.logSegments()) {
            segments.add(segment.baseOffset());
        }
        facts.put("segments", segments);
        List<Object> epochs = new ArrayList<>();
        for (EpochEntry entry : log.leaderEpochCache().get().epochEntries()) {
            epochs.add(new long[] {entry.epoch, entry.startOffset});
        }
        facts.put("epochs", epochs);
        List<Object> producers = new ArrayList<>();
        for (ProducerStateEntry entry : log.producerStateManager().activeProducers().values()) {
            producers.add(describe(entry));
        }
        facts.put("producers", producers);
        List<Object> aborted = new ArrayList<>();
        for (AbortedTxn transaction : CollectionConverters.asJava(
                log.collectAbortedTransactions(log.logStartOffset(), log.logEndOffset()))) {
            aborted.add(new long[] {transaction.producerId(), transaction.firstOffset(),
                transaction.lastOffset(), transaction.lastStableOffset()});
        }
        facts.put("aborted", aborted);
        return facts;
    }

    private static Map<String, Object> describe(ProducerStateEntry entry) {
        Map<String, Object> facts = new LinkedHashMap<>();
        facts.put("producer_id", entry.producerId());
        facts.put("producer_epoch", entry.producerEpoch());
        facts.put("coordinator_epoch", entry.coordinatorEpoch());
        facts.put("last_sequence", entry.lastSeq());
        facts.put("last_offset", entry.lastDataOffset());
        facts.put("offset_delta", entry.lastOffsetDelta());
        facts.put("last_timestamp", entry.lastTimestamp());
        OptionalLong first = entry.currentTxnFirstOffset();
        facts.put("transaction_first_offset", first.isPresent() ? first.getAsLong() : null);
        return facts;
    }

    private static byte[] read(long offset, int maxBytes) throws Exception {
        FileRecords records =
            (FileRecords) log.read(offset, maxBytes, FetchIsolation.LOG_END, true).records;
        ByteBuffer bytes = ByteBuffer.allocate(records.sizeInBytes());
        records.readInto(bytes, 0);
        return bytes.array();
    }

    private static Object offsetForTimestamp(JsonNode arguments) {
        Option<TimestampAndOffset> found =
            log.fetchOffsetByTimestamp(arguments.get("timestamp").asLong(), Option.empty());
        return found.isEmpty() ? null : new long[] {found.get().timestamp, found.get().offset};
    }

    private static Object close() {
        log.close();
        log = null;
        return null;
    }
}
