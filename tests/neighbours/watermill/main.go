// A message router of watermill: it turns orders into invoices, and this program reads them.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/IBM/sarama"
	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill-kafka/v3/pkg/kafka"
	"github.com/ThreeDotsLabs/watermill/message"
)

const count = 100

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	brokers := []string{os.Getenv("BOOTSTRAP")}
	logger := watermill.NewStdLogger(false, false)
	publisher, err := kafka.NewPublisher(kafka.PublisherConfig{
		Brokers:   brokers,
		Marshaler: kafka.DefaultMarshaler{},
	}, logger)
	check(err)
	router, err := message.NewRouter(message.RouterConfig{}, logger)
	check(err)
	router.AddHandler("bill", "orders", subscriber(brokers, "billing", logger), "invoices", publisher,
		func(order *message.Message) ([]*message.Message, error) {
			invoice := message.NewMessage(watermill.NewUUID(), append(order.Payload, " paid"...))
			return message.Messages{invoice}, nil
		})
	go func() { check(router.Run(ctx)) }()
	<-router.Running()

	invoices, err := subscriber(brokers, "archive", logger).Subscribe(ctx, "invoices")
	check(err)
	for n := 0; n < count; n++ {
		order := message.NewMessage(watermill.NewUUID(), []byte(fmt.Sprintf("order %d", n)))
		check(publisher.Publish("orders", order))
	}
	seen := map[string]bool{}
	for len(seen) < count {
		select {
		case invoice := <-invoices:
			seen[string(invoice.Payload)] = true
			invoice.Ack()
		case <-ctx.Done():
			check(ctx.Err())
		}
	}
	fmt.Printf("%d invoices\n", len(seen))
}

func subscriber(brokers []string, group string, logger watermill.LoggerAdapter) *kafka.Subscriber {
	settings := kafka.DefaultSaramaSubscriberConfig()
	settings.Consumer.Offsets.Initial = sarama.OffsetOldest
	made, err := kafka.NewSubscriber(kafka.SubscriberConfig{
		Brokers:               brokers,
		Unmarshaler:           kafka.DefaultMarshaler{},
		OverwriteSaramaConfig: settings,
		ConsumerGroup:         group,
	}, logger)
	check(err)
	return made
}

func check(err error) {
	if err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
}
