"""Apache Kafka 3.9's own tables of settings.

They hold what `KafkaConfig.configDef` and `LogConfig.configDefCopy` of kafka_2.13 3.9.2
print, one setting a line; `\\N` stands for null.
"""

import csv
from pathlib import Path

import pytest

Table = dict[str, dict[str, str | None]]
"""Each setting by its name, as the cells of its row by their columns."""


def _table(which: str) -> Table:
    path = Path(__file__).parent / f"apache-3.9-{which}.tsv"
    with path.open(newline="") as lines:
        rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {
            row["name"]: {column: None if cell == "\\N" else cell for column, cell in row.items()}
            for row in rows
        }


@pytest.fixture(scope="session")
def apache_topic_settings() -> Table:
    return _table("topic")


@pytest.fixture(scope="session")
def apache_broker_settings() -> Table:
    return _table("broker")
