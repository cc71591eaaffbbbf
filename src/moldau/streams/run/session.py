"""The Spark session of a run."""

from collections.abc import Mapping
from pathlib import Path

from pyspark.sql import SparkSession

from moldau.spark.local import CHECKPOINTS
from moldau.spark.log_files import FILE
from moldau.spark.session import session_in
from moldau.streams.run.manifest import local_directory
from moldau.streams.settings import SETTINGS


def started_session(
    application: str, checkpoint: str, master: str, conf: Mapping[str, str]
) -> SparkSession:
    """A session for topologies; what the user has set goes before what is set here."""
    directory = log_directory(application, checkpoint)
    return session_in(directory, application, master, {**settings_with(checkpoint), **conf})


def settings_with(checkpoint: str) -> dict[str, str]:
    """What a session for topologies is set to, with checkpoints at this place."""
    return SETTINGS if local_directory(checkpoint) is None else {**SETTINGS, **CHECKPOINTS}


def log_directory(application: str, checkpoint: str) -> Path:
    """Where this machine has files of an application."""
    return local_directory(checkpoint) or Path(".moldau", application)


def spark_log(application: str, checkpoint: str) -> Path:
    """The file of Spark's log."""
    return log_directory(application, checkpoint) / FILE
