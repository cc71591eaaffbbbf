"""The word count of Kafka's own guide, with its topics: on Moldau, or on any Kafka.

    moldau streams run examples/word_count.py --bootstrap-server localhost:9092

reads lines from streams-plaintext-input and writes counts to streams-wordcount-output; make both
topics first. Kafka's tools see what comes:

    kafka-console-consumer.sh --bootstrap-server localhost:9092 \
        --topic streams-wordcount-output --from-beginning --property print.key=true \
        --property value.deserializer=org.apache.kafka.common.serialization.LongDeserializer
"""

from moldau.streams import LONG, STRING, StreamsBuilder, Topology

application = "streams-wordcount"


def topology() -> Topology:
    builder = StreamsBuilder()
    lines = builder.stream("streams-plaintext-input")
    words = lines.flat_map_values(r"split(lower(value), '\\W+')").filter("value <> ''")
    counts = words.group_by("value").count(store="counts-store")
    counts.to_stream().to("streams-wordcount-output", key=STRING, value=LONG)
    return builder.build()


if __name__ == "__main__":
    print(topology().describe())
