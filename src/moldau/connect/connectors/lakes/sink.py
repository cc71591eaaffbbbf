"""Topics as tables of a lake, a table per topic, and each record in it once.

How far each partition was stored is part of the same commit as the rows, in the table itself.
"""

import logging
from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import groupby
from typing import Protocol

import pyarrow as pa

from moldau.connect.config.definition import PluginSetting, at_least
from moldau.connect.config.values import number
from moldau.connect.connectors.holding import SETTINGS as HOLDING
from moldau.connect.connectors.holding import HeldPart, HoldingSink
from moldau.connect.errors import CommitLost, ConfigError, ConnectError

_log = logging.getLogger(__name__)

_EVERY, _SIZE = "compact.every.commits", "compact.file.size.mb"
_TRIES = 10
"""How often tasks that share a table may be overtaken one after the other."""
_SETTINGS = (
    *HOLDING,
    PluginSetting("table.name.format", default="${topic}"),
    PluginSetting("auto.evolve", "BOOLEAN", "false"),
    PluginSetting(_EVERY, "INT", "0", check=at_least(0)),
    PluginSetting(_SIZE, "INT", "128", check=at_least(1)),
)


class LakeTables(Protocol):
    """The tables of one format."""

    def reached(self, table: str, partitions: Sequence[int]) -> Mapping[int, int]:
        """Where the next record of each partition begins, as the table says now."""

    def append(self, table: str, rows: pa.Table, ends: Mapping[int, int]) -> None:
        """Add rows, and how far the table is from then on, in one commit.

        CommitLost if somebody has changed how far it is since `reached` was asked.
        """

    def compact(self, table: str, size_bytes: int) -> int:
        """Put small files together, up to about a size; returns how many are gone.

        ConnectError if that is not possible now; the table is as it was then.
        """

    def close(self) -> None:
        """Give back what was opened."""


class LakeSink(HoldingSink):
    """Appends what is not in the table yet."""

    def __init__(self, config: Mapping[str, str]) -> None:
        super().__init__(config)
        self._compacts_every = number(config, _EVERY, 0)
        self._file_bytes = number(config, _SIZE, 128) * 2**20
        self._commits: Counter[str] = Counter()

    @abstractmethod
    def open_tables(self) -> LakeTables:
        """The tables, by a package that need not be there."""

    @cached_property
    def _tables(self) -> LakeTables:
        try:
            return self.open_tables()
        except ImportError as error:
            raise ConfigError(f"{error}: pip install 'moldau[lake]'") from error

    def store(self, parts: Sequence[HeldPart]) -> None:
        """One commit for each topic."""
        for topic, of_topic in groupby(parts, lambda each: each.topic):
            name = self.config.get("table.name.format", "${topic}").replace("${topic}", topic)
            listed = list(of_topic)
            for tries_left in reversed(range(_TRIES)):
                try:
                    self._append_rest(name, listed)
                    break
                except CommitLost:
                    if not tries_left:
                        raise

    def _append_rest(self, table: str, parts: Sequence[HeldPart]) -> None:
        known = self._tables.reached(table, [each.partition for each in parts])
        rest = [
            left for each in parts if (left := each.since(known.get(each.partition, 0))) is not None
        ]
        if rest:
            rows = pa.concat_tables([self.rows_of(each) for each in rest])
            ends = {each.partition: each.next_offset for each in rest}
            self._tables.append(table, rows, ends)
            self._commits[table] += 1
            if self._compacts_every and self._commits[table] % self._compacts_every == 0:
                self._compact(table)

    def _compact(self, table: str) -> None:
        """What fails is tried again with a later commit: all records are stored."""
        try:
            count = self._tables.compact(table, self._file_bytes)
        except ConnectError as error:
            _log.warning("table %s is not compacted now: %s", table, error)
            return
        if count:
            _log.info("table %s: %d small files were put together", table, count)

    def close(self) -> None:
        """Hang up."""
        if "_tables" in self.__dict__:
            self._tables.close()


class DeltaSink(LakeSink):
    """A table is a directory below `directory`; `storage.*` are options of where it is."""

    settings = (PluginSetting("directory", required=True, importance="HIGH"), *_SETTINGS)

    def open_tables(self) -> LakeTables:
        """Through the package `deltalake`: no Spark and no Java."""
        from moldau.connect.connectors.lakes.delta import DeltaTables  # noqa: PLC0415 - extra

        return DeltaTables(self.config)


class IcebergSink(LakeSink):
    """`iceberg.catalog.*` are the settings of pyiceberg's catalog: name, type, uri, warehouse."""

    settings = (*_SETTINGS, PluginSetting("iceberg.namespace", default="default"))

    def open_tables(self) -> LakeTables:
        """Through pyiceberg: no Spark and no Java."""
        from moldau.connect.connectors.lakes.iceberg import IcebergTables  # noqa: PLC0415 - extra

        return IcebergTables(self.config)
