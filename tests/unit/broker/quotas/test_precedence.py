"""Which quota holds: eight levels, and with whom each is shared."""

import pytest

from moldau.broker.quotas.precedence import ABSENT, HeldQuota, Holder, QuotaLevels
from moldau.coordination.layout.configs import ConfigEntity

USER, CLIENT = "u", "c"
BOTH: Holder = (USER, CLIENT)
LEVELS: list[tuple[ConfigEntity, Holder]] = [
    (ConfigEntity.user_client(USER, CLIENT), BOTH),
    (ConfigEntity.user_client(USER, None), BOTH),
    (ConfigEntity("users", USER), (USER, ABSENT)),
    (ConfigEntity.user_client(None, CLIENT), BOTH),
    (ConfigEntity.user_client(None, None), BOTH),
    (ConfigEntity("users", None), (USER, ABSENT)),
    (ConfigEntity("clients", CLIENT), (ABSENT, CLIENT)),
    (ConfigEntity("clients", None), (ABSENT, CLIENT)),
]


@pytest.mark.parametrize("first", range(8))
def test_the_first_level_that_is_set_decides_and_names_who_shares_it(first: int) -> None:
    levels = QuotaLevels()
    for number, (entity, _) in reversed(list(enumerate(LEVELS))):
        if number >= first:
            levels.put(entity, 100 + number)
    assert levels.find(USER, CLIENT) == HeldQuota(100 + first, LEVELS[first][1])


@pytest.mark.parametrize("level", range(8))
def test_a_level_alone_holds_for_those_that_it_names(level: int) -> None:
    levels = QuotaLevels()
    entity, _ = LEVELS[level]
    levels.put(entity, 5)
    names_user = level in (0, 1, 2)
    names_client = level in (0, 3, 6)
    assert (levels.find("other", CLIENT) is None) == names_user
    assert (levels.find(USER, "other") is None) == names_client


def test_two_clients_of_a_user_share_its_quota_and_two_users_do_not() -> None:
    levels = QuotaLevels()
    levels.put(ConfigEntity("users", None), 5)

    def holder(user: str, client_id: str) -> Holder:
        found = levels.find(user, client_id)
        assert found is not None
        return found.holder

    assert holder("u", "a") == holder("u", "b")
    assert holder("u", "a") != holder("v", "a")


def test_a_client_without_an_id_is_not_taken_for_a_user_alone() -> None:
    levels = QuotaLevels()
    levels.put(ConfigEntity("users", USER), 5)
    levels.put(ConfigEntity.user_client(USER, None), 7)
    assert levels.find(USER, "") == HeldQuota(7, (USER, ""))


def test_names_that_look_like_defaults_are_names() -> None:
    levels = QuotaLevels()
    levels.put(ConfigEntity("clients", "any"), 5)
    assert levels.find("u", "other") is None


def test_what_changes_nothing_says_so() -> None:
    levels = QuotaLevels()
    entity = ConfigEntity("clients", CLIENT)
    assert not levels.put(entity, None)
    assert levels.put(entity, 5)
    assert not levels.put(entity, 5)
    assert levels.put(entity, 6)
    assert len(levels) == 1
    assert levels.put(entity, None)
    assert len(levels) == 0
    assert levels.find(USER, CLIENT) is None
