"""The lag of all groups that somebody looks at: of many, some in each round."""

from collections import deque
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from moldau.console.lag import GroupLag, read_lag

if TYPE_CHECKING:
    from moldau.client.admin.admin import Admin

ROUND_MAX = 1000
_AT_ONCE = 250
_POINTS_MAX = 900
_HISTORIES_MAX = 500


class GroupLags:
    """What is known of groups; who is named is read in each round, the others take turns."""

    def __init__(self) -> None:
        self.history: dict[str, deque[tuple[int, int]]] = {}
        """Times and totals of groups, of a bounded number of them."""
        self._known: dict[str, GroupLag] = {}
        self._after = ""

    async def update(
        self, admin: "Admin", named: Collection[str], *, has_all: bool, at_ms: int
    ) -> dict[str, GroupLag]:
        """A round: all that is known of those who are wanted."""
        listed, is_whole = await _names(admin) if has_all else (set[str](), True)
        if not is_whole:  # those of a broker that is silent are not gone
            listed |= self._known.keys()
        wanted = {*named, *listed}
        for name in self._known.keys() - wanted:
            del self._known[name]
        turns = self._turns(sorted(wanted.difference(named)))
        ids = [*sorted(named), *turns]
        for start in range(0, len(ids), _AT_ONCE):
            fresh = await read_lag(admin, ids[start : start + _AT_ONCE])
            self._known |= fresh
            self._remember(fresh, named, at_ms)
        return dict(self._known)

    def _turns(self, others: Sequence[str]) -> list[str]:
        """The next ones by name, and from the beginning after the last."""
        if len(others) <= ROUND_MAX:
            return list(others)
        later = [each for each in others if each > self._after]
        chosen = [*later[:ROUND_MAX], *others[: max(ROUND_MAX - len(later), 0)]]
        self._after = chosen[-1]
        return chosen

    def _remember(self, fresh: dict[str, GroupLag], named: Collection[str], at_ms: int) -> None:
        for group, lag in fresh.items():
            if group not in self.history and len(self.history) >= _HISTORIES_MAX:
                if group not in named:
                    continue
                self.history.pop(next(iter(self.history)))
            points = self.history.setdefault(group, deque(maxlen=_POINTS_MAX))
            points.append((at_ms, lag.total))


async def _names(admin: "Admin") -> tuple[set[str], bool]:
    """The groups that there are, and whether all brokers have answered."""
    found = await admin.list_groups_by_broker()
    return {each.group_id for some in found.succeeded.values() for each in some}, not found.errors
