"""What is all on this machine: a Spark that listens to it alone, and checkpoints on its disk."""

import os

_ADDRESS = "SPARK_LOCAL_IP"
CHECKPOINTS = {
    # Spark's choice starts ten processes (readlink, chmod) for each file of a checkpoint, and a
    # micro-batch writes at least two; this one two. On HDFS its own choice is the safer one.
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing."
        "FileSystemBasedCheckpointFileManager"
    ),
}
"""Settings of a session whose checkpoints are files of this machine."""


def keep_local(master: str) -> str:
    """Before a session begins: give a master on this machine no other address; returns it.

    Spark's own choice is the machine's address, and every one for its pages: a session on a
    laptop would take jobs and requests from the whole network, without authentication.
    Drivers of a cluster have to be reached by their executors. A session that is there already
    stays as it is.
    """
    if master.startswith("local"):
        os.environ.setdefault(_ADDRESS, "127.0.0.1")
    return master
