"""Names of queries, which stay the same while other parts of a topology come and go.

Checkpoints are found by them. A query is called after the first of its stateful steps that has a
name, by `store=` or `name=`; without one, after the topics that it reads and writes.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator

from moldau.streams.nodes.nodes import InternalTopic, Node, Sink, Source

LABEL_MAX = 80
_NUMBERED = re.compile(r"-\d{10}(-|$)")
_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")


def in_order(roots: Iterable[Node]) -> tuple[Node, ...]:
    """All that nodes depend on, themselves first, the left before the right: as Spark plans it."""
    seen: dict[Node, None] = {}

    def visit(node: Node) -> None:
        if node not in seen:
            seen[node] = None
            for parent in node.parents:
                visit(parent)

    for root in roots:
        visit(root)
    return tuple(seen)


def is_given(name: str | None) -> bool:
    """Whether a name is the user's: those that are made have a number of ten digits."""
    return name is not None and _NUMBERED.search(name) is None


def label_of(sinks: Iterable[Sink], *, is_final: bool) -> str:
    """What a query with these sinks is called within its application."""
    chosen = tuple(sinks)
    nodes = sorted(in_order(chosen), key=lambda node: node.name)
    label = next(_given_names(nodes), None) or _by_topics(nodes, chosen)
    return _fitting(f"{label}-final" if is_final else label)


def unique(labels: Iterable[str]) -> Iterator[str]:
    """The same labels; of those that are equal the second gets a number, and so on."""
    seen: dict[str, int] = {}
    for label in labels:
        seen[label] = seen.get(label, 0) + 1
        yield label if seen[label] == 1 else f"{label}-{seen[label]}"


def _given_names(nodes: Iterable[Node]) -> Iterator[str]:
    """Those of stores and stateful steps; the order of the alphabet outlives most changes."""
    for node in nodes:
        if node.is_stateful:
            for name in (node.store, node.name):
                if name is not None and is_given(name) and not name.endswith("-STORE"):
                    yield name


def _by_topics(nodes: Iterable[Node], sinks: Iterable[Sink]) -> str:
    read = {_text(topic) for node in nodes if isinstance(node, Source) for topic in node.topics}
    written = {_text(sink.topic) for sink in sinks}
    return f"{'-'.join(sorted(read))}-to-{'-'.join(sorted(written))}"


def _text(topic: object) -> str:
    if isinstance(topic, InternalTopic):
        return topic.suffix
    return topic if isinstance(topic, str) else "chosen"


def _fitting(label: str) -> str:
    """A label that may be the name of a directory."""
    plain = _UNFIT.sub("_", label)
    if plain == label and len(label) <= LABEL_MAX:
        return label
    digest = hashlib.sha256(label.encode()).hexdigest()[:8]
    return f"{plain[: LABEL_MAX - 9]}-{digest}"
