package main

import (
	"context"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Administers the topic and the group of a request, and says what was seen on the way.
func administer(ctx context.Context, asked request) map[string]any {
	client, err := kgo.NewClient(kgo.SeedBrokers(asked.Bootstrap))
	check(err)
	defer client.Close()
	admin, seen := kadm.NewClient(client), map[string]any{}
	topics(ctx, admin, asked.Topic, seen)
	groups(ctx, admin, asked, seen)
	deleted, err := admin.DeleteTopic(ctx, asked.Topic)
	check(err)
	check(deleted.Err)
	listed, err := admin.ListTopics(ctx)
	check(err)
	seen["is_gone"] = !listed.Has(asked.Topic)
	return seen
}

func topics(ctx context.Context, admin *kadm.Client, topic string, seen map[string]any) {
	policy, another := "compact", "delete"
	settings := map[string]*string{"cleanup.policy": &policy}
	_, err := admin.CreateTopic(ctx, 2, 1, settings, topic)
	check(err)
	_, err = admin.CreateTopic(ctx, 2, 1, settings, topic)
	seen["created_again"] = err == kerr.TopicAlreadyExists
	partitions, err := admin.UpdatePartitions(ctx, 3, topic)
	check(err)
	check(partitions.Error())
	listed, err := admin.ListTopics(ctx, topic)
	check(err)
	seen["partitions"] = len(listed[topic].Partitions)

	retention := "123456"
	changed, err := admin.AlterTopicConfigs(ctx, []kadm.AlterConfig{
		{Op: kadm.SetConfig, Name: "retention.ms", Value: &retention},
		{Op: kadm.AppendConfig, Name: "cleanup.policy", Value: &another},
	}, topic)
	check(err)
	check(changed[0].Err)
	described, err := admin.DescribeTopicConfigs(ctx, topic)
	check(err)
	found := map[string]string{}
	for _, each := range described[0].Configs {
		if each.Key == "retention.ms" || each.Key == "cleanup.policy" {
			found[each.Key] = each.MaybeValue()
		}
	}
	seen["settings"] = found
	ends, err := admin.ListEndOffsets(ctx, topic)
	check(err)
	seen["ends"] = len(ends[topic])
}

func groups(ctx context.Context, admin *kadm.Client, asked request, seen map[string]any) {
	offsets := kadm.OffsetsFromRecords(kgo.Record{Topic: asked.Topic, Partition: 0, Offset: 6})
	check(admin.CommitAllOffsets(ctx, asked.Group, offsets))
	fetched, err := admin.FetchOffsets(ctx, asked.Group)
	check(err)
	seen["offset"] = fetched[asked.Topic][0].At
	described, err := admin.DescribeGroups(ctx, asked.Group)
	check(err)
	seen["state"] = described[asked.Group].State
	listed, err := admin.ListGroups(ctx)
	check(err)
	_, seen["is_listed"] = listed[asked.Group]
	deleted, err := admin.DeleteGroup(ctx, asked.Group)
	check(err)
	check(deleted.Err)
	meta, err := admin.BrokerMetadata(ctx)
	check(err)
	seen["brokers"] = meta.Brokers.NodeIDs()
	seen["controller"] = meta.Controller
}
