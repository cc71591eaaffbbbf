"""Columns of every type as COPY reads them."""

import datetime as dt
import math
from decimal import Decimal

import pyarrow as pa

from moldau.connect.connectors.sql.copying import csv_of


def test_nulls_and_empty_texts_are_told_apart_and_nothing_breaks_out() -> None:
    table = pa.table(
        {
            "text": ["", None, 'a"b,\n\\.'],
            "raw": pa.array([b"", None, b"\0\xff"], pa.binary()),
            "price": pa.array([Decimal("1.50"), None, Decimal("-0.01")], pa.decimal128(38, 2)),
            "ratio": [0.5, None, math.nan],
        }
    )
    assert csv_of(table).to_pybytes().decode() == (
        '"","\\x","1.50",0.5\n,,,\n"a""b,\n\\.","\\x00ff","-0.01",nan\n'
    )


def test_times_have_their_zone() -> None:
    moment = dt.datetime(2024, 2, 29, 1, 2, 3, 4000, tzinfo=dt.UTC)
    table = pa.table(
        {
            "at": pa.array([moment], pa.timestamp("ms", tz="UTC")),
            "day": pa.array([moment.date()], pa.date32()),
            "hour": pa.array([moment.time()], pa.time32("ms")),
        }
    )
    assert csv_of(table).to_pybytes() == b"2024-02-29 01:02:03.004Z,2024-02-29,01:02:03.004\n"
