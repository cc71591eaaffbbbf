"""Kafka's feature versions."""

import pytest

from moldau.config.versions import LATEST, VERSIONS, canonical, is_at_least


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("0.8", None),
        ("0.8.0", "0.8.0"),
        ("0.8.0.1", "0.8.0"),
        ("0.10.0", "0.10.0-IV1"),
        ("0.10.0-IV0", "0.10.0-IV0"),
        ("0.11.0.2", "0.11.0-IV2"),
        ("1.0.2", "1.0-IV0"),
        ("2.1", "2.1-IV2"),
        ("2.4.1", "2.4-IV1"),
        ("2.4-IV9", None),
        ("3.9", "3.9-IV0"),
        ("4.0", None),
        ("4.0-IV1", "4.0-IV1"),
        ("3", None),
        ("", None),
        ("x", None),
    ],
)
def test_a_release_stands_for_its_last_version(text: str, version: str | None) -> None:
    assert canonical(text) == version


def test_versions_are_ordered_as_released() -> None:
    assert is_at_least("2.4.1", "2.4-IV1")
    assert not is_at_least("0.10.2", "0.11.0")
    assert LATEST in VERSIONS
