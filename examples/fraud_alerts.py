"""Alerts: three payments by a card within a minute, the last of them large.

    moldau streams run examples/fraud_alerts.py --bootstrap-server localhost:9092

reads payments, with the card as key and JSON like {"shop": "x", "amount": 12.5} as value, and
writes alerts. What is known of a card is forgotten a minute after its last payment, by a timer.
"""

from collections.abc import Iterator, Mapping
from typing import ClassVar

from moldau.streams import (
    Context,
    ListStore,
    Processor,
    Record,
    StreamsBuilder,
    Topology,
    ValueStore,
    json,
)
from moldau.streams.processors import Store, Time

application = "fraud"
PAYMENT = json("shop string, amount double")
WINDOW_MS = 60_000
COUNT = 3
LARGE = 500.0


class Watching(Processor):
    """Keeps the times of a card's last payments."""

    time: ClassVar[Time] = "event"
    grace_ms: ClassVar[int] = 10_000
    stores: ClassVar[Mapping[str, Store]] = {
        "times": ListStore("bigint"),
        "forget": ValueStore("bigint"),
    }

    def process(self, record: Record, context: Context) -> Iterator[Record]:
        times = context.list("times")
        times.append(record.timestamp_ms)
        self._forget_later(record.timestamp_ms, context)
        recent = [
            each
            for each in times.get()
            if isinstance(each, int) and record.timestamp_ms - each <= WINDOW_MS
        ]
        payment = record.value
        assert isinstance(payment, Mapping)
        if len(recent) >= COUNT and payment["amount"] >= LARGE:
            yield record.with_value(f"{len(recent)} payments, the last of {payment['amount']}")

    def on_timer(
        self,
        key: object,  # noqa: ARG002
        time_ms: int,  # noqa: ARG002
        context: Context,
    ) -> Iterator[Record]:
        context.list("times").delete()
        context.value("forget").delete()
        yield from ()

    def _forget_later(self, now_ms: int, context: Context) -> None:
        forget = context.value("forget")
        before_ms = forget.get()
        if isinstance(before_ms, int):
            context.delete_timer(before_ms)
        forget.put(now_ms + WINDOW_MS)
        context.set_timer(now_ms + WINDOW_MS)


def topology() -> Topology:
    builder = StreamsBuilder()
    payments = builder.stream("payments", value=PAYMENT, dead_letters="payments-unreadable")
    payments.process(Watching(), returns="string").to("alerts")
    return builder.build()


if __name__ == "__main__":
    print(topology().describe())
