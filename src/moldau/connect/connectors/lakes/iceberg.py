"""Iceberg tables, through pyiceberg."""

import json
from collections.abc import Mapping, Sequence

import pyarrow as pa
from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.exceptions import CommitFailedException as CommitFailed
from pyiceberg.exceptions import (
    NoSuchTableError,
    RESTError,
    TableAlreadyExistsError,
    ValidationException,
)
from pyiceberg.table import Table, TableProperties

from moldau.connect.config.values import below, flag
from moldau.connect.connectors.lakes.columns import EVOLVE, with_types
from moldau.connect.connectors.lakes.iceberg_files import compact_files
from moldau.connect.errors import CommitLost, ConfigError, ConnectError, RetriableConnectError

_CATALOG = "iceberg.catalog."
_BATCH_ID = "moldau.batch-id"
_TYPES = {
    pa.time32("ms"): pa.time64("us"),
    pa.timestamp("ms", tz="UTC"): pa.timestamp("us", tz="UTC"),
    pa.int8(): pa.int32(),
    pa.int16(): pa.int32(),
}


class IcebergTables:
    """How far a table is, is one of its properties, which changes with the rows."""

    def __init__(self, config: Mapping[str, str]) -> None:
        self._name = config.get("name", "")
        self._evolves = flag(config, "auto.evolve", default=False)
        self._properties = below(config, _CATALOG)
        if not self._properties:
            raise ConfigError(f"{_CATALOG}type, {_CATALOG}uri, …: a catalog is needed")
        self._catalog_name = self._properties.pop("name", "default")
        self._namespace = config.get("iceberg.namespace", "default")
        self._catalog: Catalog | None = None
        self._tables: dict[str, Table | None] = {}
        """As they were when it was last asked how far they are: a commit builds on that."""

    def reached(self, table: str, partitions: Sequence[int]) -> Mapping[int, int]:
        """For all partitions that there are."""
        del partitions
        try:
            found = self._tables[table] = self._opened().load_table(self._place(table))
        except NoSuchTableError:
            self._tables[table] = None
            return {}
        except (RESTError, OSError) as error:
            raise RetriableConnectError(f"{table}: {error}") from error
        stored = json.loads(found.properties.get(self._property, "{}"))
        return {int(partition): end for partition, end in stored.items()}

    def append(self, table: str, rows: pa.Table, ends: Mapping[int, int]) -> None:
        """One snapshot; its summary says which batch it was."""
        rows = with_types(rows, _TYPES)
        known = self._tables.pop(table)
        try:
            if known is None:
                known = self._opened().create_table(self._place(table), rows.schema)
            # In memory alone: tried again, a commit that lost would be put on top of the winner's.
            known.metadata.properties[TableProperties.COMMIT_NUM_RETRIES] = "0"
            stored = json.loads(known.properties.get(self._property, "{}"))
            text = json.dumps({**stored, **{str(each): end for each, end in ends.items()}})
            with known.transaction() as transaction:
                if self._evolves:
                    with transaction.update_schema() as schema:
                        schema.union_by_name(rows.schema)
                transaction.append(rows, {_BATCH_ID: f"{self._name} {text}"})
                transaction.set_properties({self._property: text})
        except (CommitFailed, TableAlreadyExistsError) as error:
            raise CommitLost(f"{table}: {error}") from error
        except (RESTError, OSError) as error:
            raise RetriableConnectError(f"{table}: {error}") from error
        except ValueError as error:
            raise ConfigError(f"{table}: {EVOLVE}: {error}") from error

    def compact(self, table: str, size_bytes: int) -> int:
        """One snapshot with files in the place of others; the others stay for older snapshots."""
        try:
            found = self._opened().load_table(self._place(table))
            if not found.spec().is_unpartitioned():
                raise ConnectError("tables with partitions are left to other tools")
            return compact_files(found, size_bytes)
        except (CommitFailed, ValidationException, RESTError, OSError) as error:
            raise ConnectError(f"{table}: {error}") from error

    @property
    def _property(self) -> str:
        return f"moldau.offsets.{self._name}"

    def _place(self, table: str) -> tuple[str, str]:
        """Dots are between namespaces in Iceberg."""
        return self._namespace, table.replace(".", "_")

    def _opened(self) -> Catalog:
        if self._catalog is None:
            self._catalog = load_catalog(self._catalog_name, **self._properties)
            self._catalog.create_namespace_if_not_exists(self._namespace)
        return self._catalog

    def close(self) -> None:
        """Hang up."""
        if self._catalog is not None:
            self._catalog.close()
            self._catalog = None
