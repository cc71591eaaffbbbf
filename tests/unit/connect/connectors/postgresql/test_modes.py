"""The choices of how values are written."""

import pytest

from moldau.connect.connectors.postgresql.modes import HandlingModes, modes_of
from moldau.connect.errors import ConfigError


def test_the_defaults_are_debeziums() -> None:
    assert modes_of({}) == HandlingModes()
    assert modes_of({"time.precision.mode": "ISOSTRING "}).time == "isostring"


def test_a_choice_that_there_is_not_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"^decimal.handling.mode: exact is none of precise"):
        modes_of({"decimal.handling.mode": "exact"})
