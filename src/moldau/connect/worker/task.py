"""One task of a connector: a thread that works until it is stopped, or fails."""

import logging
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from moldau.connect.errors import java_class_of
from moldau.connect.worker.restarts import RestartRule

_log = logging.getLogger(__name__)

RUNNING, PAUSED, FAILED, RESTARTING = "RUNNING", "PAUSED", "FAILED", "RESTARTING"


class Work(Protocol):
    """What a task does, step by step."""

    def step(self) -> bool:
        """Do a portion; returns False if there was nothing to do."""

    def idle_s(self) -> float:
        """How long to wait when there was nothing to do."""

    def rest(self) -> None:
        """Is called when it is paused: what it has open may stay so, but nothing is done."""

    def close(self) -> None:
        """Give back everything."""


@dataclass(frozen=True, slots=True)
class TaskReport:
    """The state that a task is in from now on."""

    state: str
    trace: str | None = None


@dataclass(slots=True)
class Task:
    """Makes its work anew after failures that may pass, a little later each time."""

    name: str
    number: int
    begin: Callable[[], Work]
    report: Callable[[TaskReport], None]
    restarts: RestartRule = field(default_factory=RestartRule)
    sound_s: float = 600.0
    """Whatever fails after so long is the first failure again, though nothing was to be done."""
    hide: Callable[[str], str] = str
    """Takes out of a text what nobody may see."""
    _stop: threading.Event = field(default_factory=threading.Event)
    _paused: threading.Event = field(default_factory=threading.Event)
    _changed: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None
    _failures: int = 0
    """In a row."""
    _begun_s: float = 0.0

    def start(self, *, paused: bool = False) -> None:
        """Begin to work, or to wait for that."""
        if paused:
            self._paused.set()
        name = f"connect-{self.name}-{self.number}"
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def pause(self, *, paused: bool) -> None:
        """Stop working for a while, or go on."""
        if paused:
            self._paused.set()
        else:
            self._paused.clear()
        self._changed.set()

    def ask_to_stop(self) -> None:
        """Have it end after the portion that it works on."""
        self._stop.set()
        self._changed.set()

    def join(self, timeout_s: float) -> bool:
        """Wait for its end; False if it works on."""
        if self._thread is None:
            return True
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._work()
            except Exception as error:  # noqa: BLE001 - the top frame of a thread
                if not self._failed(error):
                    return

    def _work(self) -> None:
        self._begun_s = time.monotonic()
        work = self.begin()
        try:
            shown: str | None = None
            while not self._stop.is_set():
                state = PAUSED if self._paused.is_set() else RUNNING
                self._changed.clear()
                if state != shown:
                    if state == PAUSED:
                        work.rest()
                    self.report(TaskReport(state))
                    shown = state
                if state == PAUSED:
                    self._wait(None)
                elif work.step():
                    self._failures = 0
                else:
                    self._wait(work.idle_s())
        finally:
            work.close()

    def _wait(self, timeout_s: float | None) -> None:
        if not self._stop.is_set():
            self._changed.wait(timeout_s)

    def _failed(self, error: Exception) -> bool:
        """Whether to try again."""
        text = self.hide(trace_of(error))
        if time.monotonic() - self._begun_s >= self.sound_s:
            self._failures = 0
        wait_s = self.restarts.wait_s(error, self._failures)
        if wait_s is None:
            _log.error("task %s-%d failed: %s", self.name, self.number, text)
            self.report(TaskReport(FAILED, text))
            return False
        self._failures += 1
        head = self.restarts.described(self._failures, wait_s)
        shown = self.hide(str(error))
        _log.warning("task %s-%d failed, %s: %s", self.name, self.number, head, shown)
        self.report(TaskReport(RESTARTING, f"{head}: {text}"))
        self._stop.wait(wait_s)
        return True


def trace_of(error: BaseException) -> str:
    """What a person can act on first, then how it came to that."""
    lines = "".join(traceback.format_exception(error))
    return f"{java_class_of(error)}: {error}\n{lines}"
