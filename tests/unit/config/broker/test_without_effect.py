"""Settings without effect are those that nobody reads, and each of them has its reason."""

import re
from pathlib import Path

import pytest

import moldau
from moldau.config.broker.advice import JAVA_CLASSES
from moldau.config.broker.broker import broker_settings
from moldau.config.broker.without_effect import reason_of
from moldau.config.synonyms import TOPIC_SYNONYMS

SOURCES = Path(moldau.__file__).parent
# They are read to be checked; what they would say is not done yet.
CHECKED_ONLY = ("remote.log.storage.system.enable",)
LOOKING_UP = {
    ("broker", "login"),
    ("security", "listener_tls.py"),
    ("security", "principal_mapping.py"),
}
DEFAULTS_OF_TOPICS = {one.name for several in TOPIC_SYNONYMS.values() for one in several}


@pytest.fixture(scope="module")
def read_attributes() -> set[str]:
    """Every name that follows a dot anywhere in the sources, and every setting named there.

    What listeners may have of their own is looked up by the name of the setting.
    """
    texts = {path: path.read_text() for path in SOURCES.rglob("*.py")}
    found = {name for text in texts.values() for name in re.findall(r"\.([a-z]\w+)", text)}
    for path, text in texts.items():
        if path.relative_to(SOURCES).parts[:2] in LOOKING_UP:
            found |= set(re.findall(r'"((?:[a-z0-9]+\.)+[a-z0-9]+)"', text))
    return found


def is_read(name: str, read_attributes: set[str]) -> bool:
    attribute = broker_settings()[name].attribute
    return name in DEFAULTS_OF_TOPICS or bool({name, attribute} & read_attributes)


def test_a_setting_that_nobody_reads_says_why(read_attributes: set[str]) -> None:
    silent = [
        name
        for name in broker_settings()
        if not is_read(name, read_attributes)
        and name not in JAVA_CLASSES
        and reason_of(name) is None
    ]
    assert silent == []


def test_a_setting_that_is_read_does_not_say_that_it_has_no_effect(
    read_attributes: set[str],
) -> None:
    wrong = [
        name
        for name in broker_settings()
        if is_read(name, read_attributes)
        and reason_of(name) is not None
        and not name.startswith(CHECKED_ONLY)
    ]
    # Topics have them, and they change nothing there either.
    assert wrong == ["log.local.retention.ms", "log.local.retention.bytes", "log.preallocate"]


def test_a_name_that_nobody_knows_has_no_reason() -> None:
    assert reason_of("plugin.token") is None
