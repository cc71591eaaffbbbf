"""The session begins with the first connector that needs it, so here none does."""

from pathlib import Path

from moldau.connect.spark.engine import SparkEngine
from moldau.connect.spark.sink_query import SinkQuery
from moldau.connect.worker.assembly import TaskSurroundings, assemble
from moldau.connect.worker.plugins import Plugins
from moldau.connect.worker.settings import WorkerSettings

SPARK = WorkerSettings({"engine": "spark"})


def test_nothing_of_spark_is_begun_before_a_connector_takes_a_step() -> None:
    engine = SparkEngine(WorkerSettings({"group.id": "a/b"}))
    assert engine.log == Path(".moldau/connect-a%2Fb/spark.log")
    assembly = assemble("c", Plugins().find("JdbcSink"), {"topics": "t"}, SPARK)
    around = TaskSurroundings(WorkerSettings({}), lambda *_: None, lambda _: None)
    work = engine.begin(assembly, around)
    assert isinstance(work, SinkQuery)
    work.rest()
    work.close()
    engine.close()
