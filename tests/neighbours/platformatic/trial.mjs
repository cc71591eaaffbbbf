// A producer and a consumer of @platformatic/kafka, and its admin client.
import { Admin, Consumer, MessagesStreamModes, Producer, stringDeserializers, stringSerializers } from '@platformatic/kafka'

const count = 100
const bootstrapBrokers = [process.env.BOOTSTRAP]

const admin = new Admin({ clientId: 'admin', bootstrapBrokers })
await admin.createTopics({ topics: ['orders'], partitions: 3, replicas: 1 })

const producer = new Producer({ clientId: 'shop', bootstrapBrokers, serializers: stringSerializers })
const messages = Array.from({ length: count }, (_, n) => ({ topic: 'orders', key: `customer-${n % 7}`, value: `order ${n}` }))
await producer.send({ messages })

const consumer = new Consumer({ clientId: 'billing', groupId: 'billing', bootstrapBrokers, deserializers: stringDeserializers })
const stream = await consumer.consume({ topics: ['orders'], mode: MessagesStreamModes.EARLIEST, autocommit: true })
const seen = new Set()
for await (const message of stream) {
  seen.add(message.value)
  if (seen.size === count) break
}
console.log(`${seen.size} orders`)
await stream.close()
await Promise.all([consumer.close(true), producer.close(), admin.close()])
