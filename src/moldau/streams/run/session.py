"""The Spark session of a run."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from pyspark.sql import SparkSession

from moldau.spark.local import keep_local
from moldau.spark.remote import check_master
from moldau.spark.source import register
from moldau.streams.run.manifest import local_directory
from moldau.streams.run.spark_log import FILE, log_settings, printing_to
from moldau.streams.settings import SETTINGS

MASTER = "local[*]"
_SETTINGS = {
    "spark.ui.showConsoleProgress": "false",
    # How often an idle query asks brokers for news: Spark's ten milliseconds keep a core busy.
    "spark.sql.streaming.pollingDelay": "100ms",
    # Between the JVM and its Python workers, which are on one machine.
    "spark.python.unix.domain.socket.enabled": "true",
}


def started_session(
    application: str, checkpoint: str, master: str, conf: Mapping[str, str]
) -> SparkSession:
    """A session for topologies; what the user has set goes before what is set here."""
    check_master(master)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    directory = log_directory(application, checkpoint)
    log = log_settings(directory, conf)
    builder = SparkSession.builder.master(keep_local(master or MASTER)).appName(application)
    with printing_to(directory):
        spark = builder.config(map={**_SETTINGS, **SETTINGS, **conf, **log}).getOrCreate()
    register(spark)
    return spark


def log_directory(application: str, checkpoint: str) -> Path:
    """Where this machine has files of an application."""
    return local_directory(checkpoint) or Path(".moldau", application)


def spark_log(application: str, checkpoint: str) -> Path:
    """The file of Spark's log."""
    return log_directory(application, checkpoint) / FILE
