"""The secret by which strangers are answered."""

import pytest

from moldau.coordination.layout.documents import NodeDataError
from moldau.coordination.layout.login_key import decode_login_key, encode_login_key


def test_a_key_is_read_as_it_was_written() -> None:
    assert decode_login_key(encode_login_key(b"\0key")) == b"\0key"


@pytest.mark.parametrize("data", [b"", b"{}", b'{"version":1,"key":"?"}'])
def test_rubbish_is_refused(data: bytes) -> None:
    with pytest.raises(NodeDataError):
        decode_login_key(data)
