"""A broker is like the release whose requests it knows."""

import pytest

from moldau.console.releases import metadata_version, release_of
from moldau.protocol.apis import APIS

# The newest version of each API that clients use.
OF_0_10_2 = "0:2 1:3 2:1 3:2 8:2 9:2 10:0 11:1 12:0 13:0 14:0 15:0 16:0 17:0 18:0 19:1 20:1"
OF_2_4 = (
    "0:8 1:11 2:5 3:9 8:8 9:6 10:3 11:6 12:4 13:4 14:4 15:5 16:3 18:3 19:5 20:4 21:1 22:2 23:3 "
    "24:1 25:1 26:1 28:2 32:2 33:1 34:1 35:1 37:1 42:2 43:2 44:1 45:0 46:0 47:0"
)


def spoken(newest: str) -> dict[int, range]:
    pairs = (each.split(":") for each in newest.split())
    return {int(key): range(int(version) + 1) for key, version in pairs}


@pytest.mark.parametrize(
    ("newest", "release"),
    [("0:1", "older than 0.10"), (OF_0_10_2, "0.10.2"), (OF_2_4, "2.4")],
)
def test_a_broker_is_like_the_newest_release_that_it_knows_all_of(
    newest: str, release: str
) -> None:
    assert release_of(spoken(newest)) == release


def test_our_brokers_are_like_3_9() -> None:
    assert release_of({each.key: each.versions for each in APIS}) == "3.9"


def test_a_release_that_forgot_old_versions_is_known() -> None:
    newer = {each.key: range(each.versions[-1], each.versions[-1] + 1) for each in APIS}
    assert release_of({**newer, 3: range(13, 14)}) == "4.0"
    assert release_of({**newer, 3: range(14), 45: range(2), 8: range(11), 35: range(6)}) == (
        "4.3 or later"
    )


def test_a_broker_of_others_may_know_a_part_of_later_ones() -> None:
    assert release_of(spoken(OF_2_4) | {60: range(2)}) == "2.4, and parts of 3.7"


@pytest.mark.parametrize(
    ("level", "name"),
    [(1, "3.0-IV1"), (7, "3.3-IV3"), (21, "3.9-IV0"), (27, "4.1-IV1"), (30, "4.3-IV0")],
)
def test_levels_of_metadata_have_kafkas_names(level: int, name: str) -> None:
    assert metadata_version(level) == name


def test_levels_that_are_not_known_are_numbers() -> None:
    assert (metadata_version(0), metadata_version(99)) == ("level 0", "level 99")
