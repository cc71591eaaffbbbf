"""How a sink says that it ended because its query was stopped."""

from py4j.protocol import Py4JError
from pyspark.sql import DataFrame


def interrupt(frame: DataFrame) -> None:
    """Raise the JVM's own InterruptedException, in the thread of the query that gave this frame.

    Spark takes that for its own doing and ends a stopped query without a failure. What stopping
    has caused may not reach it otherwise: a wait for brokers ends with another error, and in the
    report of a failed job Spark's pattern takes a stack frame for each character. Where threads
    of Python have none of their own in the JVM (PYSPARK_PIN_THREAD=false), nothing is raised.
    """
    jvm = frame.sparkSession.sparkContext._jvm
    assert jvm is not None, "the frame came from there"
    thread = jvm.java.lang.Thread
    try:
        thread.currentThread().interrupt()
        thread.sleep(1)
    except Py4JError as error:
        raise error from None  # without the report of what failed before
