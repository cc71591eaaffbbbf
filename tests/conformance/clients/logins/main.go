// Answers JSON requests on standard input, one after the other: "client" logs in, writes a record,
// and reads it again.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"
)

// Trust, certificate and key are PEM; without a mechanism the certificate says who it is.
type login struct {
	Mechanism   string `json:"mechanism"`
	User        string `json:"user"`
	Password    string `json:"password"`
	Trust       string `json:"trust"`
	Certificate string `json:"certificate"`
	Key         string `json:"key"`
}

type request struct {
	Client    string `json:"client"`
	Bootstrap string `json:"bootstrap"`
	Topic     string `json:"topic"`
	Value     string `json:"value"`
	Login     login  `json:"login"`
}

type answer struct {
	Value string `json:"value"`
	Error string `json:"error"`
}

const patience = 30 * time.Second

var clients = map[string]func(request) (string, error){
	"kafka-go": byKafkaGo,
	"sarama":   bySarama,
}

func main() {
	requests := json.NewDecoder(os.Stdin)
	for {
		var asked request
		err := requests.Decode(&asked)
		if err == io.EOF {
			return
		}
		check(err)
		var told answer
		told.Value, err = clients[asked.Client](asked)
		if err != nil {
			told.Error = err.Error()
		}
		check(json.NewEncoder(os.Stdout).Encode(told))
	}
}

func (own login) tls() *tls.Config {
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM([]byte(own.Trust))
	config := &tls.Config{RootCAs: trusted, ServerName: "127.0.0.1"}
	if own.Certificate != "" {
		pair, err := tls.X509KeyPair([]byte(own.Certificate), []byte(own.Key))
		check(err)
		config.Certificates = []tls.Certificate{pair}
	}
	return config
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
