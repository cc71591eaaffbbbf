"""The lock files: every version exact, every archive hashed, nothing forgotten."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from profiles import PROFILES, Profile

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PINNED = re.compile(r"^([\w.-]+)==([\w.]+)(?: ; .+)? \\$")
HASH = re.compile(r"^    --hash=sha256:[0-9a-f]{64}(?: \\)?$")
every_profile = pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES.keys())


def pins(profile: Profile) -> dict[str, set[Version]]:
    """Each package's versions; several where they depend on Python's version."""
    found: dict[str, set[Version]] = {}
    for line in profile.lock_file(ROOT).read_text(encoding="utf-8").splitlines():
        if match := PINNED.match(line):
            found.setdefault(canonicalize_name(match[1]), set()).add(Version(match[2]))
    return found


@every_profile
def test_a_lock_file_holds_only_exact_versions_with_hashes(profile: Profile) -> None:
    lines = profile.lock_file(ROOT).read_text(encoding="utf-8").splitlines()
    kinds = "".join(
        "#" if line.startswith("#") else "p" if PINNED.match(line) else "h" if HASH.match(line)
        else f"<{line}>"
        for line in lines
    )  # fmt: skip
    assert re.fullmatch("#+(ph+)+", kinds), kinds


@every_profile
def test_a_lock_file_satisfies_pyproject(profile: Profile) -> None:
    wanted = [*PROJECT["build-system"]["requires"], *PROJECT["project"]["dependencies"]]
    for extra in profile.extras:
        wanted += PROJECT["project"]["optional-dependencies"][extra]
    locked = pins(profile)
    for requirement in map(Requirement, wanted):
        versions = locked.get(canonicalize_name(requirement.name), set())
        assert versions, f"bin/lock: {requirement} is not in {profile.name}.lock"
        assert all(version in requirement.specifier for version in versions), str(requirement)


def test_profiles_agree_on_every_version_so_that_they_can_share_one_environment() -> None:
    seen: dict[str, set[Version]] = {}
    for profile in PROFILES.values():
        for name, versions in pins(profile).items():
            assert seen.setdefault(name, versions) == versions, name


def test_the_base_is_light() -> None:
    assert pins(PROFILES["base"]).keys() == {"cramjam", "kazoo", "cython", "setuptools"}


def test_spark_comes_with_what_its_state_needs() -> None:
    """pyspark imports protobuf for `transformWithState`, and does not name it."""
    assert {"pyspark", "protobuf"} <= pins(PROFILES["spark"]).keys()
