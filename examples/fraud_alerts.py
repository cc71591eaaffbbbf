"""Alerts when a card is tried out: a tiny payment, and within a minute a large one.

    moldau streams run examples/fraud_alerts.py --bootstrap-server localhost:9092

reads payments, with the card as key and JSON like {"amount": 0.5, "shop": "kiosk"} as value, and
writes alerts.
"""

from collections.abc import Iterator

from moldau.streams import StreamsBuilder, Topology, json
from moldau.streams.processors import Context, Processor, Record, ValueStore

application = "fraud-alerts"
TINY, LARGE = 1.0, 500.0
MINUTE_MS = 60_000


class TriedOut(Processor):
    """Remembers a tiny payment for a minute of the records' own time."""

    stores = {"forget_at": ValueStore("bigint")}  # noqa: RUF012 - never changed
    time = "event"

    def process(self, record: Record, context: Context) -> Iterator[Record]:
        assert isinstance(record.value, dict)
        amount, shop = record.value["amount"], record.value["shop"]
        remembered = context.value("forget_at")
        forget_at = remembered.get()
        if forget_at is not None:
            assert isinstance(forget_at, int)
            if amount >= LARGE and record.timestamp_ms < forget_at:
                yield record.with_value(f"{amount:.2f} at {shop} after a tiny payment")
            remembered.delete()
            context.delete_timer(forget_at)
        if amount < TINY:
            remembered.put(record.timestamp_ms + MINUTE_MS)
            context.set_timer(record.timestamp_ms + MINUTE_MS)

    def on_timer(
        self,
        key: object,  # noqa: ARG002 - the store knows it
        time_ms: int,  # noqa: ARG002
        context: Context,
    ) -> Iterator[Record]:
        context.value("forget_at").delete()
        yield from ()


def topology() -> Topology:
    builder = StreamsBuilder()
    payments = builder.stream("payments", value=json("amount double, shop string"))
    payments.process(TriedOut(), returns="string").to("alerts")
    return builder.build()


if __name__ == "__main__":
    print(topology().describe())
