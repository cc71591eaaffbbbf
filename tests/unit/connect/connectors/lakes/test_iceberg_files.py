"""Files are put together in one commit, or not at all."""

from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.catalog import load_catalog
from pyiceberg.exceptions import CommitFailedException
from pyiceberg.table import Table

from moldau.connect.connectors.lakes.iceberg_files import compact_files


@pytest.fixture
def table(tmp_path: Path) -> Table:
    uri, warehouse = f"sqlite:///{tmp_path}/catalog", f"file://{tmp_path}"
    catalog = load_catalog("default", type="sql", uri=uri, warehouse=warehouse)
    catalog.create_namespace("n")
    made = catalog.create_table("n.t", pa.schema([("id", pa.int64())]))
    for number in range(4):
        made.append(pa.table({"id": [number]}))
    return catalog.load_table("n.t")


def test_files_are_grouped_by_size(table: Table) -> None:
    size = next(iter(table.scan().plan_files())).file.file_size_in_bytes
    assert compact_files(table, size) == 0, "no file is small beside that"
    assert compact_files(table, size * 5 // 2) == 4
    assert len(list(table.scan().plan_files())) == 2
    assert sorted(table.scan().to_arrow()["id"].to_pylist()) == [0, 1, 2, 3]


def test_a_commit_that_comes_between_makes_it_fail(table: Table, tmp_path: Path) -> None:
    uri, warehouse = f"sqlite:///{tmp_path}/catalog", f"file://{tmp_path}"
    other = load_catalog("default", type="sql", uri=uri, warehouse=warehouse).load_table("n.t")
    other.append(pa.table({"id": [4]}))
    with pytest.raises(CommitFailedException):
        compact_files(table, 2**20)
    assert sorted(table.refresh().scan().to_arrow()["id"].to_pylist()) == [0, 1, 2, 3, 4]
