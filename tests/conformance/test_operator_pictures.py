"""The pictures of operators show what the operators do."""

import os
import sys
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from moldau import streams
from moldau.streams import StreamsBuilder
from moldau.streams.testing.driver import TestDriver, local_session
from operators import OPERATORS, Operator

pytestmark = pytest.mark.needs("java")


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    # Workers are processes of their own: they need this interpreter and these packages.
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
        session = local_session()
        yield session
        session.stop()


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda each: each.name)
def test_an_operator_does_what_its_picture_shows(operator: Operator, spark: SparkSession) -> None:
    builder = StreamsBuilder()
    exec(operator.program, {**vars(streams), "builder": builder})
    records = sorted((mark, topic) for topic, marks in operator.inputs.items() for mark in marks)
    with TestDriver(builder.build(), spark=spark) as driver:
        for mark, topic in records:
            driver.pipe(topic, key=mark.key, value=mark.value, timestamp_ms=mark.at)
            if operator.has_state:
                driver.run()
        driver.run()
        found = driver.read("out")
    written = [(each.timestamp_ms, str(each.key), each.value) for each in found]
    # Records of one micro-batch have no order.
    assert sorted(written) == sorted(map(tuple, operator.output))
