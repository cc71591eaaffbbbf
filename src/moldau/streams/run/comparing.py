"""A topology beside a checkpoint, without starting anything: what would go on, what not."""

from moldau.streams.compile.inputs import NoRecords
from moldau.streams.run.app import App
from moldau.streams.run.manifest import Comparison, Manifest, compared
from moldau.streams.run.session import started_session


def compare(app: App, checkpoint: str) -> Comparison:
    """Types are known to Spark alone, so a session of one core begins and ends."""
    known = Manifest.read(checkpoint).queries
    quiet = {"spark.ui.enabled": "false"}
    spark = started_session(app.application, checkpoint, "local[1]", quiet)
    try:
        queries = app.topology.compile(NoRecords(spark), app.application)
        return compared(known, {query.name: query.signature for query in queries})
    finally:
        spark.stop()
