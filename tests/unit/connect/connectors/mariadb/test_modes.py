"""The choices of how values are written."""

import pytest

from moldau.connect.connectors.mariadb.modes import ValueModes, modes_of
from moldau.connect.errors import ConfigError


def test_the_defaults_are_debeziums() -> None:
    assert modes_of({}) == ValueModes()


def test_adaptive_is_postgresqls_alone() -> None:
    with pytest.raises(ConfigError, match=r"time\.precision\.mode: adaptive is none of adaptive_"):
        modes_of({"time.precision.mode": "adaptive"})
