// Produces the rows of a JSON request on standard input, then, if a group is named, consumes
// them in it; answers what came back as JSON. Rows are [timestamp, key, value, headers], with
// keys and values in base64.
const { Kafka, CompressionTypes, logLevel } = require('kafkajs');

const bytes = (text) => (text === null ? null : Buffer.from(text, 'base64'));
const base64 = (buffer) => (buffer === null ? null : buffer.toString('base64'));

async function main() {
  const request = JSON.parse(require('fs').readFileSync(0, 'utf8'));
  const kafka = new Kafka({ brokers: [request.bootstrap], logLevel: logLevel.ERROR });
  const admin = kafka.admin();
  await admin.connect();
  await admin.createTopics({ topics: [{ topic: request.topic, numPartitions: 1 }] });
  await produce(kafka, request);
  const [{ high }] = await admin.fetchTopicOffsets(request.topic);
  await admin.disconnect();
  const rows = request.group ? await consume(kafka, request) : [];
  process.stdout.write(JSON.stringify({ end_offset: Number(high), rows }));
}

async function produce(kafka, request) {
  const producer = kafka.producer({ idempotent: request.idempotent });
  await producer.connect();
  const messages = request.rows.map(([timestamp, key, value, headers]) => ({
    partition: 0,
    timestamp: String(timestamp),
    key: bytes(key),
    value: bytes(value),
    headers: Object.fromEntries(headers.map(([name, content]) => [name, bytes(content)])),
  }));
  const compression = CompressionTypes[request.codec.toUpperCase()];
  await producer.send({ topic: request.topic, acks: -1, compression, messages });
  await producer.disconnect();
}

async function consume(kafka, request) {
  const consumer = kafka.consumer({ groupId: request.group });
  await consumer.connect();
  await consumer.subscribe({ topics: [request.topic], fromBeginning: true });
  const rows = [];
  await new Promise((resolve, reject) => {
    consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error));
    consumer
      .run({
        eachMessage: async ({ message }) => {
          const headers = Object.entries(message.headers ?? {});
          rows.push([
            Number(message.timestamp),
            base64(message.key),
            base64(message.value),
            headers.map(([name, content]) => [name, base64(content)]),
          ]);
          if (rows.length === request.rows.length) resolve();
        },
      })
      .catch(reject);
  });
  await consumer.disconnect();
  return rows;
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
