"""A task works in its thread, rests, restarts and fails."""

import threading
from collections.abc import Callable

from moldau.connect.errors import DataError, RetriableConnectError
from moldau.connect.worker.restarts import RestartRule
from moldau.connect.worker.task import Task, TaskReport, trace_of
from unit.connect.started import until


class Counting:
    """Work that counts its steps."""

    def __init__(self, fail: Callable[[], None] = lambda: None) -> None:
        self.steps = 0
        self.closed = self.rests = 0
        self._fail = fail

    def step(self) -> bool:
        self.steps += 1
        self._fail()
        return False

    def idle_s(self) -> float:
        return 0.001

    def rest(self) -> None:
        self.rests += 1

    def close(self) -> None:
        self.closed += 1


def test_a_task_works_rests_and_ends() -> None:
    work = Counting()
    reports: list[TaskReport] = []
    task = Task("c", 0, lambda: work, reports.append)
    task.start(paused=True)
    until(lambda: reports == [TaskReport("PAUSED")])
    assert work.steps == 0
    task.pause(paused=False)
    until(lambda: work.steps > 1)
    task.pause(paused=True)
    until(lambda: reports[-1] == TaskReport("PAUSED"))
    task.ask_to_stop()
    assert task.join(5)
    assert work.closed == 1
    assert work.rests == 2
    assert [each.state for each in reports] == ["PAUSED", "RUNNING", "PAUSED"]


def failing(error: Exception, restarts: int) -> list[TaskReport]:
    reports: list[TaskReport] = []
    ended = threading.Event()

    def fail() -> None:
        raise error

    def report(found: TaskReport) -> None:
        reports.append(found)
        if found.state == "FAILED":
            ended.set()

    task = Task("c", 0, lambda: Counting(fail), report, RestartRule(restarts, (0.0,)))
    task.start()
    assert ended.wait(10)
    assert task.join(5)
    return reports


def test_what_may_pass_is_tried_again_and_then_fails() -> None:
    reports = failing(RetriableConnectError("the database restarts"), 2)
    states = [each.state for each in reports]
    assert states == ["RUNNING", "RESTARTING", "RUNNING", "RESTARTING", "RUNNING", "FAILED"]
    assert reports[1].trace is not None
    assert reports[1].trace.startswith("restart 1 of 2 in 0 s: org.apache.kafka.connect.errors.")


def test_what_cannot_pass_fails_at_once_with_the_cause_first() -> None:
    reports = failing(DataError("a record is wrong"), 2)
    assert [each.state for each in reports] == ["RUNNING", "FAILED"]
    assert reports[-1].trace is not None
    first = reports[-1].trace.partition("\n")[0]
    assert first == "org.apache.kafka.connect.errors.DataException: a record is wrong"
    assert "Traceback" in trace_of(ValueError("x")) or "ValueError" in trace_of(ValueError("x"))


def test_a_task_that_was_sound_for_long_has_all_its_restarts_again() -> None:
    reports: list[TaskReport] = []
    many = threading.Event()

    def fail() -> None:
        raise RetriableConnectError("now and then")

    def report(found: TaskReport) -> None:
        reports.append(found)
        if len(reports) > 8:
            many.set()

    task = Task("c", 0, lambda: Counting(fail), report, RestartRule(1, (0.0,)), sound_s=0.0)
    task.start()
    assert many.wait(10)
    task.ask_to_stop()
    assert task.join(5)
    assert {each.state for each in reports} == {"RUNNING", "RESTARTING"}
