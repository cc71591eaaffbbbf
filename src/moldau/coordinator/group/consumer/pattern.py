"""Regular expressions by which members subscribe to topics.

Any client can send one, and it is matched with every topic on the event loop. Python's own
matcher can take forever for a few characters, so there is this one, in which a name takes as
many steps as it has characters: an automaton whose states are made as they are first reached.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from moldau.coordinator.group.consumer.pattern_syntax import (
    WORD,
    Choice,
    InvalidPattern,
    Node,
    OneOf,
    Place,
    Repeat,
    Sequence,
    parse,
)
from moldau.errors import ErrorCode, KafkaError

_STEPS_MAX = 2000
_NODES_MAX = 10_000
_SHOWN_MAX = 100
_STATES_MAX = 2000


class _Take(NamedTuple):
    """A step over one of these characters, to the next step."""

    characters: frozenset[str]


class _Fork(NamedTuple):
    """No character; the next steps are these."""

    targets: tuple[int, ...]


class _Check(NamedTuple):
    """No character; the next step, if this is such a place."""

    kind: str


_Step = _Take | _Fork | _Check


class _State(NamedTuple):
    """Where in the expression a name may be, and what its last character was."""

    steps: frozenset[int]
    after: str | None


class TopicPattern:
    """Matches whole names of topics."""

    __slots__ = ("_next", "_program")

    def __init__(self, text: str) -> None:
        self._program = _compiled(text)
        self._next: dict[tuple[_State, str], _State] = {}

    def matches(self, name: str) -> bool:
        """Whether the name is what the expression stands for."""
        state = _State(frozenset((0,)), None)
        for character in name:
            state = self._follow(state, character)
            if not state.steps:
                return False
        return len(self._program) in self._reachable(state, None)

    def _follow(self, state: _State, character: str) -> _State:
        found = self._next.get((state, character))
        if found is None:
            if len(self._next) >= _STATES_MAX:
                self._next.clear()
            found = self._next[state, character] = self._step(state, character)
        return found

    def _step(self, state: _State, character: str) -> _State:
        following = set()
        for index in self._reachable(state, character):
            step = self._program[index] if index < len(self._program) else None
            if isinstance(step, _Take) and character in step.characters:
                following.add(index + 1)
        return _State(frozenset(following), _kind(character))

    def _reachable(self, state: _State, before: str | None) -> Iterable[int]:
        """All steps that need no more characters to come to; `before` is what comes next."""
        is_start, is_end = state.after is None, before is None
        is_edge = (state.after == "word") != (before is not None and _kind(before) == "word")
        true_places = {
            "start": is_start,
            "end": is_end,
            "edge": is_edge,
            "no edge": not is_edge,
        }
        reached = dict.fromkeys(state.steps)
        waiting = list(reached)
        while waiting:
            index = waiting.pop()
            step = self._program[index] if index < len(self._program) else None
            if isinstance(step, _Fork):
                targets = step.targets
            elif isinstance(step, _Check) and true_places[step.kind]:
                targets = (index + 1,)
            else:
                continue
            waiting += [target for target in targets if target not in reached]
            reached |= dict.fromkeys(targets)
        return reached


@lru_cache(maxsize=128)
def topic_pattern(text: str) -> TopicPattern:
    """The pattern, with the states that it has made before."""
    return TopicPattern(text)


def _kind(character: str) -> str:
    return "word" if character in WORD else "other"


def _compiled(text: str) -> tuple[_Step, ...]:
    """The steps; after the last one the name is matched."""
    try:
        writer = _Writer()
        writer.write(parse(text))
    except InvalidPattern as error:
        shown = text if len(text) <= _SHOWN_MAX else text[:_SHOWN_MAX] + "..."
        raise KafkaError(ErrorCode.INVALID_REGULAR_EXPRESSION, f"{shown!r}: {error}") from error
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
                self.program.append(_Take(characters))
            case Place(kind):
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
