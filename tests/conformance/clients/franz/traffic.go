// Answers JSON requests on standard input, one after the other: rows are produced and consumed
// again from the start; or, with "admin", topics and groups are administered; or, with the address
// of a "registry", schemas are kept there. Rows are [timestamp, key, value, headers], bytes in
// base64.
package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

type header struct {
	Name    string  `json:"name"`
	Content *string `json:"content"`
}

type row struct {
	TimestampMs int64    `json:"timestamp_ms"`
	Key         *string  `json:"key"`
	Value       *string  `json:"value"`
	Headers     []header `json:"headers"`
}

type request struct {
	Bootstrap string `json:"bootstrap"`
	Topic     string `json:"topic"`
	Codec     string `json:"codec"`
	Group     string `json:"group"`
	Count     int    `json:"count"`
	Admin     bool   `json:"admin"`
	Registry  string `json:"registry"`
	Rows      []row  `json:"rows"`
	Login     *login `json:"login"`
}

var codecs = map[string]kgo.CompressionCodec{
	"none":   kgo.NoCompression(),
	"gzip":   kgo.GzipCompression(),
	"snappy": kgo.SnappyCompression(),
	"lz4":    kgo.Lz4Compression(),
	"zstd":   kgo.ZstdCompression(),
}

// Stays from one request to the next, whatever becomes of the broker in between; each login has
// a new one.
var producer *kgo.Client

func main() {
	requests := json.NewDecoder(os.Stdin)
	for {
		var asked request
		err := requests.Decode(&asked)
		if err == io.EOF {
			break
		}
		check(err)
		check(json.NewEncoder(os.Stdout).Encode(answer(asked)))
	}
	if producer != nil {
		producer.Close()
	}
}

func answer(asked request) any {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if asked.Admin {
		return administer(ctx, asked)
	}
	if asked.Registry != "" {
		return keepSchemas(ctx, asked.Registry, asked.Topic)
	}
	produce(ctx, asked)
	return consume(ctx, asked)
}

func producerOf(asked request) *kgo.Client {
	if producer != nil && asked.Login != nil {
		producer.Close()
		producer = nil
	}
	if producer == nil {
		client, err := kgo.NewClient(append(connecting(asked),
			kgo.AllowAutoTopicCreation(),
			kgo.ProducerBatchCompression(codecs[asked.Codec]),
			kgo.ProducerBatchMaxBytes(10_000_000),
			kgo.RecordPartitioner(kgo.ManualPartitioner()),
		)...)
		check(err)
		producer = client
	}
	return producer
}

func produce(ctx context.Context, asked request) {
	records := make([]*kgo.Record, 0, len(asked.Rows))
	for _, one := range asked.Rows {
		record := &kgo.Record{
			Topic: asked.Topic, Partition: 0, Timestamp: time.UnixMilli(one.TimestampMs),
			Key: decode(one.Key), Value: decode(one.Value),
		}
		for _, header := range one.Headers {
			record.Headers = append(record.Headers,
				kgo.RecordHeader{Key: header.Name, Value: decode(header.Content)})
		}
		records = append(records, record)
	}
	check(producerOf(asked).ProduceSync(ctx, records...).FirstErr())
}

func consume(ctx context.Context, asked request) []row {
	options := append(connecting(asked), kgo.FetchMaxPartitionBytes(10_000_000))
	if asked.Group == "" {
		start := kgo.NewOffset().AtStart()
		options = append(options, kgo.ConsumePartitions(
			map[string]map[int32]kgo.Offset{asked.Topic: {0: start}}))
	} else {
		options = append(options, kgo.ConsumerGroup(asked.Group), kgo.ConsumeTopics(asked.Topic),
			kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	}
	client, err := kgo.NewClient(options...)
	check(err)
	defer client.Close()
	var rows []row
	for len(rows) < asked.Count {
		fetches := client.PollFetches(ctx)
		check(fetches.Err())
		fetches.EachRecord(func(record *kgo.Record) {
			one := row{TimestampMs: record.Timestamp.UnixMilli(),
				Key: encode(record.Key), Value: encode(record.Value), Headers: []header{}}
			for _, found := range record.Headers {
				one.Headers = append(one.Headers, header{found.Key, encode(found.Value)})
			}
			rows = append(rows, one)
		})
	}
	return rows
}

func decode(text *string) []byte {
	if text == nil {
		return nil
	}
	bytes, err := base64.StdEncoding.DecodeString(*text)
	check(err)
	return bytes
}

func encode(bytes []byte) *string {
	if bytes == nil {
		return nil
	}
	text := base64.StdEncoding.EncodeToString(bytes)
	return &text
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
