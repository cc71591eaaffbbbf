"""How records are columns: one row for each, the same columns everywhere.

| column    | type                                                  |
|-----------|-------------------------------------------------------|
| key       | by the serde; of windows `struct<key, window<start, end>>` |
| value     | by the serde; null in a table deletes the key          |
| timestamp | timestamp                                             |
| headers   | array<struct<key: string, value: binary>>             |
| place     | struct<topic, partition, offset, steps: array<int>>   |

`place` says in which order records came. Stateful steps sort by it, since a shuffle does not keep
order; a step that makes several records of one appends their index to `steps`.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql.types import StructType

KEY = "key"
VALUE = "value"
TIMESTAMP = "timestamp"
HEADERS = "headers"
PLACE = "place"
COLUMNS = (KEY, VALUE, TIMESTAMP, HEADERS, PLACE)
# Beside these, the steps of a table that is grouped anew have the column `sign`: 1 adds, -1 takes.
SIGN = "sign"

HEADERS_TYPE = "array<struct<key:string,value:binary>>"
PLACE_TYPE = "struct<topic:string,partition:int,offset:bigint,steps:array<int>>"


def with_columns(frame: DataFrame, **changed: Column) -> DataFrame:
    """The records with some columns replaced."""
    return frame.select(*(changed.get(name, f.col(name)).alias(name) for name in COLUMNS))


def place_of_source() -> Column:
    """The place of what a source has read."""
    return f.struct(
        f.col("topic").alias("topic"),
        f.col("partition").alias("partition"),
        f.col("offset").alias("offset"),
        f.array().cast("array<int>").alias("steps"),
    )


def place_within(index: Column) -> Column:
    """The place of the record with this index among those made of one."""
    steps = f.concat(f.col(PLACE)["steps"], f.array(index.cast("int")))
    return f.col(PLACE).withField("steps", steps)


def place_of_result(name: str) -> Column:
    """The place of an aggregate, of which there is one for each key and micro-batch."""
    return f.struct(
        f.lit(name).alias("topic"),
        f.lit(0).alias("partition"),
        f.unix_millis(f.col(TIMESTAMP)).alias("offset"),
        f.array().cast("array<int>").alias("steps"),
    )


def no_headers() -> Column:
    return f.lit(None).cast(HEADERS_TYPE)


def type_of(frame: DataFrame, column: str) -> str:
    """The type of a column, as SQL writes it."""
    schema: StructType = frame.schema
    return schema[column].dataType.simpleString()
