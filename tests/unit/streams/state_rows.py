"""Rows as stateful steps get them, for tests without a JVM."""

from pyspark.sql import Row
from pyspark.sql.types import LongType, StringType, StructField, StructType

TYPES = StructType([StructField("value", StringType()), StructField("millis", LongType())])


def row(offset: int, value: object, millis: int, **more: object) -> Row:
    place = {"topic": "a", "partition": 0, "offset": offset, "steps": []}
    return Row(value=value, millis=millis, place=place, **more)


def joined(_key: object, value: object, so_far: object) -> object:
    return f"{so_far}{value}"
