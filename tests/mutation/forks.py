"""Forked processes with a time limit: each is a fresh copy of what the parent has imported."""

import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

LIMIT_EXCEEDED = -signal.SIGKILL
# A change may let a list grow without end.
MEMORY_MAX_BYTES = 4 * 2**30
POLL_S = 0.002


@dataclass(slots=True)
class Job:
    """What one process is to do; it answers by its exit status."""

    name: str
    action: Callable[[], int]
    limit_s: float
    forks: bool = False  # it has processes of its own, which it ends when it is to end


@dataclass(slots=True)
class _Running:
    job: Job
    deadline: float
    folder: str


def run_all(jobs: Iterable[Job], workers: int = 1) -> Iterator[tuple[str, int]]:
    """The jobs' names with their statuses, as they end; negative is the signal that ended it."""
    waiting = iter(jobs)
    running: dict[int, _Running] = {}
    try:
        while True:
            while len(running) < workers and (job := next(waiting, None)):
                folder = tempfile.mkdtemp(prefix="mutate-")
                pid = start(job, folder)
                running[pid] = _Running(job, time.monotonic() + job.limit_s, folder)
            if not running:
                return
            for pid, status in _ended(running):
                yield _cleared(running.pop(pid), pid), status
    finally:
        for pid, process in running.items():
            os.kill(pid, signal.SIGTERM)
            os.waitpid(pid, 0)
            _cleared(process, pid)


def start(job: Job, folder: str) -> int:
    """Fork; the child never returns."""
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        os.setpgid(0, 0)
        signal.signal(signal.SIGTERM, _exit if job.forks else signal.SIG_DFL)
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MAX_BYTES, most))
        tempfile.tempdir = folder
        os.environ["TMPDIR"] = os.environ["PYTEST_DEBUG_TEMPROOT"] = folder
        status = job.action()
    except BaseException:  # noqa: BLE001 - the child must not become a second parent
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _exit(number: int, frame: object) -> None:
    sys.exit(128 + number)


def _ended(running: dict[int, _Running]) -> Iterator[tuple[int, int]]:
    """Wait until one or more have ended, by themselves or by their limit."""
    while True:
        found = [pid for pid in running if _is_over(pid, running[pid].deadline)]
        for pid in found:
            _, status = os.waitpid(pid, 0)
            yield pid, os.waitstatus_to_exitcode(status)
        if found:
            return
        time.sleep(POLL_S)


def _is_over(pid: int, deadline: float) -> bool:
    if time.monotonic() > deadline:
        os.kill(pid, signal.SIGKILL)
        return True
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _cleared(process: _Running, pid: int) -> str:
    """Leave nothing of it: neither what it started nor its files."""
    with suppress(ProcessLookupError):  # where it had started nothing
        os.killpg(pid, signal.SIGKILL)
    shutil.rmtree(process.folder, ignore_errors=True)
    return process.job.name
