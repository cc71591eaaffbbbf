"""Errors arrive at the worker as what they were."""

import traceback

import pytest

from moldau.connect.errors import ConfigError, ConnectError, DataError, RetriableConnectError
from moldau.connect.spark.failures import as_text, from_text


def fail(kind: type[ConnectError]) -> None:
    raise kind("the cause")


def test_an_error_keeps_its_kind_its_message_and_its_trace() -> None:
    for kind in (ConfigError, ConnectError, DataError, RetriableConnectError):
        with pytest.raises(kind) as raised:
            fail(kind)
        found = from_text(as_text(raised.value))
        assert type(found) is kind
        assert str(found) == "the cause"
        assert "test_failures.py" in "".join(traceback.format_exception(found))


def test_an_error_of_a_subclass_is_the_nearest_that_is_known() -> None:
    class Odd(DataError):
        pass

    assert type(from_text(as_text(Odd("x")))) is DataError


def test_any_other_error_may_pass_and_says_what_it_is() -> None:
    found = from_text(as_text(ValueError("no")))
    assert type(found) is ConnectError
    assert str(found) == "ValueError: no"
