"""The world of one seed: its time, its machines and what lies between them."""

import gc
import random
import sys
import warnings
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, Self, TypeVar

from moldau.testing.world.loop import WorldLoop
from moldau.testing.world.machine import Machine
from moldau.testing.world.network import Network
from moldau.testing.world.ports import WorldClock
from moldau.testing.world.tree import WorldEnsemble

Result = TypeVar("Result")


class World:
    """Everything that a simulation needs; the seed decides all that is left to chance."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        # typeshed calls abstract what asyncio leaves out of loops that do not need it.
        self.loop = WorldLoop(self.chance("threads").random)  # type: ignore[abstract]
        self.network = Network(self.loop, self.chance("network").random)
        self.loop.network = self.network
        self.ensemble = WorldEnsemble(WorldClock(self.loop), self.loop, self.network)
        self.machines: dict[str, Machine] = {}

    def chance(self, purpose: str) -> random.Random:
        """A source of its own for each purpose: more of one does not change another."""
        return random.Random(f"{self.seed} {purpose}")  # noqa: S311 - meant to be repeatable

    def machine(self, name: str) -> Machine:
        """The machine of that name, built on first use."""
        if name not in self.machines:
            self.machines[name] = Machine(name, self.loop, self.network, self.chance(name))
        return self.machines[name]

    def run(self, main: Coroutine[Any, Any, Result]) -> Result:
        """Let the world exist until `main` has its result."""
        return self.loop.run(main)

    def __enter__(self) -> Self:
        # The world before this one may have had users until now.
        collect()
        # A collection would close abandoned coroutines, and so run parts of them, at a moment
        # that depends on how much memory other things took.
        gc.disable()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.loop.close()
        for machine in self.machines.values():
            machine.scrap()
        self.network.scrap()
        collect()
        gc.enable()


def collect() -> None:
    """Close what is left of a world: coroutines in the middle of their work, which complain."""
    complain, sys.unraisablehook = sys.unraisablehook, lambda _: None
    with warnings.catch_warnings(action="ignore"):
        gc.collect()
    sys.unraisablehook = complain
