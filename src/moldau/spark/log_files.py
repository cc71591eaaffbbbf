"""Where Spark's own words go: to files beside the checkpoint, not among the lines of a command."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

FILE = "spark.log"
PRINTED = "spark.err"
_CONFIGURATION = "log4j2.properties"
_JAVA_OPTIONS = "spark.driver.extraJavaOptions"
_PROPERTY = "log4j2.configurationFile"
# The state of a new key is empty, which Spark's state server takes for a warning, each time.
_QUIET = (
    "org.apache.spark.sql.execution.python.streaming",
    "org.apache.spark.sql.execution.python",
)
_LINES = """\
rootLogger.level = warn
rootLogger.appenderRef.file.ref = file
appender.file.type = RollingFile
appender.file.name = file
appender.file.fileName = {file}
appender.file.filePattern = {file}.%i
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d{{yyyy-MM-dd'T'HH:mm:ss.SSS}} %p %c{{1}}: %m%n%ex
appender.file.policies.type = Policies
appender.file.policies.size.type = SizeBasedTriggeringPolicy
appender.file.policies.size.size = 16MB
appender.file.strategy.type = DefaultRolloverStrategy
appender.file.strategy.max = 3
"""


@contextmanager
def printing_to(directory: Path) -> Iterator[None]:
    """Have processes that are started meanwhile print their errors to `spark.err`.

    The JVM and its workers print what no logger gets: warnings of Java, tracebacks of workers that
    were left alone, and what functions of the user print. The last run's file is kept.
    """
    directory.mkdir(parents=True, exist_ok=True)
    file = directory / PRINTED
    if file.exists():
        file.rename(directory / f"{PRINTED}.1")
    ours = os.dup(2)
    with file.open("ab") as output:
        os.dup2(output.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(ours, 2)
        os.close(ours)


def log_settings(directory: Path, conf: Mapping[str, str]) -> dict[str, str]:
    """The settings of a session whose driver logs to `spark.log` in a directory.

    None, if the user's settings say where its log goes.
    """
    given = conf.get(_JAVA_OPTIONS, "")
    if _PROPERTY in given:
        return {}
    directory.mkdir(parents=True, exist_ok=True)
    text = _LINES.format(file=(directory / FILE).resolve())
    for number, name in enumerate(_QUIET):
        text += f"logger.quiet{number}.name = {name}\nlogger.quiet{number}.level = error\n"
    configuration = directory / _CONFIGURATION
    configuration.write_text(text)
    option = f"-D{_PROPERTY}={configuration.resolve().as_uri()}"
    return {_JAVA_OPTIONS: f"{given} {option}".strip()}
