"""The seven levels say against which versions and in which direction."""

import pytest

from moldau.registry.levels import CompatibilityLevel, Difference, incompatibilities

NO = [Difference("NO", "/", "no")]
NEW, OLDEST, OLD, NEWEST = "new", "oldest", "old", "newest"

# Which pairs of reader and writer each level looks at.
LOOKED_AT = {
    "NONE": [],
    "BACKWARD": [(NEW, NEWEST)],
    "BACKWARD_TRANSITIVE": [(NEW, NEWEST), (NEW, OLD), (NEW, OLDEST)],
    "FORWARD": [(NEWEST, NEW)],
    "FORWARD_TRANSITIVE": [(NEWEST, NEW), (OLD, NEW), (OLDEST, NEW)],
    "FULL": [(NEW, NEWEST), (NEWEST, NEW)],
    "FULL_TRANSITIVE": [
        *((NEW, NEWEST), (NEWEST, NEW), (NEW, OLD)),
        *((OLD, NEW), (NEW, OLDEST), (OLDEST, NEW)),
    ],
}


@pytest.mark.parametrize("level", CompatibilityLevel)
def test_a_level_looks_at_these_and_no_others(level: CompatibilityLevel) -> None:
    looked_at: list[tuple[str, str]] = []

    def reads(reader: str, writer: str) -> list[Difference]:
        looked_at.append((reader, writer))
        return []

    assert incompatibilities(level, NEW, [OLDEST, OLD, NEWEST], reads) is None
    assert looked_at == LOOKED_AT[level.value]


@pytest.mark.parametrize("level", CompatibilityLevel)
def test_one_pair_that_does_not_fit_is_enough(level: CompatibilityLevel) -> None:
    for pair in LOOKED_AT[level.value]:

        def reads(reader: str, writer: str, pair: tuple[str, str] = pair) -> list[Difference]:
            return NO if (reader, writer) == pair else []

        found = incompatibilities(level, NEW, [OLDEST, OLD, NEWEST], reads)
        assert found == (next(each for each in pair if each != NEW), NO)


def test_a_first_version_fits() -> None:
    empty: list[str] = []
    assert incompatibilities(CompatibilityLevel.FULL, NEW, empty, lambda *_: NO) is None
