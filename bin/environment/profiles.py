"""The profiles: what each script in `bin/` needs installed."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

OLDEST_PYTHON = (3, 11)


@dataclass(frozen=True, slots=True)
class Profile:
    """One lock file, and what to expect of installing it."""

    name: str
    purpose: str
    extras: tuple[str, ...]  # of pyproject.toml; the base has none
    disk_mb: int  # while it is installed: downloads and unpacked files together
    duration_s: int  # on two cores and a usual line

    def lock_file(self, root: Path) -> Path:
        return root / "requirements" / f"{self.name}.lock"


# In the order of installation: a later profile may need an earlier one to be built.
PROFILES = {
    profile.name: profile
    for profile in (
        Profile("base", "broker and command line", extras=(), disk_mb=300, duration_s=15),
        Profile(
            "spark", "Spark pipelines", extras=("spark", "console"), disk_mb=2000, duration_s=90
        ),
        Profile("dev", "tests and benchmarks", extras=("dev",), disk_mb=1000, duration_s=40),
        Profile(
            "connect",
            "connectors, databases and lakes",
            extras=("spark", "console", "connect", "lake"),
            disk_mb=2400,
            duration_s=100,
        ),
    )
}


def in_order(names: set[str]) -> list[Profile]:
    """The named profiles and the base, which every other one stands on."""
    return [profile for name, profile in PROFILES.items() if name == "base" or name in names]


def build_requirements(root: Path) -> list[str]:
    """What compiling the kernels needs; installed with the base, so that it needs no network."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    requires: list[str] = project["build-system"]["requires"]
    return requires
