"""Print what is in the files of a partition (kafka-dump-log.sh)."""

import os
from collections.abc import Iterator, Sequence

from moldau.cli.dumping.decoders import DECODERS, Decoder, by_classes
from moldau.cli.dumping.indexes import (
    Faults,
    index_lines,
    snapshot_lines,
    time_index_lines,
    transaction_index_lines,
)
from moldau.cli.dumping.segment import SegmentDump, View
from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.options import Given, Option, Options, warn
from moldau.cli.terminal.progress import as_size, progress_bar
from moldau.log.index import CorruptIndex, OffsetIndex
from moldau.log.names import offset_of
from moldau.log.producer_snapshot import CorruptSnapshot
from moldau.log.time_index import TimeIndex

OPTIONS = Options(
    "dump-log",
    "Prints what is in the files of a partition, and what is wrong with them.",
    Option("files", "Files of a partition, separated by commas.", "FILES"),
    Option("print-data-log", "Print keys and values of records."),
    Option("deep-iteration", "Print records, not only batches."),
    Option("skip-record-metadata", "Print only keys and values of records."),
    Option("max-bytes", "Stop after so many bytes of a log.", "BYTES", kind=int),
    Option("max-message-size", "Ignored: batches may have any size.", "BYTES", kind=int),
    Option("index-sanity-check", "Only check whether an index can be read."),
    Option("verify-index-only", "Only compare an index with its log."),
    Option("offsets-decoder", "Decode records of __consumer_offsets."),
    Option("transaction-log-decoder", "Decode records of __transaction_state."),
    Option("cluster-metadata-decoder", "Refused: for logs that Moldau does not have."),
    Option("remote-log-metadata-decoder", "Refused: for logs that Moldau does not have."),
    Option("value-decoder-class", "The Java class that reads values.", "CLASS"),
    Option("key-decoder-class", "The Java class that reads keys.", "CLASS"),
)

_STRING_DECODER = "org.apache.kafka.tools.api.StringDecoder"


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit code."""
    given = OPTIONS.parse(arguments)
    given.require("files")
    _decoder(given)  # which ends the command if there is none
    for option in ("cluster-metadata-decoder", "remote-log-metadata-decoder"):
        if option in given:
            raise CommandFailed(f"--{option}: brokers with ZooKeeper have no such log")
    complaints: list[str] = []
    for path in given.text("files").split(","):
        print(f"Dumping {path}")
        try:
            for line in _dump(path, given, complaints):
                print(line)
        except (CorruptIndex, CorruptSnapshot) as error:
            warn(f"{path}: {error}")
    for complaint in complaints:
        warn(complaint)
    return 0


def _dump(path: str, given: Given, complaints: list[str]) -> Iterator[str]:
    kind = os.path.splitext(path)[1]
    match kind:
        case ".log":
            yield from _segment_lines(path, given, complaints)
        case ".index" | ".timeindex":
            yield from _index_lines(path, given, complaints)
        case ".txnindex":
            yield from transaction_index_lines(_read(path), _base_offset(path))
        case ".snapshot":
            yield from snapshot_lines(_read(path))
        case _:
            warn(f"Ignoring unknown file {path}")


def _segment_lines(path: str, given: Given, complaints: list[str]) -> Iterator[str]:
    yield f"Log starting offset: {_base_offset(path)}"
    shows_data = any(name in given for name in ("print-data-log", *DECODERS))
    view = View(
        is_deep=shows_data or "deep-iteration" in given,
        shows_data=shows_data,
        shows_metadata="skip-record-metadata" not in given,
        bytes_max=given.number("max-bytes") if "max-bytes" in given else None,
        decode=_decoder(given),
    )
    dump = SegmentDump(memoryview(_read(path)), view)
    with progress_bar(len(dump.data), as_size, prints_result=True) as bar:
        for line in dump.lines():
            yield line
            if bar is not None:
                bar.advance(dump.position - bar.done)
    if dump.invalid_bytes:
        yield f"Found {dump.invalid_bytes} invalid bytes at the end of {os.path.basename(path)}"
    if dump.gaps:
        complaints.append(f"Non-consecutive offsets in {path}")
        complaints += [f"  {before} is followed by {after}" for before, after in dump.gaps]


def _decoder(given: Given) -> Decoder:
    for option, decode in DECODERS.items():
        if option in given:
            return decode
    classes = (given.text(f"{part}-decoder-class", _STRING_DECODER) for part in ("key", "value"))
    return by_classes(*classes)


def _index_lines(path: str, given: Given, complaints: list[str]) -> Iterator[str]:
    stem = os.path.splitext(path)[0]
    base_offset, faults = _base_offset(path), Faults()
    index = OffsetIndex(base_offset, _read(f"{stem}.index"))
    if path.endswith(".index") and not len(index):
        yield f"{path} is empty."
        return
    if "index-sanity-check" in given:
        if path.endswith(".timeindex"):
            TimeIndex(base_offset, _read(path))  # which raises if it cannot be read
        yield f"{path} passed sanity check."
        return
    segment = memoryview(_read(f"{stem}.log"))
    if path.endswith(".index"):
        lines = index_lines(index, segment, faults)
    else:
        times = TimeIndex(base_offset, _read(path))
        lines = time_index_lines(times, index, segment, faults)
    for line in lines:
        if "verify-index-only" not in given:
            yield line
    complaints += faults.lines(path)


def _base_offset(path: str) -> int:
    offset = offset_of(os.path.basename(path))
    if offset is None:
        raise CommandFailed(f"{path} is not named after an offset")
    return offset


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise CommandFailed(f"{path}: {error.strerror}") from error
