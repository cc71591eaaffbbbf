"""Java programs: Apache's own main classes, and ours from `tests/conformance/java`."""

import hashlib
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from conformance.apache.cache import cache_directory, exclusive
from conformance.apache.jars import class_path

JAVA_SOURCES = Path(__file__).resolve().parents[1] / "java"
# Test programs live for seconds: a quick start matters more than peak speed.
QUICK_START = ("-XX:TieredStopAtLevel=1", "-Xshare:auto", "-XX:+UseSerialGC", "-Xmx384m")
# What Apache's own start script gives a broker; benchmarks compare with this.
AS_SHIPPED = (
    "-server",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35",
    "-XX:+ExplicitGCInvokesConcurrent",
    "-Xmx1G",
    "-Xms1G",
)
# What connect-distributed.sh gives a worker.
CONNECT_AS_SHIPPED = (*AS_SHIPPED[:-2], "-Xms256M", "-Xmx2G")


def java_command(
    path: str, main_class: str, *arguments: str, options: Sequence[str] = QUICK_START
) -> list[str]:
    """The command line that runs `main_class` from the class path `path`."""
    logging = f"-Dlog4j.configuration={(JAVA_SOURCES / 'log4j.properties').as_uri()}"
    return ["java", *options, logging, "-cp", path, main_class, *arguments]


def run_main(
    main_class: str, *arguments: str, timeout_s: float = 60, jars: str = "kafka-3.9"
) -> subprocess.CompletedProcess[str]:
    """Run one of Apache Kafka's main classes to its end, whatever its exit code."""
    return subprocess.run(
        java_command(class_path(jars), main_class, *arguments),
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )


def program_class_path(program: str, *jar_sections: str) -> str:
    """Compile `java/<program>` against the jars, unless the cache has it; with `java/line`."""
    path = class_path(*jar_sections)
    sources = sorted([*JAVA_SOURCES.glob("line/*.java"), *JAVA_SOURCES.glob(f"{program}/*.java")])
    digest = hashlib.sha256(path.encode())
    for source in sources:
        digest.update(source.read_bytes())
    classes = cache_directory() / "classes" / f"{program}-{digest.hexdigest()[:16]}"
    with exclusive("javac"):
        if not classes.exists():
            _compile(sources, path, classes)
    return f"{classes}:{path}"


def _compile(sources: list[Path], path: str, classes: Path) -> None:
    aside = classes.with_name(f"{classes.name}.{os.getpid()}")
    subprocess.run(
        ["javac", "-nowarn", "-proc:none", "--release", "11", "-cp", path, "-d", str(aside)]
        + [str(source) for source in sources],
        check=True,
    )
    aside.rename(classes)
