"""A file of played seeds, one line each: a long run that was broken off goes on after it."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from simulation.scenario import Verdict


class Record:
    """What is known of a run; without a path it lasts as long as the process."""

    def __init__(self, path: Path | None, seeds: Iterable[int]) -> None:
        self._path = path
        wanted = dict.fromkeys(seeds)
        self.verdicts: dict[int, Verdict] = {}
        if path is not None and path.exists():
            for line in path.read_text().splitlines():
                verdict = Verdict(**json.loads(line))
                if verdict.seed in wanted:
                    self.verdicts[verdict.seed] = verdict
        self.missing = [seed for seed in wanted if seed not in self.verdicts]

    def add(self, verdict: Verdict) -> None:
        """Note a seed, so that it need not be played again."""
        self.verdicts[verdict.seed] = verdict
        if self._path is not None:
            with self._path.open("a") as lines:
                lines.write(json.dumps(asdict(verdict)) + "\n")
