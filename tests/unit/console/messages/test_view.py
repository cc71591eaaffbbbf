"""A view of records: with what is hidden taken out, or as they are."""

import pyarrow as pa

from moldau.console.masking import TopicMask
from moldau.console.messages.view import WHOLE, TopicView


def test_a_view_takes_out_what_is_hidden_and_no_more() -> None:
    table = pa.table({"key": [b"k"], "value": [b"v"]})
    assert WHOLE.of(table) is table
    seen = TopicView(mask=TopicMask([("value",)])).of(table)
    assert seen.to_pylist() == [{"key": b"k", "value": b"***"}]
