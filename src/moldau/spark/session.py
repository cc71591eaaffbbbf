"""The Spark session of a process that runs queries for long, with its log in files."""

import logging
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.sql import SparkSession

from moldau.spark.local import keep_local
from moldau.spark.log_files import log_settings, printing_to
from moldau.spark.remote import check_master
from moldau.spark.source import register

MASTER = "local[*]"
_SETTINGS = {
    "spark.ui.showConsoleProgress": "false",
    # How often an idle query asks brokers for news: Spark's ten milliseconds keep a core busy.
    "spark.sql.streaming.pollingDelay": "100ms",
    # Between the JVM and its Python workers, which are on one machine.
    "spark.python.unix.domain.socket.enabled": "true",
}


def session_in(
    directory: Path, application: str, master: str, conf: Mapping[str, str]
) -> SparkSession:
    """A session that logs to a directory; what is given goes before what is set here."""
    check_master(master)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    # It logs every call that the JVM makes, which is one for each micro-batch.
    logging.getLogger("py4j").setLevel(logging.WARNING)
    log = log_settings(directory, conf)
    builder = SparkSession.builder.master(keep_local(master or MASTER)).appName(application)
    with printing_to(directory):
        spark = builder.config(map={**_SETTINGS, **conf, **log}).getOrCreate()
    register(spark)
    return spark


def is_alive(spark: SparkSession) -> bool:
    """Whether the session's driver still answers."""
    try:
        context = spark.sparkContext._jsc
        return context is not None and not context.sc().isStopped()
    except (Py4JError, OSError):
        return False


def end_session(spark: SparkSession) -> None:
    """Stop a session; one whose JVM is gone is forgotten, so that another can begin."""
    if is_alive(spark):
        spark.stop()
        return
    with suppress(Py4JError, OSError):
        spark.stop()
    for place, names in (
        (SparkContext, ("_gateway", "_jvm", "_active_spark_context")),
        (SparkSession, ("_instantiatedSession", "_activeSession")),
    ):
        for name in names:
            if hasattr(place, name):
                setattr(place, name, None)
