"""JSON in nodes."""

import contextlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.coordination.layout.acls import decode_acl_change, decode_acls
from moldau.coordination.layout.brokers import decode_broker
from moldau.coordination.layout.cluster import decode_cluster_id, decode_features
from moldau.coordination.layout.configs import decode_change, decode_config
from moldau.coordination.layout.controller import decode_controller, decode_epoch
from moldau.coordination.layout.documents import Document, NodeDataError, encode, parse_integer
from moldau.coordination.layout.log_dirs import decode_log_dir_failure
from moldau.coordination.layout.partitions import decode_partitions, decode_reassignment
from moldau.coordination.layout.producer_ids import decode_producer_id_block
from moldau.coordination.layout.tokens import decode_token
from moldau.coordination.layout.topics import decode_state, decode_topic

_DECODERS = [
    decode_acls,
    lambda data: decode_acl_change(data, is_extended=True),
    lambda data: decode_acl_change(data, is_extended=False),
    decode_broker,
    decode_cluster_id,
    decode_features,
    decode_change,
    decode_config,
    decode_controller,
    decode_epoch,
    decode_log_dir_failure,
    decode_partitions,
    decode_reassignment,
    decode_producer_id_block,
    decode_token,
    decode_state,
    decode_topic,
]
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)
_FIELDS = st.sampled_from(
    [
        "version",
        "id",
        "partitions",
        "adding_replicas",
        "topic_id",
        "leader",
        "isr",
        "leader_epoch",
        "controller_epoch",
        "endpoints",
        "timestamp",
        "listener_security_protocol_map",
        "config",
        "entity_path",
        "acls",
        "principal",
    ]
)


def test_text_is_written_as_it_is_and_without_blanks() -> None:
    assert encode({"a": [1, "é"], "b": None}) == '{"a":[1,"é"],"b":null}'.encode()


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"1", b"\xff", b"[" * 100_000])
def test_what_is_no_object_is_refused(data: bytes) -> None:
    with pytest.raises(NodeDataError):
        Document.decode(data)


def test_a_field_of_another_type_is_named() -> None:
    document = Document({"a": "x", "b": True, "c": [1, "x"], "d": None})
    with pytest.raises(NodeDataError, match="field 'a': 'x' is not an integer"):
        document.integer("a")
    with pytest.raises(NodeDataError, match="'b'"):
        document.integer("b")
    with pytest.raises(NodeDataError, match="'c'"):
        document.integers("c")
    with pytest.raises(NodeDataError, match="no field 'e'"):
        document.text("e")
    assert document.optional_text("d") is None
    assert document.integer_or("d", 7) == 7


@pytest.mark.parametrize("text", ["", "-", "1.0", "x", "٣", "9" * 21])
def test_a_text_that_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(NodeDataError):
        parse_integer(text)


@given(st.sampled_from(_DECODERS), st.binary(max_size=20) | st.dictionaries(_FIELDS, _VALUES))
def test_a_damaged_node_is_refused_and_nothing_else(
    decode: Callable[[bytes], object], content: bytes | dict[str, object]
) -> None:
    data = content if isinstance(content, bytes) else encode(content)
    with contextlib.suppress(NodeDataError):
        decode(data)
