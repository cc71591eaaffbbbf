package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/oauth"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// Trust, certificate and key are PEM; without a mechanism the certificate says who it is.
type login struct {
	Mechanism   string `json:"mechanism"`
	User        string `json:"user"`
	Password    string `json:"password"`
	IsToken     bool   `json:"is_token"`
	Trust       string `json:"trust"`
	Certificate string `json:"certificate"`
	Key         string `json:"key"`
}

// Where and how to connect.
func connecting(asked request) []kgo.Opt {
	options := []kgo.Opt{kgo.SeedBrokers(asked.Bootstrap)}
	if asked.Login == nil {
		return options
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM([]byte(asked.Login.Trust))
	config := &tls.Config{RootCAs: trusted}
	if asked.Login.Certificate != "" {
		own, err := tls.X509KeyPair([]byte(asked.Login.Certificate), []byte(asked.Login.Key))
		check(err)
		config.Certificates = []tls.Certificate{own}
	}
	options = append(options, kgo.DialTLSConfig(config))
	if asked.Login.Mechanism != "" {
		options = append(options, kgo.SASL(mechanism(*asked.Login)))
	}
	return options
}

func mechanism(own login) sasl.Mechanism {
	secret := scram.Auth{User: own.User, Pass: own.Password, IsToken: own.IsToken}
	switch own.Mechanism {
	case "PLAIN":
		return plain.Auth{User: own.User, Pass: own.Password}.AsMechanism()
	case "SCRAM-SHA-256":
		return secret.AsSha256Mechanism()
	case "SCRAM-SHA-512":
		return secret.AsSha512Mechanism()
	}
	return oauth.Oauth(func(context.Context) (oauth.Auth, error) {
		return oauth.Auth{Token: own.Password}, nil
	})
}
