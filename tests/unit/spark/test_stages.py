"""A stage must have run once."""

from typing import NamedTuple, cast

import pytest
from pyspark import SparkContext, SparkStageInfo

from moldau.spark import stages
from moldau.spark.stages import StageRepeated, check_ran_once


class Tracker(NamedTuple):
    """Tells of stages as Spark does: late, and one thing after the other."""

    told: list[SparkStageInfo | None]

    def getStageInfo(self, _: int) -> SparkStageInfo | None:  # noqa: N802 - Spark's name
        return self.told.pop(0) if len(self.told) > 1 else self.told[0]


class Context(NamedTuple):
    tracker: Tracker

    def statusTracker(self) -> Tracker:  # noqa: N802 - Spark's name
        return self.tracker


def context(*told: SparkStageInfo | None) -> SparkContext:
    return cast("SparkContext", Context(Tracker(list(told))))


def stage(attempt: int, completed: int) -> SparkStageInfo:
    return SparkStageInfo(3, attempt, "write", 2, 0, completed, 0)


def test_news_that_come_later_are_waited_for() -> None:
    check_ran_once(context(None, stage(0, 1), stage(0, 2)), 3)


def test_a_second_attempt_is_found() -> None:
    with pytest.raises(StageRepeated, match="stage 3 was started again"):
        check_ran_once(context(stage(0, 1), stage(1, 2)), 3)


def test_what_nobody_tells_is_not_taken_for_good(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stages, "_WAIT_S", 0.01)
    with pytest.raises(StageRepeated, match=r"did not report in 0\.01 s"):
        check_ran_once(context(None), 3)
