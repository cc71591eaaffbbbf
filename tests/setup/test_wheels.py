"""What pip installs: the command, Kafka's scripts, and the files of `moldau init`."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import wheels

ROOT = Path(__file__).resolve().parents[2]
BUILD = "import setuptools.build_meta as backend; print(backend.build_wheel('dist'))"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which pip has installed a wheel without kernels, and nothing else."""
    sources, target = tmp_path_factory.mktemp("sources"), tmp_path_factory.mktemp("installed")
    wheels.copy_sources(sources)
    environment = {**os.environ, "MOLDAU_PURE": "1"}
    build = [sys.executable, "-W", "ignore", "-c", BUILD]
    subprocess.run(build, cwd=sources, env=environment, check=True, capture_output=True)
    [wheel] = (sources / "dist").iterdir()
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*install, "--target", str(target), str(wheel)], check=True)
    return target


def use(installed: Path, name: str, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    command = [str(installed / "bin" / name), *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout


def test_kafkas_scripts_are_in_path(installed: Path) -> None:
    there = {path.name for path in (installed / "bin").iterdir()}
    assert there == {"moldau", *(path.name for path in (ROOT / "bin").glob("*.sh"))}
    assert use(installed, "kafka-topics.sh", "--version").startswith("3.9.1 ")
    assert use(installed, "zkCli.sh", "--help").startswith("usage: moldau zookeeper-shell")


def test_templates_are_installed(installed: Path, tmp_path: Path) -> None:
    use(installed, "moldau", "init", "systemd", "--to", str(tmp_path))
    assert {path.name for path in tmp_path.iterdir()} == {"server.properties", "moldau.service"}


def test_the_description_names_every_python_that_is_built_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for version in ("3.11", "3.12", "3.13"):
        assert f"Programming Language :: Python :: {version}" in project["classifiers"]


def test_links_of_the_description_lead_to_the_repository(tmp_path: Path) -> None:
    wheels.copy_sources(tmp_path)
    wheels.add_address(tmp_path, "https://example.org/moldau")
    text = (tmp_path / "README.md").read_text()
    targets = re.findall(r"(!?)\[[^\]]*\]\(([^)]+)\)", text)
    assert len(targets) > 20
    for is_picture, target in targets:
        kind = "raw" if is_picture else "blob"
        path = target.removeprefix(f"https://example.org/moldau/{kind}/HEAD/").partition("#")[0]
        assert (ROOT / path).is_file(), target
    project = tomllib.loads((tmp_path / "pyproject.toml").read_text())["project"]
    assert project["urls"]["Homepage"] == "https://example.org/moldau"
    assert project["scripts"]["moldau"]


def test_interpreters_that_are_not_there_are_left_out() -> None:
    assert list(wheels.usable(["python9.99", sys.executable])) == [sys.executable]


def test_interpreters_of_pyenv_are_found_behind_shims_that_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shim = tmp_path / "shims" / "python9.99"
    shim.parent.mkdir()
    shim.write_text("#!/bin/sh\nexit 127\n")
    shim.chmod(0o755)
    kept = tmp_path / "versions" / "9.99.1" / "bin" / "python9.99"
    kept.parent.mkdir(parents=True)
    kept.write_text("#!/bin/sh\nexit 0\n")
    kept.chmod(0o755)
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    monkeypatch.setenv("PATH", f"{shim.parent}:{os.environ['PATH']}")
    assert list(wheels.usable(["python9.99"])) == [str(kept)]


def test_wheels_are_tried_without_a_compiler_and_sources_with_and_without() -> None:
    tag = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    sdist, wheel = Path("moldau.tar.gz"), Path(f"moldau-{tag}-{tag}-linux.whl")
    other = Path("moldau-cp399-cp399-linux.whl")
    tried = list(wheels.trials([sys.executable], [sdist, wheel, other]))
    assert [(each.archive, each.has_compiler, each.is_compiled) for each in tried] == [
        (wheel, False, True),
        (sdist, True, True),
        (sdist, False, False),
    ]
