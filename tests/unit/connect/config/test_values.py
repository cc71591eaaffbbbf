"""Texts of settings as what they mean."""

import pytest

from moldau.connect.config.values import below, flag, listed, number, required
from moldau.connect.errors import ConfigError


def test_settings_mean_numbers_lists_and_truth() -> None:
    settings = {"n": " 5 ", "l": "a, b,,", "f": "TRUE", "p.x": "1", "p.": "2"}
    assert number(settings, "n", 0) == 5
    assert number(settings, "none", 7) == 7
    assert listed(settings, "l") == ["a", "b"]
    assert flag(settings, "f", default=False)
    assert flag(settings, "none", default=True)
    assert required(settings, "f") == "TRUE"
    assert below(settings, "p.") == {"x": "1"}


def test_what_is_wrong_is_said_in_kafkas_words() -> None:
    with pytest.raises(ConfigError, match="Not a number of type INT"):
        number({"n": "x"}, "n", 0)
    with pytest.raises(ConfigError, match="either true or false"):
        flag({"f": "x"}, "f", default=True)
    with pytest.raises(ConfigError, match='Missing required configuration "x"'):
        required({}, "x")
