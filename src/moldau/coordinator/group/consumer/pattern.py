"""Regular expressions by which members subscribe to topics.

Any client can send one, and it is matched with every topic on the event loop. Python's own
matcher can take forever for a few characters, so there is this one: all the places in the
expression that a name may have come to are followed at once, as the bits of one number. What a
character leads to is remembered, so that an ordinary name takes one look for each. An expression
that is at very many places at once is refused when a name meets it.
"""

from collections import defaultdict
from functools import lru_cache
from typing import NamedTuple

from moldau.coordinator.group.consumer.pattern_syntax import (
    WORD,
    Anchor,
    Choice,
    InvalidPattern,
    Node,
    OneOf,
    Repeat,
    Sequence,
    parse,
)
from moldau.errors import ErrorCode, KafkaError

_STEPS_MAX = 2000
_NODES_MAX = 10_000
_SHOWN_MAX = 100
_STATES_MAX = 2000
# Of places that are followed one by one: for a name, and for all names together.
_NAME_WORK_MAX = 20_000
_WORK_MAX = 2_000_000


class _Take(NamedTuple):
    """A step over one of these characters, to the next step."""

    characters: str


class _Fork(NamedTuple):
    """No character; the next steps are these."""

    targets: tuple[int, ...]


class _Check(NamedTuple):
    """No character; the next step, if this is such a place."""

    kind: str


_Step = _Take | _Fork | _Check


class _State(NamedTuple):
    """Where in the expression a name may be, a bit for each step, and its last character's kind."""

    steps: int
    after: str | None


_START = _State(1, None)
_END = ""  # takes the place of a character behind the last one


class _Places(NamedTuple):
    """What is true between two characters."""

    is_start: bool
    is_end: bool
    is_edge: bool

    def has(self, kind: str) -> bool:
        match kind:
            case "start":
                return self.is_start
            case "end":
                return self.is_end
            case "edge":
                return self.is_edge
        return not self.is_edge


class TopicPattern:
    """Matches whole names of topics; raises if that takes too long."""

    __slots__ = ("_next", "_program", "_reached", "_takes", "_text", "work")

    def __init__(self, text: str) -> None:
        self._text = text
        self._program = _compiled(text)
        self._next: dict[tuple[_State, str], _State] = {}
        self._reached: dict[_Places, list[int]] = {}
        self._takes: defaultdict[str, int] = defaultdict(int)
        for index, step in enumerate(self._program):
            if isinstance(step, _Take):
                self._takes[step.characters] |= 1 << index
        self.work = 0
        """How many places were followed one by one."""

    def matches(self, name: str) -> bool:
        """Whether the name is what the expression stands for."""
        state, work_max = _START, min(self.work + _NAME_WORK_MAX, _WORK_MAX)
        for character in (*name, _END):
            found = self._next.get((state, character))
            if found is None:
                found = self._follow(state, character)
                if self.work > work_max:
                    raise _refusal(self._text, "it takes too long to match")
            state = found
            if not state.steps:
                return False
        return True

    def _follow(self, state: _State, character: str) -> _State:
        if len(self._next) >= _STATES_MAX:
            self._next.clear()
        if character == _END:
            is_matched = self._reachable(state, None) >> len(self._program)
            found = self._next[state, _END] = _State(is_matched, None)
            return found
        reachable = self._reachable(state, character)
        taken = 0
        for characters, steps in self._takes.items():
            if character in characters:
                taken |= reachable & steps
        found = self._next[state, character] = _State(taken << 1, _kind(character))
        return found

    def _reachable(self, state: _State, before: str | None) -> int:
        """All steps that need no more characters to come to; `before` is what comes next."""
        is_edge = (state.after == "word") != (before is not None and _kind(before) == "word")
        places = _Places(state.after is None, before is None, is_edge)
        if places not in self._reached:
            self._reached[places] = _reached_from_each(self._program, places)
        reached_from = self._reached[places]
        reachable, left = 0, state.steps
        while left:
            reached = reached_from[(left & -left).bit_length() - 1]
            reachable |= reached
            left &= ~reached  # what can be reached from those is among it
            self.work += 1
        return reachable


def _reached_from_each(program: tuple[_Step, ...], places: _Places) -> list[int]:
    """From each step, all that need no character to come to, itself among them.

    Nearly all ways lead on, so they are gone backwards; those of repetitions lead back, for
    which it is done again until nothing is new, once more for each that is within another.
    """
    reached = [1 << index for index in range(len(program) + 1)]
    has_changed = True
    while has_changed:
        has_changed = False
        for index in range(len(program) - 1, -1, -1):
            step = program[index]
            if isinstance(step, _Fork):
                targets = step.targets
            elif isinstance(step, _Check) and places.has(step.kind):
                targets = (index + 1,)
            else:
                continue
            found = reached[index]
            for target in targets:
                found |= reached[target]
            if found != reached[index]:
                reached[index] = found
                has_changed = True
    return reached


def _refusal(text: str, reason: str) -> KafkaError:
    shown = text if len(text) <= _SHOWN_MAX else text[:_SHOWN_MAX] + "..."
    return KafkaError(ErrorCode.INVALID_REGULAR_EXPRESSION, f"{shown!r}: {reason}")


def _kind(character: str) -> str:
    return "word" if character in WORD else "other"


@lru_cache(maxsize=64)
def _compiled(text: str) -> tuple[_Step, ...]:
    """The steps; after the last one the name is matched."""
    try:
        writer = _Writer()
        writer.write(parse(text))
    except InvalidPattern as error:
        raise _refusal(text, str(error)) from error
    return tuple(writer.program)


class _Writer:
    """Writes an expression as steps: not too many, and with no more work than a few for each."""

    def __init__(self) -> None:
        self.program: list[_Step] = []
        self._node_count = 0

    def write(self, node: Node) -> None:
        # Nothing, repeated, adds no steps, but has to be gone through as well.
        self._node_count += 1
        if len(self.program) > _STEPS_MAX or self._node_count > _NODES_MAX:
            raise InvalidPattern("expression too large")
        match node:
            case OneOf(characters):
                self.program.append(_Take("".join(sorted(characters))))
            case Anchor(kind):
                self.program.append(_Check(kind))
            case Sequence(parts):
                for part in parts:
                    self.write(part)
            case Choice(branches):
                self._write_choice(branches)
            case Repeat(part, least, most):
                for _ in range(least):
                    self.write(part)
                self._write_optional(part, None if most is None else most - least)

    def _write_choice(self, branches: tuple[Node, ...]) -> None:
        """Fork to the branches; each but the last jumps over those after it."""
        fork = self._reserve()
        starts, jumps = [], []
        for branch in branches:
            starts.append(len(self.program))
            self.write(branch)
            jumps.append(self._reserve())
        self.program[fork] = _Fork(tuple(starts))
        for jump in jumps:
            self.program[jump] = _Fork((len(self.program),))

    def _write_optional(self, part: Node, most: int | None) -> None:
        """The part up to `most` times, or any number of times."""
        program = self.program
        if most is None:
            fork = self._reserve()
            self.write(part)
            program.append(_Fork((fork,)))
            program[fork] = _Fork((fork + 1, len(program)))
            return
        forks = []
        for _ in range(most):
            forks.append(self._reserve())
            self.write(part)
        for fork in forks:
            program[fork] = _Fork((fork + 1, len(program)))

    def _reserve(self) -> int:
        """The place of a step that is known later."""
        self.program.append(_Fork(()))
        return len(self.program) - 1


def check_pattern(text: str) -> None:
    """Raise if this is no expression, or too large a one."""
    _compiled(text)
