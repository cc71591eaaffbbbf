"""Levels and modes hold for a subject, or for all."""

import pytest

from moldau.registry.failures import RegistryRefused
from moldau.registry.levels import CompatibilityLevel
from moldau.registry.records import ConfigRecord, ModeRecord, SchemaRecord, StoredSchema
from moldau.registry.settings import Settings
from moldau.registry.subjects import Subjects


@pytest.fixture
def settings() -> Settings:
    return Settings(Subjects())


def code_of(refused: pytest.ExceptionInfo[RegistryRefused]) -> int:
    return refused.value.code


def test_a_subject_has_its_own_level_or_that_of_all_or_the_default(settings: Settings) -> None:
    assert settings.level("a") is CompatibilityLevel.BACKWARD
    settings.subjects.apply(settings.set_config(None, {"compatibility": "full"}))
    settings.subjects.apply(settings.set_config("a", {"compatibility": "NONE"}))
    assert settings.level("a") is CompatibilityLevel.NONE
    assert settings.level("b") is CompatibilityLevel.FULL
    assert settings.config(None, default_to_global=False) == {"compatibilityLevel": "FULL"}
    assert settings.config("b", default_to_global=True) == {"compatibilityLevel": "FULL"}
    with pytest.raises(RegistryRefused) as refused:
        settings.config("b", default_to_global=False)
    assert code_of(refused) == 40408


def test_settings_that_are_not_said_stay(settings: Settings) -> None:
    settings.subjects.apply(ConfigRecord("a", {"compatibilityLevel": "NONE", "alias": "b"}))
    settings.subjects.apply(settings.set_config("a", {"normalize": True}))
    assert settings.subjects.configs["a"] == {
        "compatibilityLevel": "NONE",
        "alias": "b",
        "normalize": True,
    }
    assert settings.normalizes("a")
    assert not settings.normalizes("b")


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"compatibility": "SIDEWAYS"}, 42203),
        ({"compatibility": 7}, 42203),
        ({}, 42203),
        ({"normalize": "yes"}, 422),
        ({"compatibility": "FULL", "alias": "b"}, 422),
    ],
)
def test_what_is_no_setting_is_refused(
    settings: Settings, asked: dict[str, object], code: int
) -> None:
    with pytest.raises(RegistryRefused) as refused:
        settings.set_config("a", asked)
    assert code_of(refused) == code


def test_what_is_taken_away_is_answered(settings: Settings) -> None:
    settings.subjects.apply(settings.set_config("a", {"compatibility": "NONE"}))
    was, record = settings.delete_config("a")
    assert was == {"compatibilityLevel": "NONE"}
    settings.subjects.apply(record)
    with pytest.raises(RegistryRefused) as refused:
        settings.delete_config("a")
    assert code_of(refused) == 40401


@pytest.mark.parametrize("mode", ["READONLY", "READONLY_OVERRIDE"])
def test_what_is_read_only_is_not_written(settings: Settings, mode: str) -> None:
    settings.subjects.apply(settings.set_mode("a", mode.lower(), force=False))
    for write in (
        lambda: settings.check_writable("a"),
        lambda: settings.set_config("a", {"compatibility": "NONE"}),
    ):
        with pytest.raises(RegistryRefused) as refused:
            write()
        assert code_of(refused) == 42205
    assert settings.check_writable("b") == "READWRITE"


def test_a_subject_may_be_open_where_the_rest_is_closed_unless_all_has_to_be(
    settings: Settings,
) -> None:
    settings.subjects.apply(ModeRecord("a", "READWRITE"))
    settings.subjects.apply(ModeRecord(None, "READONLY"))
    assert settings.check_writable("a") == "READWRITE"
    settings.subjects.apply(ModeRecord(None, "READONLY_OVERRIDE"))
    with pytest.raises(RegistryRefused):
        settings.check_writable("a")


def test_import_begins_where_there_is_nothing(settings: Settings) -> None:
    settings.subjects.apply(SchemaRecord("a", 1, StoredSchema("a", 1, 1, '"int"')))
    assert settings.set_mode("b", "IMPORT", force=False).mode == "IMPORT"
    assert settings.set_mode("a", "IMPORT", force=True).mode == "IMPORT"
    for about in ("a", None):
        with pytest.raises(RegistryRefused, match="existing subjects"):
            settings.set_mode(about, "IMPORT", force=False)


def test_modes_are_looked_up_and_taken_away(settings: Settings) -> None:
    with pytest.raises(RegistryRefused) as refused:
        settings.mode("a", default_to_global=False)
    assert code_of(refused) == 40409
    assert settings.mode("a", default_to_global=True) == "READWRITE"
    with pytest.raises(RegistryRefused) as refused:
        settings.delete_mode("a")
    assert code_of(refused) == 40401
    settings.subjects.apply(ModeRecord("a", "READONLY"))
    was, record = settings.delete_mode("a")
    assert (was, record) == ("READONLY", ModeRecord("a", None))
    with pytest.raises(RegistryRefused) as refused:
        settings.set_mode("a", "SOMEHOW", force=False)
    assert code_of(refused) == 42204
