package main

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/twmb/franz-go/pkg/sr"
)

const (
	fruit = `{"type":"record","name":"Fruit","fields":[{"name":"what","type":"string"}]}`
	ripe  = `{"type":"record","name":"Fruit","fields":[{"name":"what","type":"string"},` +
		`{"name":"ripe","type":"boolean","default":true}]}`
	person = `{"type":"object","properties":{"name":{"type":"string"}}}`
	inner  = "syntax = \"proto3\";\n\nmessage Inner {\n  int32 x = 1;\n}\n"
	outer  = "syntax = \"proto3\";\n\nimport \"inner.proto\";\n\nmessage Outer {\n  Inner i = 1;\n}\n"
)

// Registers, looks up, compares, refers, configures and deletes, by franz-go's package sr.
func keepSchemas(ctx context.Context, url, subject string) any {
	client, err := sr.NewClient(sr.URLs(url))
	check(err)
	found := map[string]any{}
	first, err := client.CreateSchema(ctx, subject, sr.Schema{Schema: fruit})
	check(err)
	text, err := client.SchemaTextByID(ctx, first.ID)
	check(err)
	found["text"] = text == fruit
	found["kinds"], err = client.SupportedTypes(ctx)
	check(err)
	checked, err := client.CheckCompatibility(ctx, subject, -1, sr.Schema{Schema: ripe})
	check(err)
	found["ripe fits"] = checked.Is
	checked, err = client.CheckCompatibility(ctx, subject, -1, sr.Schema{Schema: `"int"`})
	check(err)
	found["int fits"] = checked.Is
	for _, result := range client.SetCompatibility(
		ctx, sr.SetCompatibility{Level: sr.CompatFullTransitive}, subject) {
		check(result.Err)
		found["level"] = result.Level.String()
	}
	second, err := client.CreateSchema(ctx, subject, sr.Schema{Schema: ripe})
	check(err)
	found["versions"] = []int{first.Version, second.Version}
	looked, err := client.LookupSchema(ctx, subject, sr.Schema{Schema: ripe})
	check(err)
	found["looked up"] = looked.ID == second.ID
	_, err = client.CreateSchema(ctx, subject, sr.Schema{Schema: `"int"`})
	found["refused"] = codeOf(err)
	keepOthers(ctx, client, subject, found)
	found["deleted"], err = client.DeleteSubject(ctx, subject, sr.SoftDelete)
	check(err)
	found["deleted for ever"], err = client.DeleteSubject(ctx, subject, sr.HardDelete)
	check(err)
	_, err = client.SchemaByVersion(ctx, subject, -1)
	found["gone"] = codeOf(err)
	return found
}

// Schemas of the other kinds, a reference, and a value with the header of its schema.
func keepOthers(ctx context.Context, client *sr.Client, subject string, found map[string]any) {
	kept, err := client.CreateSchema(ctx, subject+"-inner", sr.Schema{Schema: inner, Type: sr.TypeProtobuf})
	check(err)
	reference := sr.SchemaReference{Name: "inner.proto", Subject: subject + "-inner", Version: 1}
	using, err := client.CreateSchema(ctx, subject+"-outer", sr.Schema{
		Schema: outer, Type: sr.TypeProtobuf, References: []sr.SchemaReference{reference}})
	check(err)
	users, err := client.SchemaReferences(ctx, subject+"-inner", kept.Version)
	check(err)
	found["users"] = len(users) == 1 && users[0].ID == using.ID
	held, err := client.CreateSchema(ctx, subject+"-json", sr.Schema{Schema: person, Type: sr.TypeJSON})
	check(err)
	serde := sr.NewSerde(sr.EncodeFn(json.Marshal), sr.DecodeFn(json.Unmarshal))
	serde.Register(held.ID, map[string]string{})
	read := map[string]string{}
	check(serde.Decode(serde.MustEncode(map[string]string{"name": "Anna"}), &read))
	found["read"] = read["name"]
}

func codeOf(err error) int {
	var refused *sr.ResponseError
	if errors.As(err, &refused) {
		return refused.ErrorCode
	}
	check(err)
	return 0
}
