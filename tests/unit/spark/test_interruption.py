"""A stopped query is told in the JVM's own words, and in few of them."""

import traceback
from typing import cast

import pytest
from py4j.protocol import Py4JError
from pyspark.sql import DataFrame

from moldau.spark.interruption import interrupt
from unit.spark.interrupted_frame import InterruptedFrame


def test_the_thread_of_the_query_is_interrupted_and_says_so_alone() -> None:
    frame = InterruptedFrame()
    with pytest.raises(Py4JError, match="sleep interrupted") as caught:
        fail_and_interrupt(frame)
    assert frame.calls == ["interrupt", "sleep"]
    told = "".join(traceback.format_exception(caught.value))
    assert "a long report" not in told


def fail_and_interrupt(frame: InterruptedFrame) -> None:
    try:
        int("a long report")
    except ValueError:
        interrupt(cast("DataFrame", frame))
