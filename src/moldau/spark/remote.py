"""Sessions of Spark Connect (`sc://...`), whose driver is elsewhere."""

import os
from collections.abc import Mapping

REMOTE = "SPARK_REMOTE"
_CONNECT = "pyspark.sql.connect."
_SCHEME = "sc://"


class NeedsDriver(ValueError):
    """Only a driver can do what was asked of Spark Connect; the message says what to do."""


def is_of_connect(thing: object) -> bool:
    """Whether a session or a frame is one of Spark Connect."""
    return type(thing).__module__.startswith(_CONNECT)


def check_frame(frame: object) -> None:
    """NeedsDriver if a frame is to be written exactly once by Spark Connect."""
    if is_of_connect(frame):
        raise NeedsDriver(
            "write_stream needs the driver, which knows what became of each stage; clients of "
            'Spark Connect do not. frame.writeStream.format("moldau") writes at least once; for '
            "exactly once run the job by spark-submit, or with a master like spark://host:7077"
        )


def check_master(master: str, environment: Mapping[str, str] = os.environ) -> None:
    """NeedsDriver if a master is a server of Spark Connect, or the environment names one."""
    named = master if master.startswith(_SCHEME) else ""
    if not master and environment.get(REMOTE):
        named = f"{REMOTE}={environment[REMOTE]}"
    if named:
        raise NeedsDriver(
            f"{named}: topologies and SQL need the driver, which Spark Connect keeps elsewhere. "
            "Give a master like spark://host:7077 or local[*]"
        )
