"""What a query's checkpoint is good for: its sources and the state of its steps, as data.

Spark finds state by the order of stateful steps, and offsets by the order of sources; both have to
be as they were. What is between them may change. What functions do cannot be compared.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Self

from moldau.streams.functions import Summary
from moldau.streams.join_windows import JoinWindows
from moldau.streams.nodes.nodes import InternalTopic, Node, Source
from moldau.streams.windows import SessionWindows, SlidingWindows, TimeWindows

Types = Mapping[Node, tuple[str, str]]
"""The types of key and value of nodes, as SQL writes them."""


@dataclass(frozen=True, slots=True)
class StateSignature:
    """One stateful step: everything that its state depends on."""

    step: str
    takes: str
    gives: str
    windows: str = ""
    kept: str = ""

    def differences(self, before: "StateSignature", name: str) -> Iterator[str]:
        """What is not as it was, in words."""
        words = {
            "step": "is another step",
            "takes": "takes other types",
            "gives": "gives other types",
            "windows": "has other windows",
            "kept": "keeps something else",
        }
        for field in fields(self):
            was, is_now = getattr(before, field.name), getattr(self, field.name)
            if was != is_now:
                change = f"it was {was or 'none'}, and is {is_now or 'none'}"
                yield f"{name} {words[field.name]}: {change}"


@dataclass(frozen=True, slots=True)
class QuerySignature:
    """One query; two that are equal can go on from the same checkpoint."""

    mode: str
    sources: tuple[str, ...]
    states: tuple[StateSignature, ...]

    @classmethod
    def of(cls, mode: str, nodes: tuple[Node, ...], types: Types) -> Self:
        """Of a query whose nodes are given in the order in which Spark plans them."""
        sources = tuple(_topics(node) for node in nodes if isinstance(node, Source))
        states = tuple(_state(node, types) for node in nodes if node.is_stateful)
        return cls(mode, sources, states)

    @classmethod
    def read(cls, data: Mapping[str, object]) -> Self:
        """From what `as_data` gave."""
        sources, states = data["sources"], data["states"]
        assert isinstance(sources, list)
        assert isinstance(states, list)
        return cls(
            str(data["mode"]), tuple(sources), tuple(StateSignature(**each) for each in states)
        )

    def as_data(self) -> dict[str, object]:
        """As JSON has it."""
        return {
            "mode": self.mode,
            "sources": list(self.sources),
            "states": [asdict(each) for each in self.states],
        }

    def differences(self, before: "QuerySignature") -> Iterator[str]:
        """Why this query cannot go on from the checkpoint of that one."""
        if self.mode != before.mode:
            yield f"it gives {_MODES[self.mode]}, and gave {_MODES[before.mode]}"
        if self.sources != before.sources:
            yield f"it reads {_listed(self.sources)}, and read {_listed(before.sources)}"
        steps, old_steps = ([each.step for each in one.states] for one in (self, before))
        if steps != old_steps:
            yield f"its steps with state are {_listed(steps)}, and were {_listed(old_steps)}"
            return
        for state, old in zip(self.states, before.states, strict=True):
            yield from state.differences(old, state.step)


_MODES = {"append": "final results", "update": "every change"}


def _topics(node: Source) -> str:
    return ",".join(
        topic.suffix if isinstance(topic, InternalTopic) else topic for topic in node.topics
    )


def _state(node: Node, types: Types) -> StateSignature:
    takes = " and ".join(_typed(types, parent) for parent in node.parents)
    return StateSignature(
        step=type(node).__name__,
        takes=takes,
        gives=_typed(types, node),
        windows=_windows(getattr(node, "windows", None)),
        kept=_kept(node),
    )


def _typed(types: Types, node: Node) -> str:
    return "{}: {}".format(*types[node]) if node in types else ""


def _windows(windows: object) -> str:
    """Without the grace period, which changes no state."""
    match windows:
        case TimeWindows(size_ms, advance_ms):
            return f"of {size_ms} ms every {advance_ms} ms"
        case SlidingWindows(difference_ms):
            return f"sliding, of {difference_ms} ms"
        case SessionWindows(gap_ms):
            return f"sessions with gaps of {gap_ms} ms"
        case JoinWindows(before_ms, after_ms):
            return f"from {before_ms} ms before to {after_ms} ms after"
    return ""


def _kept(node: Node) -> str:
    summaries: tuple[Summary, ...] = getattr(node, "summaries", ())
    processor = getattr(node, "processor", None)
    if processor is not None:
        stores = [f"{name} {store}" for name, store in sorted(processor.stores.items())]
        return ", ".join([*stores, f"timers: {processor.time}"])
    return ", ".join(
        f"{each.kind}({each.of})" if isinstance(each.of, str) else each.kind for each in summaries
    )


def _listed(texts: object) -> str:
    assert isinstance(texts, tuple | list)
    return ", ".join(texts) or "none"
