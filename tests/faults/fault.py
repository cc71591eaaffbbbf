"""A fault: what it is played on, and what came of it."""

import logging
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

from faults.guarding import Guard
from faults.judging import come_to_rest
from faults.stage import SESSION_S, Stage, stage
from faults.supervised import supervised_stage
from simulation.invariants import violations

_log = logging.getLogger(__name__)

Play = Callable[[Stage], None]
# I15: with one of three brokers away, producers go on within a session and ten seconds.
RESUMES_S = SESSION_S + 10.0


@dataclass(frozen=True, slots=True)
class Fault:
    """One line of the table."""

    number: int
    does: str
    play: Play
    settings: Mapping[str, str] = field(default_factory=dict)
    is_linked: bool = False
    """Whether what is between the processes must be cut."""
    is_guarded: bool = False
    """Whether there are TLS, logins, access rules and quotas."""
    is_supervised: bool = False
    """Whether it is about the process that has the brokers of `moldau serve --brokers`."""
    program: str = "moldau"
    """What the brokers run: a module that adds a hook, the broker as it is, or Apache's."""
    pause_max_s: float | None = RESUMES_S
    """For how long at most nothing may be acknowledged; None if nobody can say."""

    @property
    def name(self) -> str:
        return f"F{self.number}"


def fault(
    *,
    settings: Mapping[str, str] | None = None,
    is_linked: bool = False,
    is_guarded: bool = False,
    is_supervised: bool = False,
    program: str = "moldau",
    pause_max_s: float | None = RESUMES_S,
) -> Callable[[Play], Fault]:
    """Make a fault of a function `f<number>`, whose docstring says what it does."""

    def make(play: Play) -> Fault:
        assert play.__doc__ is not None
        return Fault(
            number=int(play.__name__.removeprefix("f")),
            does=" ".join(play.__doc__.split()).removesuffix("."),
            play=play,
            settings=settings or {},
            is_linked=is_linked,
            is_guarded=is_guarded,
            is_supervised=is_supervised,
            program=program,
            pause_max_s=pause_max_s,
        )

    return make


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a fault."""

    fault: Fault
    violations: list[str]
    notes: list[str]
    duration_s: float


def played(one: Fault, rounds: int = 1, *, is_supervised: bool = False) -> Result:
    """Let a fault happen to a cluster under load, and judge what came of it.

    The cluster is that of `moldau serve --brokers` if `is_supervised`.
    """
    began_s = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="moldau-faults-") as name:
        directory = Path(name)
        if is_supervised:
            setting = supervised_stage(directory, one.settings)
        else:
            guard = Guard(directory / "keys") if one.is_guarded else None
            setting = stage(
                directory, one.settings, is_linked=one.is_linked, program=one.program, guard=guard
            )
        found, notes = _played(one, setting, rounds)
    return Result(one, found, notes, time.monotonic() - began_s)


def _played(
    one: Fault, setting: AbstractContextManager[Stage], rounds: int
) -> tuple[list[str], list[str]]:
    """What broke, and what a reader should know."""
    try:
        with setting as made:
            made.rounds = rounds
            one.play(made)
            made.load.until_more()
            come_to_rest(made)
            return _judged(one, made)
    except Exception as error:  # noqa: BLE001 - whatever it is, the next fault is played
        _log.info("%s did not come to its end", one.name, exc_info=error)
        return [f"{type(error).__name__}: {error}"], []


def _judged(one: Fault, made: Stage) -> tuple[list[str], list[str]]:
    found = violations(made.load.history)
    pause_s = made.load.longest_pause_s()
    if one.pause_max_s is not None and pause_s > one.pause_max_s:
        found.append(f"producers_resume: nothing was acknowledged for {pause_s:.1f} s")
    count = made.load.history.acknowledged_count
    return found, [f"{count:,} acknowledged, longest pause {pause_s:.1f} s", *made.notes]
