// Produces the rows of a JSON request on standard input, consumes them again, and answers what
// came back as JSON. Rows are [timestamp, key, value, headers], bytes in base64.
package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
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
	Rows      []row  `json:"rows"`
}

var codecs = map[string]kgo.CompressionCodec{
	"none":   kgo.NoCompression(),
	"gzip":   kgo.GzipCompression(),
	"snappy": kgo.SnappyCompression(),
	"lz4":    kgo.Lz4Compression(),
	"zstd":   kgo.ZstdCompression(),
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	var asked request
	check(json.NewDecoder(os.Stdin).Decode(&asked))
	produce(ctx, asked)
	check(json.NewEncoder(os.Stdout).Encode(consume(ctx, asked)))
}

func produce(ctx context.Context, asked request) {
	client, err := kgo.NewClient(
		kgo.SeedBrokers(asked.Bootstrap),
		kgo.AllowAutoTopicCreation(),
		kgo.ProducerBatchCompression(codecs[asked.Codec]),
		kgo.ProducerBatchMaxBytes(10_000_000),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
	)
	check(err)
	defer client.Close()
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
	check(client.ProduceSync(ctx, records...).FirstErr())
}

func consume(ctx context.Context, asked request) []row {
	options := []kgo.Opt{kgo.SeedBrokers(asked.Bootstrap), kgo.FetchMaxPartitionBytes(10_000_000)}
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
	for len(rows) < len(asked.Rows) {
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
