"""What a checkpoint depends on is compared, and what it does not depend on is not."""

from collections.abc import Callable, Iterator
from typing import ClassVar

from moldau.streams import (
    Context,
    JoinWindows,
    KStream,
    Processor,
    Record,
    SessionWindows,
    SlidingWindows,
    StreamsBuilder,
    TimeWindows,
    ValueStore,
)
from moldau.streams.compile.naming import in_order
from moldau.streams.compile.signatures import QuerySignature
from moldau.streams.windows import Windows

WINDOW = TimeWindows.of_size_and_grace(10, 5)


class Counting(Processor):
    stores: ClassVar = {"seen": ValueStore("bigint")}

    def process(self, record: Record, context: Context) -> Iterator[Record]:
        del context
        yield record


def signature(
    build: Callable[[KStream], KStream], *topics: str, mode: str = "update", types: str = "string"
) -> QuerySignature:
    builder = StreamsBuilder()
    build(builder.stream(*(topics or ("lines",)))).to("output")
    nodes = in_order(builder.build().sinks)
    return QuerySignature.of(mode, nodes, dict.fromkeys(nodes, (types, types)))


def counted(windows: Windows | None = None) -> Callable[[KStream], KStream]:
    def build(stream: KStream) -> KStream:
        grouped = stream.group_by_key()
        return (grouped if windows is None else grouped.windowed_by(windows)).count().to_stream()

    return build


def test_stateless_steps_and_grace_change_nothing() -> None:
    before = signature(counted(WINDOW))
    later = TimeWindows.of_size_and_grace(10, 7)
    after = signature(lambda stream: counted(later)(stream.filter("true")).map_values("value"))
    assert after == before
    assert list(after.differences(before)) == []


def test_it_is_the_same_after_it_was_written_down() -> None:
    made = signature(counted(WINDOW))
    assert QuerySignature.read(made.as_data()) == made


def test_what_changed_is_told() -> None:
    before = signature(counted(WINDOW))
    other = signature(counted(TimeWindows.of_size_and_grace(20, 5)))
    assert list(other.differences(before)) == [
        "Summarize has other windows: it was of 10 ms every 10 ms, and is of 20 ms every 20 ms"
    ]
    typed = signature(counted(WINDOW), types="bigint")
    assert next(typed.differences(before)) == (
        "Summarize takes other types: it was string: string, and is bigint: bigint"
    )
    assert list(signature(counted(WINDOW), "words", mode="append").differences(before)) == [
        "it gives final results, and gave every change",
        "it reads words, and read lines",
    ]
    stateless = signature(lambda stream: stream)
    assert list(stateless.differences(before)) == [
        "its steps with state are none, and were Summarize"
    ]
    summed = signature(lambda stream: stream.group_by_key().sum("value").to_stream())
    assert list(summed.differences(signature(counted()))) == [
        "Summarize keeps something else: it was count, and is sum(value)"
    ]


def test_every_kind_of_window_and_store_is_told_apart() -> None:
    def joined(stream: KStream) -> KStream:
        return stream.join(stream, "left", JoinWindows.of_time_difference_with_no_grace(3))

    sliding = SlidingWindows.of_time_difference_with_no_grace(3)
    session = SessionWindows.of_inactivity_gap_with_no_grace(3)
    told = [
        signature(counted(sliding)).states[0].windows,
        signature(counted(session)).states[0].windows,
        signature(joined).states[0].windows,
        signature(lambda stream: stream.process(Counting())).states[0].kept,
    ]
    assert told == [
        "sliding, of 3 ms",
        "sessions with gaps of 3 ms",
        "from 3 ms before to 3 ms after",
        "seen ValueStore(type='bigint'), timers: none",
    ]
