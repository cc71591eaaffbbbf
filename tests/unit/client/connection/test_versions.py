"""The newest version that both sides speak."""

import pytest

from moldau.client.connection.versions import BEFORE_API_VERSIONS, SPOKEN, BrokerVersions
from moldau.errors import UnsupportedVersion
from moldau.protocol.apis import API_BY_KEY
from moldau.protocol.messages.api_versions import ApiVersion

METADATA = 3


def versions(api_key: int, first: int, last: int) -> BrokerVersions:
    answer = [ApiVersion(api_key=api_key, min_version=first, max_version=last)]
    return BrokerVersions.of_answer(answer)


def test_an_old_broker_decides() -> None:
    assert versions(METADATA, 0, 5).newest(METADATA) == 5


def test_a_new_broker_leaves_the_choice_to_the_client() -> None:
    newest = API_BY_KEY[METADATA].versions[-1]
    assert versions(METADATA, 0, 100).newest(METADATA) == newest


@pytest.mark.parametrize(("first", "last"), [(0, 1), (12, 15)])
def test_without_a_version_of_both_the_error_says_who_speaks_what(first: int, last: int) -> None:
    with pytest.raises(UnsupportedVersion, match=f"{first} to {last} versions of Produce"):
        versions(0, first, last).newest(0)


def test_an_api_that_the_broker_does_not_have_is_an_error() -> None:
    with pytest.raises(UnsupportedVersion, match="no versions of Fetch"):
        versions(METADATA, 0, 5).newest(1)


def test_a_broker_from_before_api_versions_has_metadata() -> None:
    assert BrokerVersions(BEFORE_API_VERSIONS).newest(METADATA) == 0


@pytest.mark.parametrize("api_key", SPOKEN)
def test_the_versions_that_are_spoken_are_declared(api_key: int) -> None:
    assert set(SPOKEN[api_key]) <= set(API_BY_KEY[api_key].versions)


def test_an_api_that_the_broker_does_not_speak_at_all() -> None:
    versions = BrokerVersions({3: range(2)})
    assert versions.has(3)
    assert not versions.has(4)


def test_a_version_for_some_things_alone_is_spoken_if_both_know_it() -> None:
    offset_fetch = 9
    assert versions(offset_fetch, 0, 9).speaks(offset_fetch, 8)
    assert versions(offset_fetch, 0, 9).newest(offset_fetch) == SPOKEN[offset_fetch][-1] == 7
    assert not versions(offset_fetch, 0, 7).speaks(offset_fetch, 8)
    assert not versions(offset_fetch, 0, 99).speaks(offset_fetch, 98), "it is not ours"
    assert not versions(METADATA, 0, 9).speaks(offset_fetch, 8)
