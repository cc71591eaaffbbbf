// A processor of goka counts words into its table, and a view reads the table.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/IBM/sarama"
	"github.com/lovoo/goka"
	"github.com/lovoo/goka/codec"
	"github.com/lovoo/goka/storage"
)

const (
	count             = 100
	group goka.Group  = "counts"
	words goka.Stream = "words"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	brokers := []string{os.Getenv("BOOTSTRAP")}
	config := goka.DefaultConfig()
	config.Consumer.Offsets.Initial = sarama.OffsetOldest // by default what is there already is left out
	goka.ReplaceGlobalConfig(config)
	settings := goka.NewTopicManagerConfig()
	settings.Table.Replication = 1
	settings.Stream.Replication = 1
	topics, err := goka.NewTopicManager(brokers, config, settings)
	check(err)
	check(topics.EnsureStreamExists(string(words), 4))
	managing := goka.TopicManagerBuilderWithTopicManagerConfig(settings)

	processor, err := goka.NewProcessor(brokers, goka.DefineGroup(group,
		goka.Input(words, new(codec.String), func(ctx goka.Context, word any) {
			number, _ := ctx.Value().(int64)
			ctx.SetValue(number + 1)
		}),
		goka.Persist(new(codec.Int64)),
	), goka.WithTopicManagerBuilder(managing), goka.WithStorageBuilder(storage.DefaultBuilder("processor")))
	check(err)
	go func() { check(processor.Run(ctx)) }()

	emitter, err := goka.NewEmitter(brokers, words, new(codec.String))
	check(err)
	for n := 0; n < count; n++ {
		check(emitter.EmitSync(fmt.Sprintf("word-%d", n%10), "said"))
	}
	check(emitter.Finish())

	check(processor.WaitForReadyContext(ctx))
	view, err := goka.NewView(brokers, goka.GroupTable(group), new(codec.Int64),
		goka.WithViewStorageBuilder(storage.DefaultBuilder("view")))
	check(err)
	go func() { check(view.Run(ctx)) }()
	for total(view) != count {
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			check(fmt.Errorf("the table has %d", total(view)))
		}
	}
	fmt.Printf("%d words counted\n", total(view))
}

func total(view *goka.View) int64 {
	var sum int64
	rows, err := view.Iterator()
	if err != nil {
		return -1
	}
	defer rows.Release()
	for rows.Next() {
		number, err := rows.Value()
		check(err)
		sum += number.(int64)
	}
	return sum
}

func check(err error) {
	if err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
}
