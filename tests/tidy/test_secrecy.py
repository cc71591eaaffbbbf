"""The rules about secrets find what would tell them."""

from pathlib import Path

import pytest

from tidy.plant import places, plant
from tidy.secrecy import constant_time, hidden_secrets

FILE = "src/moldau/security/plain.py"


@pytest.mark.parametrize(
    "text",
    ["a == self._password", "proof != expected", "stored_key == secret.stored_key", "x == a.hmac"],
)
def test_cve_2021_38153_a_compare_that_takes_its_time_is_found(tmp_path: Path, text: str) -> None:
    assert places(constant_time, plant(tmp_path, {FILE: text})) == [FILE]


@pytest.mark.parametrize(
    "text",
    ["password == ''", "compare_digest(proof, b)", "password is None", "token_id == other"],
)
def test_other_compares_are_fine(tmp_path: Path, text: str) -> None:
    assert places(constant_time, plant(tmp_path, {FILE: text})) == []


CLASS = "@dataclass(frozen=True)\nclass A:\n    password: {}\n"


@pytest.mark.parametrize("kind", ["str", "str = ''", "bytes | None = None", "str = field()"])
def test_a_secret_that_would_be_shown_is_found(tmp_path: Path, kind: str) -> None:
    planted = plant(tmp_path, {FILE: CLASS.format(kind)})
    assert places(hidden_secrets, planted) == [FILE]


@pytest.mark.parametrize("kind", ["str = field(repr=False)", "Password", "int"])
def test_a_secret_that_is_hidden_is_fine(tmp_path: Path, kind: str) -> None:
    planted = plant(tmp_path, {FILE: CLASS.format(kind)})
    assert places(hidden_secrets, planted) == []


@pytest.mark.parametrize(
    ("field", "found"),
    [
        ("texts: Mapping[str, str]", [FILE]),
        ("config: dict[str, str] = field(default_factory=dict)", [FILE]),
        ("texts: Mapping[str, str] = field(repr=False)", []),
        ("texts: Mapping[str, int]", []),
        ("names: Mapping[str, str]", []),
    ],
)
def test_settings_with_their_passwords_are_not_shown(
    tmp_path: Path, field: str, found: list[str]
) -> None:
    planted = plant(tmp_path, {FILE: f"@dataclass\nclass A:\n    {field}\n"})
    assert places(hidden_secrets, planted) == found
