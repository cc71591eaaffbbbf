"""What holds for all tests; the mark `@pytest.mark.needs("java", "mvn")` for missing tools."""

import gc
import os
import shutil
from collections.abc import Iterator

import pytest
from hypothesis import settings

pytest_plugins = ["moldau.testing.plugin"]

# On a busy machine a single example may take any time; pytest's own limit is enough.
settings.register_profile("moldau", deadline=None)
settings.load_profile("moldau")

# Program -> how to get it on Debian and Ubuntu. One name may stand for several programs.
INSTALL = {
    "cc": "apt-get install -y gcc python3-dev",
    "java": "apt-get install -y openjdk-17-jdk-headless",
    "javac": "apt-get install -y openjdk-17-jdk-headless",
    "mvn": "apt-get install -y maven",
    "kcat": "apt-get install -y kcat",
    "go": "apt-get install -y golang-go",
    "node": "apt-get install -y nodejs",
    "npm": "apt-get install -y npm",
    "cargo": "apt-get install -y cargo",
    "git": "apt-get install -y git",
    "browser": "apt-get install -y chromium",
    "mariadbd": "apt-get install -y mariadb-server",
    "postgres": "apt-get install -y postgresql",
}
ALTERNATIVES = {
    "browser": ("chromium", "chromium-browser", "google-chrome"),
    "postgres": ("pg_ctlcluster",),  # Debian keeps the server itself out of the path
}


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "needs(*programs): skipped without these programs; with CI=true it fails instead",
    )


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what cannot run here, except where everything is meant to run."""
    programs = [name for mark in item.iter_markers("needs") for name in mark.args]
    missing = [name for name in dict.fromkeys(programs) if not is_installed(name)]
    if not missing:
        return
    reason = "needs " + ", ".join(f"{name} ({INSTALL[name]})" for name in missing)
    if os.environ.get("CI") == "true":
        pytest.fail(f"{reason}; with CI=true nothing may be skipped for that", pytrace=False)
    pytest.skip(reason)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown() -> Iterator[None]:
    """Without the collector every later test of the process leaves its descriptors open."""
    yield
    if not gc.isenabled():
        gc.enable()
        pytest.fail("the test has left the collector switched off", pytrace=False)


def is_installed(name: str) -> bool:
    assert name in INSTALL, f"tests/conftest.py does not know how to install {name!r}"
    return any(shutil.which(program) for program in ALTERNATIVES.get(name, (name,)))
