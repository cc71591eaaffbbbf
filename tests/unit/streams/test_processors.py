"""What a processor is given and gives."""

from collections.abc import Iterator

from moldau.streams import StreamsBuilder
from moldau.streams.nodes.processors import Process
from moldau.streams.processors import Context, Processor, Record


class Nothing(Processor):
    def process(self, record: Record, context: Context) -> Iterator[Record]:
        yield from ()


def test_a_record_is_changed_by_making_another() -> None:
    record = Record("k", "v", 1)
    changed = record.with_key("l").with_value("w").with_timestamp(2)
    assert (record, changed) == (Record("k", "v", 1), Record("l", "w", 2))
    assert changed.with_headers((("h", b"x"),)).headers == (("h", b"x"),)


def test_a_timer_does_nothing_unless_the_processor_says_so() -> None:
    assert list(Nothing().on_timer("k", 1, None)) == []  # type: ignore[arg-type]


def test_a_stream_has_processors_as_nodes() -> None:
    node = StreamsBuilder().stream("a").process(Nothing(), returns="bigint", name="nothing").node
    assert isinstance(node, Process)
    assert (node.name, node.returns, node.returns_key, node.store) == (
        "nothing",
        "bigint",
        None,
        None,
    )
