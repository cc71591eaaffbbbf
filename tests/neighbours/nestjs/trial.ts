// A microservice of NestJS over Kafka: events, and requests with replies.
import 'reflect-metadata'
import { Controller, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { ClientKafka, EventPattern, MessagePattern, MicroserviceOptions, Payload, Transport } from '@nestjs/microservices'
import { lastValueFrom } from 'rxjs'

const count = 100
const brokers = [process.env.BOOTSTRAP!]
const seen = new Set<number>()
let allSeen = () => {}
const done = new Promise<void>((resolve) => { allSeen = resolve })

@Controller()
class Orders {
  @EventPattern('orders')
  placed(@Payload() order: { n: number }) {
    seen.add(order.n)
    if (seen.size === count) allSeen()
  }

  @MessagePattern('sum')
  sum(@Payload() numbers: number[]) {
    return numbers.reduce((one, two) => one + two)
  }
}

@Module({ controllers: [Orders] })
class Shop {}

async function main() {
  const app = await NestFactory.createMicroservice<MicroserviceOptions>(Shop, {
    logger: ['error', 'warn'],
    transport: Transport.KAFKA,
    options: {
      client: { brokers },
      consumer: { groupId: 'billing', allowAutoTopicCreation: true },
      subscribe: { fromBeginning: true },
    },
  })
  await app.listen()

  const client = new ClientKafka({ client: { brokers }, consumer: { groupId: 'asking' } })
  client.subscribeToResponseOf('sum')
  await client.connect()
  for (let n = 0; n < count; n++) await lastValueFrom(client.emit('orders', { value: { n } }))
  const sum = await lastValueFrom(client.send('sum', [1, 2, 3]))
  await done
  console.log(`${seen.size} events, sum ${sum}`)
  await client.close()
  await app.close()
}

main().catch((error) => {
  console.error(error)
  process.exit(1)
})
