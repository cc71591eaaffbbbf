// Answers requests, one JSON line each on standard input, as one JSON line each: values are written
// with schemas of a registry and read again, by kafkajs' own client of registries.
const { SchemaRegistry, SchemaType, COMPATIBILITY } = require('@kafkajs/confluent-schema-registry');
const readline = require('readline');

const fruit = { type: 'record', name: 'Fruit', fields: [{ name: 'what', type: 'string' }] };
const basket = { type: 'record', name: 'Basket', fields: [{ name: 'of', type: 'Fruit' }] };
const person = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
const order = 'syntax = "proto3";\n\nmessage Order {\n  string what = 1;\n}\n';

async function answer({ registry: host, subject, auth }) {
  const registry = new SchemaRegistry({ host, auth, retry: { retries: 1 } });
  const thereAndBack = async (schema, name, value) => {
    const { id } = await registry.register(schema, { subject: `${subject}-${name}` });
    const read = await registry.decode(await registry.encode(id, value));
    const known = await registry.getLatestSchemaId(`${subject}-${name}`);
    return { same: id === known, read };
  };
  const avro = { type: SchemaType.AVRO, schema: JSON.stringify(fruit) };
  const found = {
    avro: await thereAndBack(avro, 'fruit', { what: 'pear' }),
    json: await thereAndBack(
      { type: SchemaType.JSON, schema: JSON.stringify(person) }, 'person', { name: 'Anna' }),
    protobuf: await thereAndBack(
      { type: SchemaType.PROTOBUF, schema: order }, 'order', { what: 'figs' }),
  };
  const references = [{ name: 'Fruit', subject: `${subject}-fruit`, version: 1 }];
  found.reference = await thereAndBack(
    { type: SchemaType.AVRO, schema: JSON.stringify(basket), references },
    'basket', { of: { what: 'plum' } });
  found.lookedUp = await registry.getRegistryIdBySchema(`${subject}-fruit`, avro)
    === await registry.getRegistryId(`${subject}-fruit`, 1);
  const other = { ...fruit, fields: [{ name: 'ripe', type: 'boolean' }] };
  await registry.register(
    { type: SchemaType.AVRO, schema: JSON.stringify(other) }, { subject: `${subject}-fruit` },
  ).catch((error) => { found.refused = error.status; });
  await registry.register(avro, {
    subject: `${subject}-other`, compatibility: COMPATIBILITY.FULL,
  });
  return found;
}

const lines = readline.createInterface({ input: process.stdin });
(async () => {
  for await (const line of lines) {
    process.stdout.write(`${JSON.stringify(await answer(JSON.parse(line)))}\n`);
  }
})().catch((error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exit(1);
});
