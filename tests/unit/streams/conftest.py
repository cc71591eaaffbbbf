"""Spark for the tests of a module: each has its own session, in one JVM per test worker."""

import os
import sys
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from moldau.streams.testing.driver import local_session


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A local session that knows this interpreter and these packages."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
        directory = str(tmp_path_factory.mktemp("warehouse"))
        session = local_session(**{"spark.sql.warehouse.dir": directory})
        session.sparkContext.setLogLevel("ERROR")
        yield session
        session.stop()
