"""The Python blocks of the documents as modules, for type checkers."""

import re
import textwrap
from pathlib import Path

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(?:python|py)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

# What readers of a document have already, and what is of their own.
GIVEN = {
    "README": "from pyspark.sql import SparkSession\nspark: SparkSession",
    "spark": "from pyspark.sql import SparkSession\nspark: SparkSession",
    "clients": (
        "from typing import Any\n"
        "schema: dict[str, object]\n"
        "shop_pb2: Any  # a module that protoc makes"
    ),
    "columns": "import pyarrow as pa\nschema: dict[str, object]\ntable_of_orders: pa.Table",
    "testing": "from moldau.testing.broker import EmbeddedBroker\nkafka: EmbeddedBroker",
}


def write_modules(folder: Path) -> list[Path]:
    """A module for each document: its blocks one after the other, in a coroutine."""
    documents = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    written: list[Path] = []
    for document in documents:
        blocks = BLOCK.findall(document.read_text(encoding="utf-8"))
        if blocks:
            body = textwrap.indent("\n".join(blocks), "    ")
            source = f"{GIVEN.get(document.stem, '')}\n\nasync def document() -> None:\n{body}"
            module = folder / f"{document.stem.lower()}_document.py"
            module.write_text(source, encoding="utf-8")
            written.append(module)
    return written


WRONG = """\
from moldau import Admin, Consumer, Producer, read_topic
from moldau.client import blocking

async def misspelt() -> None:
    Producer(bootstrap_servers="localhost:9092", lingerms=5)
    Consumer(bootstrap_servers="localhost:9092", auto_offset_rest="earliest")
    Admin(bootstrap_server="localhost:9092")
    blocking.Producer(bootstrap_servers="localhost:9092", acs="all")
    blocking.Consumer(bootstrap_servers="localhost:9092", groupid="g")
    blocking.Admin(bootstrap_servers="localhost:9092", client_ids="c")
    read_topic("t", bootstrap_servers="localhost:9092", isolation="read_committed")
    Producer(bootstrap_servers="localhost:9092", linger_ms=None)

async def misused() -> None:
    async with Producer(bootstrap_servers="localhost:9092") as producer:
        await producer.send("t", 5)
    async with Consumer(bootstrap_servers="localhost:9092") as consumer:
        async for record in consumer:
            record.value.decode()
            if record.value is not None:
                record.value.no_such_method()
"""
"""Lines 5 to 12, 16, 19 and 21 are mistakes that a type checker has to see, and no others."""

WRONG_LINES = [*range(5, 13), 16, 19, 21]
