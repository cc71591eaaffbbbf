"""The node of a processor."""

from dataclasses import dataclass
from typing import ClassVar

from moldau.streams.nodes.nodes import Node
from moldau.streams.processors import Processor


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Process(Node):
    """Records one after the other through Python, by key."""

    is_stateful: ClassVar[bool] = True

    processor: Processor
    # Types as in SQL; None is that of the records that come.
    returns_key: str | None
    returns: str | None
