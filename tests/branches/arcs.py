"""Notes which line of a module followed which, in each of its functions."""

import dis
import sys
import threading
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from branches.decisions import RETURNED, Arc

# A loop ends by these; everything else that is raised is no way that a condition leads.
ENDS_OF_LOOPS = (StopIteration, StopAsyncIteration)


@dataclass(slots=True)
class Arcs:
    """What ran of one file, from the start on."""

    file: str
    seen: set[Arc] = field(default_factory=set)

    def start(self) -> None:
        threading.settrace(self._call)
        sys.settrace(self._call)

    def stop(self) -> set[Arc]:
        sys.settrace(None)
        threading.settrace(None)
        return self.seen

    def _call(self, frame: FrameType, event: str, _: Any) -> Any:
        if frame.f_code.co_filename != self.file:
            return None
        return _Frame(self.seen, frame.f_code.co_qualname, frame.f_lineno).follow


@dataclass(slots=True)
class _Frame:
    """One call, or what follows one pause of a generator."""

    seen: set[Arc]
    function: str
    line: int
    is_raising: bool = False

    def follow(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "exception":
            self.is_raising = not issubclass(argument[0], ENDS_OF_LOOPS)
        elif event == "line":
            self._go_to(frame.f_lineno)
        elif event == "return" and _has_returned(frame):
            self._go_to(RETURNED)
        return self.follow

    def _go_to(self, line: int) -> None:
        if not self.is_raising:
            self.seen.add((self.function, self.line, line))
        self.line, self.is_raising = line, False


def _has_returned(frame: FrameType) -> bool:
    """Whether it is over: a generator that pauses returns for the tracer, too."""
    operation = frame.f_code.co_code[frame.f_lasti]
    return dis.opname[operation].startswith("RETURN_") and "GENERATOR" not in dis.opname[operation]
