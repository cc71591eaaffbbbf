"""What became of the stages of a job."""

import time

from pyspark import SparkContext

_WAIT_S = 10.0
_POLL_S = 0.002


class StageRepeated(Exception):
    """Tasks may have written twice: their stage was started again, or that is unknown."""


def check_ran_once(context: SparkContext, stage_id: int) -> None:
    """StageRepeated unless the first attempt of a stage did all its tasks.

    After the loss of an executor Spark may start a stage again, whose tasks are then first
    attempts once more and cannot know. What it reports of stages comes a moment later.
    """
    tracker = context.statusTracker()
    deadline = time.monotonic() + _WAIT_S
    while True:
        stage = tracker.getStageInfo(stage_id)
        if stage is not None and stage.currentAttemptId > 0:
            raise StageRepeated(f"stage {stage_id} was started again by Spark")
        if stage is not None and stage.numCompletedTasks == stage.numTasks:
            return
        if time.monotonic() > deadline:
            raise StageRepeated(
                f"Spark did not report in {_WAIT_S:g} s whether stage {stage_id} ran once"
            )
        time.sleep(_POLL_S)
