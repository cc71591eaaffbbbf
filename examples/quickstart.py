"""A first look at Moldau: clicks go through a broker and Spark, and come out counted once.

Run it with bin/quickstart. Everything runs on this machine and is gone afterwards: a broker in
this process, a generator that clicks some thousand times a second, and a pipeline on Spark that
joins clicks with pages, counts them by section and second, and writes each window exactly once.
"""

import argparse
import json
import os
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import quickstart_broker
from quickstart_console import console_beside

from moldau.client.admin.topics import NewTopic
from moldau.client.blocking import Admin, Consumer, Producer
from moldau.model import TopicPartition
from moldau.testing.broker import EmbeddedBroker, running_broker

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

CLICKS, PAGES, TOTALS = "clicks", "pages", "totals"
CLICKS_PER_S = 3_000
WINDOW_S = 2
SECTIONS = ("news", "sport", "shop", "help")
PAGE_COUNT = 40
FIRST_RESULT_S = 240

Window = tuple[int, str]
"""When it begins, in seconds, and the section."""


class Generator:
    """Clicks at a steady rate, and keeps its own tally of them."""

    def __init__(self, bootstrap_servers: str) -> None:
        self.tally: Counter[Window] = Counter()
        self._producer = Producer[bytes, bytes](
            bootstrap_servers=bootstrap_servers, linger_ms=20, compression_type="lz4"
        )
        self._is_wanted = True
        self._thread = threading.Thread(target=self._run, name="clicks", daemon=True)
        self._thread.start()

    @property
    def count(self) -> int:
        return self.tally.total()

    def stop(self) -> None:
        self._is_wanted = False
        self._thread.join()
        self._producer.close()

    def _run(self) -> None:
        chance, began = random.Random(7), time.monotonic()
        sent = 0
        while self._is_wanted:
            for _ in range(int((time.monotonic() - began) * CLICKS_PER_S) - sent):
                self._click(chance)
                sent += 1
            time.sleep(0.01)

    def _click(self, chance: random.Random) -> None:
        now_ms, page = int(time.time() * 1000), int(chance.triangular(0, PAGE_COUNT, 12))
        value = b'{"page":%d,"user":"user-%d","ms":%d}' % (
            page,
            chance.randrange(1000),
            chance.randrange(5, 400),
        )
        self._producer.send(CLICKS, value, key=b"%d" % page, timestamp_ms=now_ms)
        self.tally[now_ms // (WINDOW_S * 1000) * WINDOW_S, section_of(page)] += 1


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--no-spark", action="store_true", help="only the broker, no pipeline")
    arguments.add_argument(
        "--connect", action="store_true", help="orders from PostgreSQL to PostgreSQL and Iceberg"
    )
    arguments.add_argument("--seconds", type=float, default=12, help="how long to show results")
    given = arguments.parse_args()
    if given.no_spark:
        quickstart_broker.main()
        return
    reason = why_not_spark(Path(tempfile.gettempdir(), f"moldau-java-{os.getuid()}"))
    if given.connect:
        connect(reason, given.seconds)
        return
    if reason is not None:
        print(f"The pipeline on Spark is left out.\n{reason}\n\nThe broker alone:\n")
        quickstart_broker.main()
        return
    pipeline(given.seconds)


def connect(reason: str | None, show_s: float) -> None:
    """The pipeline with a database, if everything is there that it needs."""
    try:
        import quickstart_connect  # noqa: PLC0415 - has packages that the others do without
        import quickstart_postgres  # noqa: PLC0415
    except ImportError as error:
        reason = f"{error.name} is missing: pip install 'moldau[connect,lake,spark]'"
    else:
        reason = reason or quickstart_postgres.why_not()
    if reason is not None:
        raise SystemExit(reason)
    quickstart_connect.main(show_s)


def why_not_spark(shim_directory: Path) -> str | None:
    """What is missing for the pipeline, and how to get it."""
    try:
        from pyspark.sql import SparkSession  # noqa: F401, PLC0415

        from moldau.spark.java import JavaMissing, use_java  # noqa: PLC0415
    except ImportError as error:
        return f"{error.name} is missing: pip install 'moldau[spark]'"
    try:
        use_java(shim_directory)
    except JavaMissing as error:
        return str(error)
    return None


def pipeline(show_s: float) -> None:
    began_s = time.monotonic()
    with (
        tempfile.TemporaryDirectory(prefix="moldau-quickstart-") as name,
        running_broker() as kafka,
        console_beside(kafka.bootstrap_servers) as console,
    ):
        directory = Path(name)
        print(f"1. A broker on {kafka.bootstrap_servers}, after {since(began_s)}")
        make_topics(kafka)
        if console is not None:
            print(f"   See it at {console}/c/local/topics/{CLICKS}?start=live while it runs")
        print("2. Spark starts, which takes some seconds ...", flush=True)
        with quiet(directory / "spark.log"), spark_session(directory) as spark:
            query = start_query(spark, kafka, directory)
            while is_late(query):
                query = start_query(spark, kafka, directory)
            print(
                f"3. {CLICKS_PER_S:,} clicks a second go to the topic {CLICKS!r}. Spark joins them"
            )
            print(f"   with pages and counts them in windows of {WINDOW_S} s; each window, once it")
            print(f"   is complete, goes to the topic {TOTALS!r}, exactly once:\n", flush=True)
            clicking = Generator(kafka.bootstrap_servers)
            try:
                counted = show_results(kafka, query, show_s)
            finally:
                clicking.stop()
                query.stop()
        summary(clicking, counted, began_s)


def make_topics(kafka: EmbeddedBroker) -> None:
    with Admin(bootstrap_servers=kafka.bootstrap_servers) as admin:
        topics = [NewTopic(CLICKS, partitions=3), NewTopic(PAGES, partitions=1)]
        admin.create_topics([*topics, NewTopic(TOTALS, partitions=1)]).check()
    with Producer[bytes, bytes](bootstrap_servers=kafka.bootstrap_servers) as producer:
        for page in range(PAGE_COUNT):
            value = {"page": page, "section": section_of(page)}
            producer.send(PAGES, json.dumps(value).encode(), key=b"%d" % page)


@contextmanager
def spark_session(directory: Path) -> "Iterator[SparkSession]":
    from pyspark.sql import SparkSession  # noqa: PLC0415

    from moldau.spark import register  # noqa: PLC0415 - the quickstart works without Spark too
    from moldau.spark.local import keep_local  # noqa: PLC0415

    os.environ["PYSPARK_PYTHON"] = sys.executable
    # What this process can import its workers can import too.
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    spark = (
        SparkSession.builder.master(keep_local("local[2]"))
        .appName("moldau-quickstart")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.warehouse.dir", str(directory / "warehouse"))
        .getOrCreate()
    )
    try:
        register(spark)
        yield spark
    finally:
        spark.stop()


def start_query(spark: "SparkSession", kafka: EmbeddedBroker, directory: Path) -> "StreamingQuery":
    """The pipeline: typed reading, a join, a windowed aggregation, and exactly once."""
    from pyspark.sql import functions as sql  # noqa: PLC0415

    from moldau.spark import write_stream  # noqa: PLC0415 - the quickstart works without Spark too

    servers = {"kafka.bootstrap.servers": kafka.bootstrap_servers}
    pages = (
        spark.read.format("moldau")
        .schema("value struct<page:int,section:string>")
        .options(**servers, subscribe=PAGES, valueFormat="json")
        .load()
        .select("value.*")
    )
    clicks = (
        spark.readStream.format("moldau")
        .schema("value struct<page:int,ms:int>, timestamp timestamp")
        .options(**servers, subscribe=CLICKS, valueFormat="json", startingOffsets="earliest")
        .load()
        .select("value.*", "timestamp")
    )
    counted = (
        clicks.withWatermark("timestamp", "1 second")
        .join(pages, "page")
        .groupBy(sql.window("timestamp", f"{WINDOW_S} seconds"), "section")
        .agg(sql.count("*").alias("clicks"), sql.avg("ms").alias("ms"))
    )
    start = sql.unix_timestamp("window.start").alias("start")
    value = sql.to_json(sql.struct(start, "section", "clicks", "ms")).alias("value")
    options = {**servers, "topic": TOTALS, "checkpointLocation": str(directory / "checkpoint")}
    trigger = {"processingTime": "500 milliseconds"}
    return write_stream(counted.select(value), options, trigger=trigger)


def is_late(query: "StreamingQuery") -> bool:
    """Whether the query ended at once: Spark gives its Python workers ten seconds to start."""
    while query.isActive and query.status["message"].startswith("Initializing"):
        time.sleep(0.1)
    return "connect back" in str(query.exception() or "")


def show_results(
    kafka: EmbeddedBroker, query: "StreamingQuery", show_s: float
) -> dict[Window, int]:
    """Print windows as they become complete, for some seconds after the first one."""
    counted: dict[Window, int] = {}
    deadline = time.monotonic() + FIRST_RESULT_S
    with Consumer[bytes, bytes](
        bootstrap_servers=kafka.bootstrap_servers, isolation_level="read_committed"
    ) as consumer:
        consumer.assign({TopicPartition(TOTALS, 0): 0})
        while time.monotonic() < deadline:
            if not query.isActive:
                raise SystemExit(f"the query has ended: {query.exception()}")
            new = [json.loads(record.value or b"") for record in consumer.poll(0.2)]
            if new and not counted:
                print(f"   window    {' '.join(f'{each:>7}' for each in SECTIONS)}      sum")
                deadline = time.monotonic() + show_s
            counted |= {(row["start"], row["section"]): row["clicks"] for row in new}
            for start in sorted({row["start"] for row in new}):
                print(line_of(start, counted), flush=True)
    if not counted:
        raise SystemExit(f"no result in {FIRST_RESULT_S} s; the machine may be very busy")
    return counted


def line_of(start: int, counted: dict[Window, int]) -> str:
    clicks = [counted.get((start, section), 0) for section in SECTIONS]
    began = datetime.fromtimestamp(start, UTC).astimezone().strftime("%H:%M:%S")
    return f"   {began}  {' '.join(f'{each:7,}' for each in clicks)}  {sum(clicks):7,}"


def summary(clicking: Generator, counted: dict[Window, int], began_s: float) -> None:
    wrong = {window: count for window, count in counted.items() if clicking.tally[window] != count}
    print(f"\n4. {clicking.count:,} clicks were sent, {sum(counted.values()):,} of them are in")
    print(f"   {len(counted)} complete windows; everything has stopped, after {since(began_s)}.")
    if wrong:
        window, count = min(wrong.items())
        raise SystemExit(f"{window}: {count} counted, {clicking.tally[window]} sent")
    print("   Every window has exactly the clicks that were sent in it: none lost, none twice.\n")
    print(
        "Next:\n"
        "   less examples/quickstart.py      the pipeline, 30 lines\n"
        "   bin/moldau serve                 a broker that stays, for any Kafka client\n"
        "   bin/quickstart --connect         a database, Connect, Streams and a lake\n"
        "   bin/quickstart --no-spark        the broker alone, and what it writes\n"
        "   docs/spark.md                    every option of source and sink"
    )


@contextmanager
def quiet(log: Path) -> Iterator[None]:
    """What Spark and its JVM say to the terminal goes to a file, which is shown if it failed."""
    sys.stderr.flush()
    before = os.dup(2)
    with log.open("wb") as file:
        os.dup2(file.fileno(), 2)
    try:
        yield
    except BaseException:
        os.dup2(before, 2)
        print("".join(log.read_text(errors="replace").splitlines(keepends=True)[-20:]))
        raise
    finally:
        sys.stderr.flush()
        os.dup2(before, 2)
        os.close(before)


def section_of(page: int) -> str:
    return SECTIONS[page * len(SECTIONS) // PAGE_COUNT]


def since(began_s: float) -> str:
    passed_s = time.monotonic() - began_s
    return f"{passed_s:.1f} s" if passed_s >= 1 else f"{passed_s * 1000:.0f} ms"


if __name__ == "__main__":
    main()
