"""The file of an application: Python that defines `topology`, or a function of that name."""

import runpy
from dataclasses import dataclass
from pathlib import Path

from moldau.streams.topology import Topology

# Workers cannot import this module, so Spark sends them the functions of the file themselves.
_MODULE = "moldau_application"


class NoTopology(Exception):
    """The file is no application, and the message says what is missing."""


@dataclass(frozen=True, slots=True)
class App:
    """`application` names checkpoints, changelogs and metrics."""

    application: str
    topology: Topology

    @property
    def checkpoint(self) -> str:
        """Where queries note how far they are, unless it is said."""
        return f".moldau/{self.application}"


def load_app(path: str, application: str = "") -> App:
    """Run the file, and take what it defines; its name is that of the application."""
    if not Path(path).is_file():
        raise NoTopology(f"there is no file {path}")
    try:
        defined = runpy.run_path(path, run_name=_MODULE)
    except SyntaxError as error:
        # Where it is says more than how we came there; what the file raises has its traceback.
        line = "" if error.lineno is None else f", line {error.lineno}"
        raise NoTopology(f"{error.filename or path}{line}: {error.msg}") from error
    found = defined.get("topology")
    if callable(found) and not isinstance(found, Topology):
        found = found()
    if not isinstance(found, Topology):
        raise NoTopology(
            f"{path} must define `topology`: what StreamsBuilder.build() returns, or a function "
            "that returns it"
        )
    name = application or str(defined.get("application") or Path(path).stem)
    return App(name, found)
