"""What Apache's `DumpLogSegments` says about files of a log directory."""

import re
from dataclasses import dataclass
from pathlib import Path

from conformance.apache.jvm import run_main


@dataclass(frozen=True, slots=True)
class Dump:
    """The tool's words; a file that it finds fault with shows up in `complaints`."""

    lines: list[str]
    complaints: str
    exit_code: int

    def entries(self, first_word: str) -> list[dict[str, str]]:
        """The `name: value` pairs of every line that starts with the name `first_word`."""
        return [
            dict(re.findall(r"(\w+): (\S+)", line))
            for line in self.lines
            if line.startswith(f"{first_word}: ")
        ]


def dump(partition: Path, *options: str) -> Dump:
    """Run the tool on all files of a partition's directory that are named by an offset."""
    files = (path for path in sorted(partition.glob("0*")) if path.suffix != ".deleted")
    names = ",".join(map(str, files))
    done = run_main("kafka.tools.DumpLogSegments", "--files", names, *options)
    return Dump(done.stdout.splitlines(), done.stderr, done.returncode)
