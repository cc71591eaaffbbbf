"""Delta tables, through the package `deltalake`."""

from collections.abc import Mapping, Sequence

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from deltalake.exceptions import (
    CommitFailedError,
    DeltaError,
    SchemaMismatchError,
    TableNotFoundError,
)

from moldau.connect.config.values import below, flag, required
from moldau.connect.connectors.lakes.columns import EVOLVE, with_types
from moldau.connect.errors import CommitLost, ConfigError, ConnectError, RetriableConnectError

_STORAGE = "storage."
_TYPES = {pa.time32("ms"): pa.string()}


class DeltaTables:
    """A table is a directory; how far it is, are Delta's own transactions of applications."""

    def __init__(self, config: Mapping[str, str]) -> None:
        self._name = config.get("name", "")
        self._evolves = flag(config, "auto.evolve", default=False)
        self._directory = required(config, "directory").rstrip("/")
        self._storage = below(config, _STORAGE)
        self._tables: dict[str, DeltaTable | None] = {}
        """As they were when it was last asked how far they are: a commit builds on that."""

    def reached(self, table: str, partitions: Sequence[int]) -> Mapping[int, int]:
        """The version of each partition's application."""
        path = f"{self._directory}/{table}"
        try:
            found = self._tables[table] = DeltaTable(path, storage_options=self._storage)
        except TableNotFoundError:
            self._tables[table] = None
            return {}
        except (DeltaError, OSError) as error:
            raise RetriableConnectError(f"{path}: {error}") from error
        known = {each: found.transaction_version(self._application(each)) for each in partitions}
        return {partition: end for partition, end in known.items() if end is not None}

    def append(self, table: str, rows: pa.Table, ends: Mapping[int, int]) -> None:
        """One version of the table."""
        path, known = f"{self._directory}/{table}", self._tables.pop(table)
        marks = [Transaction(self._application(each), end) for each, end in ends.items()]
        try:
            write_deltalake(
                path if known is None else known,
                with_types(rows, _TYPES),
                mode="error" if known is None else "append",
                schema_mode="merge" if self._evolves and known is not None else None,
                storage_options=self._storage,
                commit_properties=CommitProperties(app_transactions=marks),
            )
        except SchemaMismatchError as error:
            raise ConfigError(f"{path}: {EVOLVE}: {error}") from error
        except (DeltaError, OSError) as error:
            # That somebody else has made the table has no error of its own.
            is_lost = known is None or isinstance(error, CommitFailedError)
            failure = CommitLost if is_lost else RetriableConnectError
            raise failure(f"{path}: {error}") from error

    def compact(self, table: str, size_bytes: int) -> int:
        """Delta's own; files that are gone stay on the disk until they are vacuumed."""
        path = f"{self._directory}/{table}"
        try:
            found = DeltaTable(path, storage_options=self._storage)
            return int(found.optimize.compact(target_size=size_bytes)["numFilesRemoved"])
        except (DeltaError, OSError) as error:
            raise ConnectError(f"{path}: {error}") from error

    def _application(self, partition: int) -> str:
        return f"moldau/{self._name}/{partition}"

    def close(self) -> None:
        """Nothing is open."""
