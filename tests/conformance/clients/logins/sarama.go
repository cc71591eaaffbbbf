package main

import (
	"errors"
	"time"

	"github.com/IBM/sarama"
	"github.com/xdg-go/scram"
)

func bySarama(asked request) (string, error) {
	config := sarama.NewConfig()
	config.Version = sarama.V3_6_0_0
	config.Producer.Return.Successes = true
	config.Producer.RequiredAcks = sarama.WaitForAll
	config.Metadata.Retry.Max = 1
	config.Net.TLS.Enable = true
	config.Net.TLS.Config = asked.Login.tls()
	if asked.Login.Mechanism != "" {
		saramaLogin(config, asked.Login)
	}
	client, err := sarama.NewClient([]string{asked.Bootstrap}, config)
	if err != nil {
		return "", err
	}
	defer client.Close()
	producer, err := sarama.NewSyncProducerFromClient(client)
	if err != nil {
		return "", err
	}
	message := &sarama.ProducerMessage{
		Topic: asked.Topic,
		Value: sarama.StringEncoder(asked.Value),
	}
	partition, offset, err := producer.SendMessage(message)
	if err != nil {
		return "", err
	}
	consumer, err := sarama.NewConsumerFromClient(client)
	if err != nil {
		return "", err
	}
	read, err := consumer.ConsumePartition(asked.Topic, partition, offset)
	if err != nil {
		return "", err
	}
	defer read.Close()
	select {
	case found := <-read.Messages():
		return string(found.Value), nil
	case <-time.After(patience):
		return "", errors.New("no record came")
	}
}

func saramaLogin(config *sarama.Config, own login) {
	config.Net.SASL.Enable = true
	config.Net.SASL.Mechanism = sarama.SASLMechanism(own.Mechanism)
	config.Net.SASL.User = own.User
	config.Net.SASL.Password = own.Password
	switch own.Mechanism {
	case sarama.SASLTypeSCRAMSHA256:
		config.Net.SASL.SCRAMClientGeneratorFunc = scramOf(scram.SHA256)
	case sarama.SASLTypeSCRAMSHA512:
		config.Net.SASL.SCRAMClientGeneratorFunc = scramOf(scram.SHA512)
	case sarama.SASLTypeOAuth:
		config.Net.SASL.TokenProvider = bearer(own.Password)
	}
}

type bearer string

func (token bearer) Token() (*sarama.AccessToken, error) {
	return &sarama.AccessToken{Token: string(token)}, nil
}

// What sarama leaves to its users.
type exchange struct {
	hash         scram.HashGeneratorFcn
	conversation *scram.ClientConversation
}

func scramOf(hash scram.HashGeneratorFcn) func() sarama.SCRAMClient {
	return func() sarama.SCRAMClient { return &exchange{hash: hash} }
}

func (own *exchange) Begin(user, password, authorization string) error {
	client, err := own.hash.NewClient(user, password, authorization)
	if err == nil {
		own.conversation = client.NewConversation()
	}
	return err
}

func (own *exchange) Step(challenge string) (string, error) {
	return own.conversation.Step(challenge)
}

func (own *exchange) Done() bool {
	return own.conversation.Done()
}
