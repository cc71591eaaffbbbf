package main

import (
	"context"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"
)

func byKafkaGo(asked request) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	mechanism, err := kafkaGoMechanism(asked.Login)
	if err != nil {
		return "", err
	}
	secured := asked.Login.tls()
	writer := &kafka.Writer{
		Addr:                   kafka.TCP(asked.Bootstrap),
		Topic:                  asked.Topic,
		AllowAutoTopicCreation: true,
		RequiredAcks:           kafka.RequireAll,
		BatchSize:              1,
		Transport:              &kafka.Transport{TLS: secured, SASL: mechanism},
	}
	defer writer.Close()
	// Its attempts end with its context: a topic that is just made has no leader yet.
	if err = write(ctx, writer, asked.Value); err != nil {
		return "", err
	}
	reader := kafka.NewReader(kafka.ReaderConfig{
		Brokers: []string{asked.Bootstrap},
		Topic:   asked.Topic,
		Dialer:  &kafka.Dialer{TLS: secured, SASLMechanism: mechanism, Timeout: patience},
	})
	defer reader.Close()
	message, err := reader.ReadMessage(ctx)
	return string(message.Value), err
}

func write(ctx context.Context, writer *kafka.Writer, value string) error {
	for {
		err := writer.WriteMessages(ctx, kafka.Message{Value: []byte(value)})
		if err != kafka.UnknownTopicOrPartition && err != kafka.LeaderNotAvailable {
			return err
		}
	}
}

func kafkaGoMechanism(own login) (sasl.Mechanism, error) {
	switch own.Mechanism {
	case "PLAIN":
		return plain.Mechanism{Username: own.User, Password: own.Password}, nil
	case "SCRAM-SHA-256":
		return scram.Mechanism(scram.SHA256, own.User, own.Password)
	case "SCRAM-SHA-512":
		return scram.Mechanism(scram.SHA512, own.User, own.Password)
	}
	return nil, nil
}
