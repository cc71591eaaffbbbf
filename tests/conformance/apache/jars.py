"""Jars of Apache Kafka, fetched with Maven by name and checked against `jars.lock`.

The lock file has one section per class path, each with lines `group:artifact:version sha256`.
Jars stay in a Maven repository inside the cache. When every jar of a class path is there with
the right hash, neither Maven nor a network is needed. `pin.py` writes the lock file.
"""

import functools
import hashlib
import re
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from conformance.apache.cache import cache_directory, exclusive

LOCK_FILE = Path(__file__).with_name("jars.lock")
_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1"


class JarMismatch(Exception):
    """A downloaded jar is not the one that the lock file names."""


@dataclass(frozen=True, slots=True)
class Jar:
    group: str
    artifact: str
    version: str
    sha256: str = ""

    @classmethod
    def parse(cls, coordinates: str, sha256: str = "") -> "Jar":
        group, artifact, version = coordinates.split(":")
        return cls(group, artifact, version, sha256)

    @property
    def coordinates(self) -> str:
        return f"{self.group}:{self.artifact}:{self.version}"

    @property
    def path(self) -> Path:
        """Where Maven's repository layout puts it."""
        folder = repository() / self.group.replace(".", "/") / self.artifact / self.version
        return folder / f"{self.artifact}-{self.version}.jar"


@functools.cache
def jar_paths(class_path_name: str) -> tuple[Path, ...]:
    """The verified jars of one section of the lock file, downloaded if need be."""
    jars = read_lock()[class_path_name]
    with exclusive("maven"):
        absent = [jar for jar in jars if not jar.path.exists()]
        if absent:
            _download(absent)
        for jar in jars:
            _verify(jar)
    return tuple(jar.path for jar in jars)


def class_path(*names: str) -> str:
    """A `-cp` argument of one or more sections; the first one wins where they overlap."""
    paths = dict.fromkeys(path for name in names for path in jar_paths(name))
    return ":".join(map(str, paths))


def repository() -> Path:
    return cache_directory() / "maven"


def read_lock() -> dict[str, list[Jar]]:
    sections: dict[str, list[Jar]] = {}
    for line in LOCK_FILE.read_text().splitlines():
        if line.startswith("["):
            section = sections.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            section.append(Jar.parse(*line.split()))
    return sections


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def run_maven(goal: str, dependencies: Iterable[str], *options: str) -> None:
    """Run a goal of Maven's dependency plugin on a project made of `<dependency>` elements."""
    project = cache_directory() / "maven-project"
    project.mkdir(exist_ok=True)
    (project / "pom.xml").write_text(
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        "<groupId>moldau</groupId><artifactId>conformance</artifactId><version>1</version>"
        f"<dependencies>{''.join(dependencies)}</dependencies></project>\n"
    )
    command = ["mvn", "-B", "-f", str(project), f"-Dmaven.repo.local={repository()}"]
    with subprocess.Popen(
        [*command, f"{_PLUGIN}:{goal}", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as maven:
        assert maven.stdout is not None
        output = []
        for line in maven.stdout:
            output.append(line)
            _show_progress(line)
    if maven.returncode:
        raise RuntimeError("Maven failed:\n" + "".join(output[-40:]))


def dependency(jar: Jar, *, exclude: Iterable[tuple[str, str]]) -> str:
    exclusions = "".join(
        f"<exclusion><groupId>{group}</groupId><artifactId>{artifact}</artifactId></exclusion>"
        for group, artifact in exclude
    )
    return (
        f"<dependency><groupId>{jar.group}</groupId><artifactId>{jar.artifact}</artifactId>"
        f"<version>{jar.version}</version><exclusions>{exclusions}</exclusions></dependency>"
    )


def _download(jars: list[Jar]) -> None:
    # Every jar is named in the lock file, so Maven has nothing to resolve by itself; one run per
    # version of an artifact, since a Maven project has room for only one.
    while jars:
        once = {(jar.group, jar.artifact): jar for jar in jars}
        print(f"Maven: fetching {len(once)} jars", file=sys.stderr, flush=True)
        run_maven("resolve", [dependency(jar, exclude=[("*", "*")]) for jar in once.values()])
        jars = [jar for jar in jars if jar not in once.values()]


def _verify(jar: Jar) -> None:
    found = sha256_of(jar.path)
    if found != jar.sha256:
        jar.path.unlink()
        raise JarMismatch(f"{jar.coordinates} has sha256 {found}, jars.lock says {jar.sha256}")


def _show_progress(line: str) -> None:
    downloaded = re.search(r"Downloaded .*/([^/]+\.jar \(.+) at ", line)
    if downloaded:
        print(f"  {downloaded[1]})", file=sys.stderr, flush=True)


if __name__ == "__main__":
    for section_name in read_lock():
        jar_paths(section_name)
