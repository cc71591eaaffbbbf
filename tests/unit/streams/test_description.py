"""The text of a topology is laid out as Kafka's."""

from moldau.streams import StreamsBuilder

WORD_COUNT = """\
Topologies:
   Sub-topology: 0
    Source: KSTREAM-SOURCE-0000000000 (topics: [lines])
      --> KSTREAM-FLATMAPVALUES-0000000001
    Processor: KSTREAM-FLATMAPVALUES-0000000001 (stores: [])
      --> KSTREAM-KEY-SELECT-0000000002
      <-- KSTREAM-SOURCE-0000000000
    Processor: KSTREAM-KEY-SELECT-0000000002 (stores: [])
      --> KSTREAM-AGGREGATE-0000000003
      <-- KSTREAM-FLATMAPVALUES-0000000001
    Processor: KSTREAM-AGGREGATE-0000000003 (stores: [counts])
      --> KTABLE-CHANGELOG-0000000004, KTABLE-TOSTREAM-0000000005
      <-- KSTREAM-KEY-SELECT-0000000002
    Sink: KTABLE-CHANGELOG-0000000004 (topic: counts-changelog)
      <-- KSTREAM-AGGREGATE-0000000003
    Processor: KTABLE-TOSTREAM-0000000005 (stores: [])
      --> KSTREAM-SINK-0000000006
      <-- KSTREAM-AGGREGATE-0000000003
    Sink: KSTREAM-SINK-0000000006 (topic: words)
      <-- KTABLE-TOSTREAM-0000000005

"""


def test_the_word_count_is_described() -> None:
    builder = StreamsBuilder()
    words = builder.stream("lines").flat_map_values("split(value, ' ')")
    words.group_by("value").count(store="counts").to_stream().to("words")
    assert builder.build().describe() == WORD_COUNT


def test_global_tables_and_chosen_topics_are_named() -> None:
    builder = StreamsBuilder()
    builder.global_table("users")

    def by_country(value: object) -> object:
        return value

    builder.stream("orders").to(by_country)  # type: ignore[arg-type]
    text = builder.build().describe()
    assert "Sub-topology: 0 for global store (will not generate tasks)" in text
    assert "(extractor class: by_country)" in text
    assert "Source: KTABLE-GLOBAL-SOURCE-0000000000 (topics: [users])\n      --> none" in text
