"""Topics as files of JSON in lines or of CSV, each record in one of them.

A file is `TOPIC/partition=N/FIRST.jsonl`, FIRST being the offset of its first record. Unlike
Parquet these formats have no room for where the next file begins. So a claim comes before the
file, `.FIRST.jsonl.claim`: it can be made once, names the file that is written, and says where the
next one begins. A task that finds a claim whose file has not appeared has it appear.
"""

import base64
import datetime as dt
import gzip
import io
import json
import math
import os
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from decimal import Decimal

import pyarrow as pa
import pyarrow.csv

from moldau.connect.config.definition import PluginSetting, one_of
from moldau.connect.config.values import required
from moldau.connect.connectors.files.folders import (
    folder_of,
    name_of,
    sync_folder,
    unfinished,
    unfinished_path,
)
from moldau.connect.connectors.holding import SETTINGS, HeldPart, HoldingSink
from moldau.connect.errors import ConnectError, RetriableConnectError

_GZIP = "gzip"


class TextSink(HoldingSink):
    """Files in a directory that all tasks see."""

    settings = (
        PluginSetting("directory", required=True, importance="HIGH"),
        *SETTINGS,
        PluginSetting("compression", default="none", check=one_of("none", _GZIP)),
    )

    def __init__(self, config: Mapping[str, str]) -> None:
        super().__init__(config)
        self._directory = required(config, "directory")
        self._zips = config.get("compression", "none") == _GZIP
        self._next: dict[tuple[str, int], int] = {}

    @property
    @abstractmethod
    def suffix(self) -> str:
        """Of names of files."""

    @abstractmethod
    def text_of(self, rows: pa.Table) -> bytes:
        """All of a file."""

    def store(self, parts: Sequence[HeldPart]) -> None:
        """A file for each partition."""
        try:
            for part in parts:
                self._store(part)
        except OSError as error:
            raise RetriableConnectError(f"{self._directory}: {error.strerror}") from error

    def _store(self, part: HeldPart) -> None:
        place, folder = (part.topic, part.partition), folder_of(self._directory, part)
        if place not in self._next:
            os.makedirs(folder, exist_ok=True)
            self._next[place] = self._stored_until(folder)
        rest = part.since(self._next[place])
        while rest is not None:
            self._next[place] = self._create(folder, rest)
            rest = rest.since(self._next[place])

    def _create(self, folder: str, part: HeldPart) -> int:
        """Where the file ends that begins with the part; it may be somebody else's."""
        data = self.text_of(self.rows_of(part))
        name = name_of(part.first_offset)
        claim, written = f".{name}{self._claim}", unfinished_path(folder)
        about = {
            "next": part.next_offset,
            "written": os.path.basename(written),
            "name": f"{name}.{self.suffix}{'.gz' if self._zips else ''}",
        }
        is_claimed = False
        try:
            with unfinished(folder) as claiming:
                _write(written, gzip.compress(data, mtime=0) if self._zips else data)
                _write(claiming, json.dumps(about).encode())
                os.link(claiming, os.path.join(folder, claim))
                is_claimed = True
        except FileExistsError:
            pass  # somebody else was first
        finally:
            if not is_claimed:
                with suppress(FileNotFoundError):
                    os.unlink(written)
        return _kept(folder, claim)

    @property
    def _claim(self) -> str:
        return f".{self.suffix}.claim"

    def _stored_until(self, folder: str) -> int:
        claims = sorted(name for name in os.listdir(folder) if name.endswith(self._claim))
        return _kept(folder, claims[-1]) if claims else 0


def _write(path: str, data: bytes) -> None:
    with open(path, "xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _kept(folder: str, claim: str) -> int:
    """Where the next file begins; the claim's own file is there from now on."""
    path = os.path.join(folder, claim)
    try:
        with open(path, "rb") as file:
            found = json.load(file)
        written, name = os.path.join(folder, found["written"]), os.path.join(folder, found["name"])
        reached = int(found["next"])
    except (ValueError, KeyError, TypeError) as error:
        raise ConnectError(f"{path} is in the way: it was not written by this sink") from error
    with suppress(FileNotFoundError, FileExistsError):
        os.link(written, name)
        sync_folder(folder)
    if not os.path.exists(name):
        raise ConnectError(f"{name} is missing, though {path} says that it was written")
    with suppress(FileNotFoundError):
        os.unlink(written)
    return reached


class JsonLinesSink(TextSink):
    """A record in each line."""

    suffix = "jsonl"

    def text_of(self, rows: pa.Table) -> bytes:
        """Times are as ISO has them, bytes in base64, Decimals texts."""
        lines = map(json_text, rows.to_pylist(maps_as_pydicts="strict"))
        return "".join(f"{line}\n" for line in lines).encode()


class CsvSink(TextSink):
    """A line of names, and a line for each record; what has parts is JSON in its column."""

    suffix = "csv"

    def text_of(self, rows: pa.Table) -> bytes:
        """Nothing between commas is null, an empty text has quotes."""
        output = io.BytesIO()
        columns = [_as_column(each) for each in rows.columns]
        options = pyarrow.csv.WriteOptions(quoting_style="needed")
        pyarrow.csv.write_csv(pa.table(columns, names=rows.column_names), output, options)
        return output.getvalue()


def _as_column(column: pa.ChunkedArray) -> pa.ChunkedArray | pa.Array:
    kind = column.type
    if pa.types.is_nested(kind):
        values = column.to_pylist(maps_as_pydicts="strict")
        return pa.array([None if each is None else json_text(each) for each in values], pa.string())
    if pa.types.is_binary(kind):
        return pa.array([None if each is None else _text(each) for each in column.to_pylist()])
    if pa.types.is_decimal(kind):
        return column.cast(pa.string())
    return column


def json_text(value: object) -> str:
    """JSON, in which NaN and infinity are texts: it has no such numbers."""
    try:
        return json.dumps(value, default=_text, ensure_ascii=False, allow_nan=False)
    except ValueError:
        return json.dumps(_with_texts(value), default=_text, ensure_ascii=False)


def _with_texts(value: object) -> object:
    match value:
        case dict():
            return {name: _with_texts(each) for name, each in value.items()}
        case list():
            return [_with_texts(each) for each in value]
        case float() if math.isnan(value):
            return "NaN"
        case float() if math.isinf(value):
            return "Infinity" if value > 0 else "-Infinity"
    return value


def _text(value: object) -> str:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, dt.datetime | dt.date | dt.time):
        return value.isoformat()
    assert isinstance(value, Decimal), f"{type(value)} is none of Connect's"
    return str(value)
