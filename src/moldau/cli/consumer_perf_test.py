"""Measure how fast records are read (kafka-consumer-perf-test.sh)."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from moldau.cli.performance.dates import USUAL, check_pattern, format_date
from moldau.cli.performance.metric_lines import consumer_lines
from moldau.cli.terminal.client_settings import READS_ONLY, read_file, usable
from moldau.cli.terminal.options import BOOTSTRAP_SERVER, Given, Option, Options
from moldau.cli.terminal.progress import Bar, as_records, progress_bar
from moldau.client.consumer.consumer import Consumer
from moldau.client.settings import ConsumerSettings

_MEBIBYTE = 1024 * 1024
_RECORDS_MAX = 10_000

OPTIONS = Options(
    "consumer-perf-test",
    "Reads records as fast as possible, and prints the rate.",
    BOOTSTRAP_SERVER,
    Option("broker-list", "The older name of --bootstrap-server.", "SERVERS"),
    Option("topic", "The topic to read.", "TOPIC"),
    Option("messages", "How many records.", "COUNT", kind=int),
    Option("group", "The group; default: a new one.", "GROUP"),
    Option("timeout", "End if no record arrives for so long.", "MILLISECONDS", kind=int),
    Option("fetch-size", "The largest response in bytes.", "BYTES", kind=int),
    Option("from-latest", "Begin at the end."),
    Option("show-detailed-stats", "Print a line for each interval."),
    Option("reporting-interval", "The length of an interval.", "MILLISECONDS", kind=int),
    Option("hide-header", "Leave out the names of the columns."),
    Option("date-format", "How times are printed, as SimpleDateFormat has it.", "FORMAT"),
    Option("consumer.config", "A file with settings.", "FILE"),
    Option("print-metrics", "Print all metrics of the consumer at the end."),
    Option("socket-buffer-size", "Ignored: the system decides.", "BYTES"),
    Option("threads", "Ignored, for old scripts.", "COUNT"),
    Option("num-fetch-threads", "Ignored, for old scripts.", "COUNT"),
)
_COLUMNS = "data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec"
_FETCHING = "rebalance.time.ms, fetch.time.ms, fetch.MB.sec, fetch.nMsg.sec"


@dataclass(slots=True)
class Consumption:
    """What was read, and since when."""

    start_ms: int
    count: int = 0
    size_bytes: int = 0
    join_ms: int = 0
    window_start_ms: int = field(default=0)
    window_count: int = 0
    window_bytes: int = 0
    date_format: str = USUAL
    metrics: dict[str, float] = field(default_factory=dict)

    def row(self, now_ms: int) -> str:
        """All that was read so far."""
        first = [self._date(self.start_ms), self._date(now_ms)]
        return _row(first, self, self.count, self.size_bytes, now_ms - self.start_ms)

    def window(self, now_ms: int) -> str:
        """What was read since the last line, which ends here."""
        count, size = self.count - self.window_count, self.size_bytes - self.window_bytes
        elapsed_ms = now_ms - self.window_start_ms
        line = _row([self._date(now_ms), "0"], self, count, size, elapsed_ms)
        self.window_start_ms = now_ms
        self.window_count, self.window_bytes = self.count, self.size_bytes
        return line

    def _date(self, milliseconds: int) -> str:
        moment = datetime.fromtimestamp(milliseconds // 1000, UTC).astimezone()
        return format_date(moment.replace(microsecond=milliseconds % 1000 * 1000), self.date_format)


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit code."""
    given = OPTIONS.parse(arguments)
    given.require("topic", "messages")
    check_pattern(given.text("date-format", USUAL))
    values = settings(given)
    if "hide-header" not in given:
        first = "time, threadId" if "show-detailed-stats" in given else "start.time, end.time"
        print(f"{first}, {_COLUMNS}, {_FETCHING}")
    with progress_bar(given.number("messages"), as_records) as bar:
        seen = asyncio.run(_measure(given, values, bar))
    if "show-detailed-stats" not in given:
        print(seen.row(_now_ms()))
    if "print-metrics" in given:
        print("\n".join(consumer_lines(seen.metrics, str(values["client.id"]))))
    return 0


def settings(given: Given) -> dict[str, object]:
    """The consumer's settings, of the file and of the options."""
    if "bootstrap-server" not in given:
        given.require("broker-list")
    texts = {
        "client.id": "perf-consumer-client",
        **READS_ONLY,
        "group.id": given.text("group", f"perf-consumer-{time.time_ns() % 100_000}"),
        "auto.offset.reset": "latest" if "from-latest" in given else "earliest",
        "max.partition.fetch.bytes": str(given.number("fetch-size", _MEBIBYTE)),
        "check.crcs": "false",
    }
    texts |= read_file(given.text("consumer.config"))
    texts["bootstrap.servers"] = given.text("bootstrap-server") or given.text("broker-list")
    return usable(ConsumerSettings, texts)


async def _measure(given: Given, values: dict[str, object], bar: Bar | None) -> Consumption:
    wanted, timeout_s = given.number("messages"), given.number("timeout", 10_000) / 1000
    interval_ms = given.number("reporting-interval", 5_000)
    shows_windows = "show-detailed-stats" in given
    now_ms = _now_ms()
    seen = Consumption(now_ms, window_start_ms=now_ms, date_format=given.text("date-format", USUAL))
    async with Consumer[bytes, bytes](values) as consumer:
        consumer.subscribe([given.text("topic")])
        while seen.count < wanted:
            most = min(_RECORDS_MAX, wanted - seen.count)
            records = await consumer.poll(timeout_s, max_records=most)
            if not records:
                print(
                    f"WARNING: Exiting before consuming the expected number of messages: "
                    f"timeout ({timeout_s * 1000:.0f} ms) exceeded."
                )
                break
            if not seen.count:
                seen.join_ms = _now_ms() - seen.start_ms
            seen.count += len(records)
            seen.size_bytes += sum(len(each.value or b"") for each in records)
            if bar is not None:
                bar.advance(len(records))
            if shows_windows and _now_ms() - seen.window_start_ms >= interval_ms:
                if bar is not None:
                    bar.clear()
                print(seen.window(_now_ms()), flush=True)
        seen.metrics = consumer.metrics()
    return seen


def _row(first: list[str], seen: Consumption, count: int, size: int, elapsed_ms: int) -> str:
    elapsed_s = max(elapsed_ms, 1) / 1000
    fetch_ms = max(elapsed_ms - seen.join_ms, 1)
    mebibytes = size / _MEBIBYTE
    cells = [
        *first,
        f"{mebibytes:.4f}",
        f"{mebibytes / elapsed_s:.4f}",
        str(count),
        f"{count / elapsed_s:.4f}",
        str(seen.join_ms),
        str(fetch_ms),
        f"{mebibytes / fetch_ms * 1000:.4f}",
        f"{count / fetch_ms * 1000:.4f}",
    ]
    return ", ".join(cells)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
