package oracle;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import line.Calls;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.CompressionType;
import org.apache.kafka.common.record.ControlRecordType;
import org.apache.kafka.common.record.EndTransactionMarker;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.MemoryRecordsBuilder;
import org.apache.kafka.common.record.Record;
import org.apache.kafka.common.record.RecordBatch;
import org.apache.kafka.common.record.SimpleRecord;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.utils.ByteBufferOutputStream;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.common.utils.Utils;

/** Record batches and old message sets, read, written and converted by kafka-clients. */
final class RecordCalls {
    static void register(Calls calls) {
        calls.add("read_records", RecordCalls::read);
        calls.add("write_records", RecordCalls::write);
        calls.add("write_marker", RecordCalls::marker);
        calls.add("down_convert", RecordCalls::downConvert);
    }

    private static Object read(JsonNode arguments) throws Exception {
        List<Object> batches = new ArrayList<>();
        for (RecordBatch batch : records(arguments).batches()) {
            batch.ensureValid();
            batches.add(describe(batch));
        }
        return batches;
    }

    private static Map<String, Object> describe(RecordBatch batch) {
        Map<String, Object> facts = new LinkedHashMap<>();
        facts.put("magic", batch.magic());
        facts.put("base_offset", batch.baseOffset());
        facts.put("last_offset", batch.lastOffset());
        facts.put("size", batch.sizeInBytes());
        facts.put("codec", batch.compressionType().id);
        facts.put("timestamp_type", batch.timestampType().id);
        facts.put("max_timestamp", batch.maxTimestamp());
        facts.put("producer_id", batch.producerId());
        facts.put("producer_epoch", batch.producerEpoch());
        facts.put("base_sequence", batch.baseSequence());
        facts.put("last_sequence", batch.lastSequence());
        facts.put("leader_epoch", batch.partitionLeaderEpoch());
        facts.put("is_transactional", batch.isTransactional());
        facts.put("is_control", batch.isControlBatch());
        facts.put("delete_horizon", batch.deleteHorizonMs().isPresent()
            ? batch.deleteHorizonMs().getAsLong() : null);
        List<Object> records = new ArrayList<>();
        for (Record record : batch) {
            record.ensureValid();
            records.add(describe(record));
            if (batch.isControlBatch()) {
                facts.put("control_type", ControlRecordType.parse(record.key()).name());
                facts.put("coordinator_epoch",
                    EndTransactionMarker.deserialize(record).coordinatorEpoch());
            }
        }
        facts.put("records", records);
        return facts;
    }

    private static List<Object> describe(Record record) {
        List<Object> headers = new ArrayList<>();
        for (Header header : record.headers()) {
            List<Object> pair = new ArrayList<>();
            pair.add(header.key());
            pair.add(header.value());
            headers.add(pair);
        }
        List<Object> facts = new ArrayList<>();
        facts.add(record.offset());
        facts.add(record.timestamp());
        facts.add(record.hasKey() ? Utils.toArray(record.key()) : null);
        facts.add(record.hasValue() ? Utils.toArray(record.value()) : null);
        facts.add(headers);
        return facts;
    }

    private static Object write(JsonNode arguments) throws Exception {
        ByteBufferOutputStream out = new ByteBufferOutputStream(1 << 16);
        JsonNode horizon = arguments.get("delete_horizon");
        MemoryRecordsBuilder builder = new MemoryRecordsBuilder(out,
            (byte) arguments.get("magic").asInt(),
            Compression.of(CompressionType.forId(arguments.get("codec").asInt())).build(),
            TimestampType.forName(arguments.get("timestamp_type").asText()),
            arguments.get("base_offset").asLong(),
            arguments.get("log_append_time").asLong(),
            arguments.get("producer_id").asLong(),
            (short) arguments.get("producer_epoch").asInt(),
            arguments.get("base_sequence").asInt(),
            arguments.get("is_transactional").asBoolean(),
            false,
            arguments.get("leader_epoch").asInt(),
            Integer.MAX_VALUE,
            horizon.isNull() ? RecordBatch.NO_TIMESTAMP : horizon.asLong());
        for (JsonNode record : arguments.get("records")) {
            builder.appendWithOffset(record.get(0).asLong(), simple(record));
        }
        return Utils.toArray(builder.build().buffer());
    }

    /** A record travels as [offset, timestamp, key, value, [[header key, header value]...]]. */
    private static SimpleRecord simple(JsonNode record) throws Exception {
        List<Header> headers = new ArrayList<>();
        for (JsonNode header : record.get(4)) {
            headers.add(new RecordHeader(header.get(0).asText(), Calls.bytes(header.get(1))));
        }
        return new SimpleRecord(record.get(1).asLong(), Calls.bytes(record.get(2)),
            Calls.bytes(record.get(3)), headers.toArray(new Header[0]));
    }

    private static Object marker(JsonNode arguments) {
        EndTransactionMarker marker = new EndTransactionMarker(
            ControlRecordType.valueOf(arguments.get("control_type").asText()),
            arguments.get("coordinator_epoch").asInt());
        return Utils.toArray(MemoryRecords.withEndTransactionMarker(
            arguments.get("base_offset").asLong(), arguments.get("timestamp").asLong(),
            arguments.get("leader_epoch").asInt(), arguments.get("producer_id").asLong(),
            (short) arguments.get("producer_epoch").asInt(), marker).buffer());
    }

    private static Object downConvert(JsonNode arguments) throws Exception {
        return Utils.toArray(records(arguments).downConvert(
            (byte) arguments.get("magic").asInt(), arguments.get("first_offset").asLong(),
            Time.SYSTEM).records().buffer());
    }

    static MemoryRecords records(JsonNode arguments) throws Exception {
        return MemoryRecords.readableRecords(ByteBuffer.wrap(Calls.bytes(arguments.get("data"))));
    }
}
