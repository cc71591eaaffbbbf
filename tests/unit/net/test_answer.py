"""What connections and those who answer them share."""

import pickle

import pytest

from moldau.net.answer import CloseConnection, Limits


def test_limits_do_not_change_under_a_connection() -> None:
    with pytest.raises(AttributeError):
        Limits().unsent_bytes = 1  # type: ignore[misc]


def test_hanging_up_says_why() -> None:
    assert str(pickle.loads(pickle.dumps(CloseConnection("a frame too large")))) == (
        "a frame too large"
    )
