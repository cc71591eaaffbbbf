"""How somebody sees the records of a topic: what is hidden, and by what schemas they are read."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

    from moldau.console.masking import TopicMask
    from moldau.console.messages.payloads import Read


@dataclass(frozen=True, slots=True)
class TopicView:
    """Of one topic, by one request."""

    read: "Read | None" = None
    """Reads values by their schemas, if there is a registry."""
    mask: "TopicMask | None" = None

    def of(self, table: "pa.Table") -> "pa.Table":
        """Records without what is hidden: before filters, or a search would find it."""
        return table if self.mask is None else self.mask.table(table)


WHOLE = TopicView()
"""Nothing is hidden, and bytes are bytes."""
