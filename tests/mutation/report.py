"""What came of the mutants: kept between runs, counted by module, written as tables."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

BEGIN, END = "<!-- bin/mutate: begin -->", "<!-- bin/mutate: end -->"
HEADINGS = {
    "modules": (
        "| Module | Changes | Tried | Killed | Of them by the time limit | Survived | Score |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ),
    "survivors": ("| Survivor | Change | Why |", "|---|---|---|"),
}
NOT_EXPLAINED = "no test notices yet"


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of one mutant: killed, survived, or stopped by the time limit."""

    module: str
    line: int
    key: str
    outcome: str
    digest: str  # of the module and its tests

    @property
    def change(self) -> str:
        return self.key.partition(": ")[2]


class Results:
    """A file of results, one per line, so that a run that was stopped goes on."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[tuple[str, str, str], Result] = {}
        self._killed: dict[tuple[str, str], Result] = {}
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                self._remember(Result(**json.loads(line)))

    def get(self, module: str, key: str, digest: str) -> Result | None:
        return self._known.get((module, key, digest))

    def killed(self, module: str, key: str) -> Result | None:
        """What killed it when it was last tried, whatever the module and its tests were then."""
        return self._killed.get((module, key))

    def add(self, result: Result) -> None:
        self._remember(result)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(result)) + "\n")

    def _remember(self, result: Result) -> None:
        self._known[result.module, result.key, result.digest] = result
        if result.outcome == "killed":
            self._killed[result.module, result.key] = result
        else:
            self._killed.pop((result.module, result.key), None)


def tables(
    results: Iterable[Result], totals: Mapping[str, int], reasons: Mapping[str, Mapping[str, str]]
) -> dict[str, list[str]]:
    """The rows of both tables; `totals` says how many mutants each module has."""
    by_module: dict[str, list[Result]] = {}
    for result in sorted(results, key=lambda result: (result.module, result.line)):
        by_module.setdefault(result.module, []).append(result)
    rows = []
    for module, found in by_module.items():
        count = Counter(result.outcome for result in found)
        killed = count["killed"] + count["timeout"]
        rows.append(
            f"| `{module}` | {totals[module]} | {len(found)} | {killed} | {count['timeout']} "
            f"| {count['survived']} | {killed / len(found):.0%} |"
        )
    survivors = [
        f"| `{result.module}:{result.line}` | `{result.change.replace('|', '∣')}` "
        f"| {reasons.get(result.module, {}).get(result.key, NOT_EXPLAINED)} |"
        for found in by_module.values()
        for result in found
        if result.outcome == "survived"
    ]
    return {"modules": rows, "survivors": survivors}


def written(text: str, fresh: Mapping[str, list[str]], modules: Iterable[str]) -> str:
    """The document with the rows of these modules renewed, and those of others as they were."""
    before, _, rest = text.partition(BEGIN)
    inside, end, after = rest.partition(END)
    assert end, f"the document has no {BEGIN} ... {END}"
    renewed = tuple(modules)
    parts = []
    for name, heading in HEADINGS.items():
        kept = [
            row
            for row in inside.splitlines()
            if _is_row_of(name, row) and not row.startswith(tuple(f"| `{m}" for m in renewed))
        ]
        rows = sorted([*kept, *fresh[name]], key=_place)
        parts.append("\n".join([*heading, *rows]))
    return f"{before}{BEGIN}\n" + "\n\n".join(parts) + f"\n{END}{after}"


def _is_row_of(table: str, row: str) -> bool:
    if not row.startswith("| `"):
        return False
    return bool(re.match(r"\| `[^`]*\.py:\d+`", row)) == (table == "survivors")


def _place(row: str) -> tuple[str, int]:
    module, _, line = row.split("`")[1].partition(":")
    return module, int(line or 0)
