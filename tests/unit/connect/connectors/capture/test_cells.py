"""Cells are texts, null, or what stands for a value that is not there."""

from moldau.connect.connectors.capture.cells import Toast


def test_what_did_not_change_is_neither_null_nor_a_text() -> None:
    assert Toast.UNCHANGED is not None
    assert not isinstance(Toast.UNCHANGED, str)
