"""A view of a table: its changelog topic, read in a thread, committed records only."""

import threading
from collections.abc import Mapping
from contextlib import suppress
from types import TracebackType
from typing import Self

from moldau.client.blocking.consumer import Consumer
from moldau.errors import UnknownTopicOrPartition
from moldau.model import TopicPartition
from moldau.streams.queries.rows import TableRow, TableRows
from moldau.streams.queries.values import decoder, encode
from moldau.streams.serdes import BYTES, Serde, WindowedSerde

KEYS_MAX = 1_000_000
ROWS_MAX = 10_000
_POLL_S = 0.2
_SETTINGS: dict[str, object] = {
    "client.id": "moldau-table-view",
    "allow.auto.create.topics": False,
    "isolation.level": "read_committed",
    "auto.offset.reset": "earliest",
    "enable.auto.commit": False,
}


class TableView:
    """The latest committed value of each key of a table.

    with TableView("localhost:9092", "counts", key=STRING, value=LONG) as view:
        view.wait_until_current()
        print(view.get("moldau"))
    """

    def __init__(
        self,
        bootstrap: str | Mapping[str, object],
        topic: str,
        *,
        key: Serde = BYTES,
        value: Serde = BYTES,
        keys_max: int = KEYS_MAX,
    ) -> None:
        given = {"bootstrap.servers": bootstrap} if isinstance(bootstrap, str) else bootstrap
        self.topic = topic
        self.key_serde = key
        self._decode_key = decoder(key)
        self._decode_value = decoder(value)
        self._rows = TableRows(keys_max=keys_max)
        self._news = threading.Condition()
        self._positions: dict[TopicPartition, int] = {}
        self._is_closed = False
        self._failure: Exception | None = None
        self._consumer = Consumer[bytes, bytes]({**given, **_SETTINGS})
        self._thread = threading.Thread(target=self._run, name=f"view-{topic}", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop reading."""
        with self._news:
            self._is_closed = True
        self._thread.join()
        self._consumer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # Queries

    def __len__(self) -> int:
        """How many keys there are."""
        with self._checked():
            return len(self._rows)

    def get(self, key: object) -> object:
        """The value of a key; None without one."""
        with self._checked():
            found = self._rows.get(encode(self.key_serde, key))
        return None if found is None else self._decode_value(found)

    def rows(self, *, after: object = None, limit: int = 100) -> list[tuple[object, object]]:
        """Keys and values in the order of the keys' bytes, from behind one on; at most 10,000."""
        behind = None if after is None else encode(self.key_serde, after)
        with self._checked():
            return self._decoded(self._rows.after(behind, min(limit, ROWS_MAX)))

    def windows(self, key: object, *, limit: int = 100) -> list[tuple[object, object]]:
        """The windows of a key and their values, the oldest first."""
        if not isinstance(self.key_serde, WindowedSerde):
            raise TypeError(f"{self.topic} has no windows: its keys are {self.key_serde}")
        inner = self.key_serde.inner
        prefix = encode(inner, key)
        with self._checked():
            # Another key may begin with the same bytes.
            rows = self._rows.starting_with(prefix, ROWS_MAX)
        length = len(prefix) + (16 if self.key_serde.is_session else 8)
        return self._decoded([row for row in rows if len(row.key) == length][:limit])

    def wait_until_current(self, timeout_s: float = 30.0) -> None:
        """Wait until all that is committed now has been read; TimeoutError if it takes longer."""
        ends = self._consumer.end_offsets(self._consumer.partitions_of(self.topic))

        def has_all() -> bool:
            return self._failure is not None or all(
                self._positions.get(partition, 0) >= end for partition, end in ends.items()
            )

        with self._news:
            is_current = self._news.wait_for(has_all, timeout_s)
        with self._checked():
            if not is_current:
                raise TimeoutError(f"{self.topic} was not read to its end in {timeout_s} s")

    # Reading

    def _run(self) -> None:
        try:
            self._consumer.assign(self._wait_for_topic())
            while not self._is_closed:
                records = self._consumer.poll(_POLL_S)
                positions = {
                    each: self._consumer.position(each) for each in self._consumer.assignment()
                }
                with self._news:
                    for record in records:
                        self._rows.put(record.key, record.value)
                    self._positions = positions
                    self._news.notify_all()
                self._take_in_new_partitions()
        except Exception as error:  # noqa: BLE001 - the thread's top frame
            with self._news:
                self._failure = error
                self._news.notify_all()

    def _wait_for_topic(self) -> list[TopicPartition]:
        """The partitions, once the topic has been created; none if the view ends before."""
        while not self._is_closed:
            with suppress(UnknownTopicOrPartition):
                return self._consumer.partitions_of(self.topic)
        return []

    def _take_in_new_partitions(self) -> None:
        known = self._consumer.partitions_of(self.topic)
        if len(known) > len(self._positions):
            self._consumer.assign({each: self._positions.get(each, 0) for each in known})

    def _checked(self) -> threading.Condition:
        """The lock; raises why the view no longer follows its topic."""
        if self._failure is not None:
            raise RuntimeError(f"the view of {self.topic} has stopped") from self._failure
        return self._news

    def _decoded(self, rows: list[TableRow]) -> list[tuple[object, object]]:
        return [(self._decode_key(row.key), self._decode_value(row.value)) for row in rows]
