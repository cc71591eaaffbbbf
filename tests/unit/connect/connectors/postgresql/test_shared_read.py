"""The first read with readers that share it, and the stream after it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing

import pytest

from moldau.connect.connector import Offset, Source, SourcePartition
from moldau.connect.connectors.postgresql import table_parts
from moldau.connect.connectors.postgresql.source import PostgresSource
from moldau.connect.data.record import ConnectRecord
from unit.connect.connectors.postgresql.databases import Database, Reader

pytestmark = pytest.mark.needs("postgres")


class Loop:
    """Reads in this thread what tasks of an engine read: a batch of each partition at a time."""

    def __init__(self) -> None:
        self.records: list[ConnectRecord] = []
        self.partitions: Sequence[SourcePartition] = ()
        self.stored: dict[int, Offset | None] = {}
        self._source: Source

    def count(self) -> int:
        return 3

    def begin(
        self,
        connector: type[Source],
        config: Mapping[str, str],
        partitions: Sequence[SourcePartition],
    ) -> "Loop":
        self._source = connector(config)
        self.partitions = partitions
        return self

    def step(self) -> bool:
        is_under_way = False
        for each in self.partitions:
            number = int(str(each["reader"]))
            batch = self._source.read(each, self.stored[number], 10)
            if batch is not None:
                self.records += batch.records
                self.stored[number] = batch.offset
                is_under_way = True
        return is_under_way

    def close(self) -> None:
        self._source.close()


class SharedReader(Reader):
    """A reader with such readers; what it stores for them they find."""

    def __init__(self, config: Mapping[str, str], offset: Offset | None = None) -> None:
        super().__init__(config, offset)
        self.loop = Loop()
        assert isinstance(self.source, PostgresSource)
        self.source.use_readers(self.loop)

    def step(self, *, stores: bool = True) -> list[ConnectRecord] | None:
        (partition,) = self.source.partitions()
        batch = self.source.read(partition, self.offset, 10_000)
        self.records += self.loop.records
        self.loop.records = []
        if batch is None:
            return None
        self.loop.stored |= batch.others
        found = list(batch.records)
        self.records += found
        self.offset = batch.offset
        self.source.commit(partition, batch.offset)
        return found


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_parts, "PART_BYTES", 2**14)


def fill(database: Database) -> None:
    database.run("CREATE TABLE a (id integer PRIMARY KEY, v text)", "CREATE TABLE b (v text)")
    database.run("CREATE TABLE c (id integer PRIMARY KEY, v text)", "CREATE TABLE d (v text)")
    for name, count in (("a", 1000), ("c", 700)):
        database.run(
            f"INSERT INTO {name} SELECT i, repeat('x', 90) FROM generate_series(1, {count}) i"
        )
    database.run("INSERT INTO d VALUES ('one')")


def marker_of(record: ConnectRecord) -> str:
    assert isinstance(record.value.value, dict)
    return str(record.value.value["source"]["snapshot"])


def is_complete(reader: Reader) -> bool:
    return reader.offset is not None and reader.offset.get("snapshot_completed") is True


def test_all_rows_come_once_and_the_stream_follows_without_a_gap(database: Database) -> None:
    fill(database)
    with closing(SharedReader(database.config())) as reader:
        reader.step()
        assert len(reader.records) < 1000, "the first part alone"
        assert reader.loop.stored.keys() == {1, 2, 3}
        assert reader.offset is not None
        assert reader.offset["moldau_readers"] == 3
        database.run("INSERT INTO a VALUES (1001, '')", "DELETE FROM a WHERE id = 1")
        database.run("UPDATE a SET id = 2000 WHERE id = 2", "INSERT INTO c VALUES (701, '')")
        reader.until(lambda: is_complete(reader))
        assert reader.loop.stored == {1: None, 2: None, 3: None}
        assert "moldau_readers" not in reader.offset
        found = [marker_of(each) for each in reader.records]
        inner = {"first_in_data_collection": 1, "last_in_data_collection": 2}
        assert Counter(found) == {"first": 1, "last": 1, "true": 1701 - 5, **inner}
        assert (found[0], found[-1]) == ("first", "last")
        database.run("INSERT INTO a VALUES (1002, '')")
        names = {"a", "c"}
        rows = {
            name: {(number,) for (number,) in database.rows(f"SELECT id FROM {name}")}
            for name in names
        }
        reader.until(
            lambda: all(reader.image(f"p.public.{name}").keys() == rows[name] for name in names)
        )


def test_a_read_that_was_cut_short_begins_anew_and_forgets_its_readers(
    database: Database,
) -> None:
    fill(database)
    with closing(SharedReader(database.config())) as given_up:
        given_up.step()
        given_up.step()
    database.run("DELETE FROM a WHERE id = 3")
    # Without readers now, and one more row of their offsets to forget.
    with closing(Reader(database.config(), given_up.offset)) as again:
        (partition,) = again.source.partitions()
        batch = again.source.read(partition, again.offset, 10)
        assert batch is not None
        assert batch.others == {1: None, 2: None, 3: None}
        again.offset = batch.offset
        again.records += batch.records
        again.until(lambda: is_complete(again))
        rows = {(number,) for (number,) in database.rows("SELECT id FROM a")}
        again.until(lambda: again.image("p.public.a").keys() == rows)


@pytest.mark.parametrize(("threads", "readers"), [("1", 0), ("2", 2), ("9", 9), (None, 3)])
def test_settings_say_how_many_readers_there_are(
    database: Database, threads: str | None, readers: int
) -> None:
    fill(database)
    chosen = {} if threads is None else {"snapshot_max_threads": threads}
    with closing(SharedReader(database.config(**chosen))) as reader:
        reader.step()
        assert len(reader.loop.partitions) == readers


def test_what_one_reader_has_read_soon_is_not_shared(database: Database) -> None:
    database.run("CREATE TABLE a (id integer)", "INSERT INTO a VALUES (1), (2)")
    with closing(SharedReader(database.config())) as reader:
        reader.until(lambda: is_complete(reader))
        assert reader.loop.partitions == ()
        assert [marker_of(each) for each in reader.records] == ["first", "last"]


def test_tables_without_parts_are_read_as_a_whole(database: Database) -> None:
    fill(database)
    database.run(
        "CREATE TABLE e (id integer) PARTITION BY RANGE (id)",
        "CREATE TABLE e1 PARTITION OF e FOR VALUES FROM (0) TO (9)",
        "INSERT INTO e VALUES (1)",
        "CREATE ACCESS METHOD other TYPE TABLE HANDLER heap_tableam_handler",
        "CREATE TABLE f (id integer) USING other",
        "INSERT INTO f SELECT generate_series(1, 50)",
    )
    settings = database.config(publish_via_partition_root="true")
    with closing(SharedReader(settings)) as reader:
        reader.until(lambda: is_complete(reader))
        topics = Counter(each.topic for each in reader.records)
        assert topics == {
            "p.public.a": 1000,
            "p.public.c": 700,
            "p.public.d": 1,
            "p.public.e": 1,
            "p.public.f": 50,
        }
        assert marker_of(reader.records[-1]) == "last"
