"""Apache Kafka 3.9's own tables of settings.

They hold what `KafkaConfig.configDef` and `LogConfig.configDefCopy` of kafka_2.13 3.9.2
print, one setting a line; `\\N` stands for null.
"""

import csv
from pathlib import Path

import pytest


def _table(which):
    path = Path(__file__).parent / f"apache-3.9-{which}.tsv"
    with path.open(newline="") as lines:
        rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {
            row["name"]: {column: None if cell == "\\N" else cell for column, cell in row.items()}
            for row in rows
        }


@pytest.fixture(scope="session")
def apache_topic_settings():
    return _table("topic")


@pytest.fixture(scope="session")
def apache_broker_settings():
    return _table("broker")
