// Answers requests, one JSON line each on standard input, as one JSON line each: rows are produced
// and, if a group is named, consumed in it; or, with "admin", topics and groups are administered.
// Rows are [timestamp, key, value, headers], with keys and values in base64.
const { Kafka, logLevel } = require('kafkajs');
const readline = require('readline');
const administer = require('./admin');
const codecs = require('./codecs');

const bytes = (text) => (text === null ? null : Buffer.from(text, 'base64'));
const base64 = (buffer) => (buffer === null ? null : buffer.toString('base64'));
const producers = new Map();

async function answer(request) {
  const kafka = new Kafka({
    brokers: [request.bootstrap],
    logLevel: logLevel.NOTHING,
    retry: { initialRetryTime: 50, retries: 30, maxRetryTime: 1000 },
    ...protection(request.login),
  });
  const admin = kafka.admin();
  await admin.connect();
  try {
    if (request.admin) return await administer(admin, request);
    await admin.createTopics({ topics: [{ topic: request.topic, numPartitions: 1 }] });
    await produce(kafka, request);
    const [{ high }] = await admin.fetchTopicOffsets(request.topic);
    const rows = request.group ? await consume(kafka, request, Number(high)) : [];
    return { end_offset: Number(high), rows };
  } finally {
    await admin.disconnect();
  }
}

// Trust, certificate and key are PEM; without a mechanism the certificate says who it is.
function protection(login) {
  if (!login) return {};
  const { mechanism, user: username, password, trust, certificate, key } = login;
  const ssl = { ca: [trust], cert: certificate || undefined, key: key || undefined };
  if (!mechanism) return { ssl };
  const oauthBearerProvider = async () => ({ value: password });
  const secret = mechanism === 'OAUTHBEARER' ? { oauthBearerProvider } : { username, password };
  return { ssl, sasl: { mechanism: mechanism.toLowerCase(), ...secret } };
}

// Producers stay from one request to the next, whatever becomes of the broker in between.
async function producerOf(kafka, request) {
  const name = JSON.stringify([request.idempotent, request.login]);
  if (!producers.has(name)) {
    const producer = kafka.producer({ idempotent: request.idempotent });
    await producer.connect();
    producers.set(name, producer);
  }
  return producers.get(name);
}

async function produce(kafka, request) {
  const producer = await producerOf(kafka, request);
  const messages = request.rows.map(([timestamp, key, value, headers]) => ({
    partition: 0,
    timestamp: String(timestamp),
    key: bytes(key),
    value: bytes(value),
    headers: Object.fromEntries(headers.map(([name, content]) => [name, bytes(content)])),
  }));
  const compression = await codecs.typeOf(request.codec);
  await producer.send({ topic: request.topic, acks: -1, compression, messages });
}

async function consume(kafka, request, count) {
  const consumer = kafka.consumer({ groupId: request.group, maxBytesPerPartition: 10_000_000 });
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
          if (rows.length === count) resolve();
        },
      })
      .catch(reject);
  });
  await consumer.disconnect();
  return rows;
}

async function main() {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    process.stdout.write(JSON.stringify(await answer(JSON.parse(line))) + '\n');
  }
  for (const producer of producers.values()) await producer.disconnect();
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
