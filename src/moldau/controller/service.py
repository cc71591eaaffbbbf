"""The controller at work: stands for election, and does one job after the other.

Everything happens in one task. Watches only name a job that is due; a job that is due twice
runs once, so the list of jobs is as short as the list of their names.

One service belongs to one session. When the session is lost, `run` raises SessionLost:
the owner of the service registers the broker in a new session and starts another one. When
only the connection broke, the outcome of the last request is unknown, so the picture of the
cluster is thrown away and read anew.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from moldau.controller.controller import Controller, IsUncleanAllowed
from moldau.controller.lookout import Lookout, OpenContact
from moldau.controller.outbox import PLAINTEXT
from moldau.controller.senders import Send, Senders
from moldau.controller.state_nodes import StateNodes
from moldau.controller.term import Deposed, Job, Term
from moldau.controller.tree_reader import TreeReader
from moldau.coordination.layout import controller as controller_nodes
from moldau.coordination.layout.cluster import FeatureNode
from moldau.coordination.layout.documents import NodeDataError
from moldau.coordination.tree import (
    BadVersion,
    ConnectionLost,
    Create,
    Delete,
    NodeExists,
    NodeStat,
    NoNode,
    Operation,
    SessionLost,
    SessionState,
    SetData,
    Tree,
)
from moldau.errors import ErrorCode, KafkaError
from moldau.runtime.clock import Clock

_log = logging.getLogger(__name__)

_ELECTION = "election"
_FIRST_REBALANCE_S = 5.0
_NEWEST_FEATURES = FeatureNode(is_enabled=True)

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What a broker's settings say about how it is to be controller."""

    is_unclean_allowed: IsUncleanAllowed
    listener: str = PLAINTEXT
    """What brokers call each other by."""
    rebalance_s: float | None = None
    """Time between two looks for brokers that lead less than they should; None for never."""
    imbalance_percentage: int = 10
    features: FeatureNode = _NEWEST_FEATURES
    """What is to stand in the node of features."""
    new_topic_id: Callable[[], bytes] | None = None
    """For topics that have no id yet; None where brokers do not know of ids."""
    deleted: Callable[[str], None] | None = lambda _topic: None
    """Is called with every topic that is gone from the tree; None if topics must not be deleted."""
    open_contact: OpenContact | None = None
    """How brokers are watched; None: only the end of a session says that one is gone."""


class ControllerService:
    """This broker's part in the controllership, whether it has it or not."""

    def __init__(
        self, tree: Tree, broker_id: int, *, send: Send, clock: Clock, rules: Rules
    ) -> None:
        self._tree = tree
        self._broker_id = broker_id
        self._send = send
        self._clock = clock
        self._rules = rules
        self._term: Term | None = None
        self._due: dict[str, Job] = {}
        self._asked: dict[str, asyncio.Future[None]] = {}
        self._asked_count = 0
        self._is_something_due = asyncio.Event()
        self._tasks: asyncio.TaskGroup
        self._lookout: Lookout | None = None

    @property
    def is_controller(self) -> bool:
        """Whether this broker is the controller."""
        return self._term is not None

    @property
    def machine(self) -> Controller:
        """The machine of the controller that this broker is."""
        return self._in_office.machine

    @property
    def _in_office(self) -> Term:
        assert self._term is not None
        return self._term

    def require_office(self) -> None:
        """Raise unless this broker is the controller."""
        if self._term is None:
            message = f"broker {self._broker_id} is not the controller"
            raise KafkaError(ErrorCode.NOT_CONTROLLER, message)

    def is_deleting(self, topic: str) -> bool:
        """Whether a topic will soon be gone from the tree, by this controller's work."""
        return self._term is not None and self._term.machine.deletions.is_under_way(topic)

    def rules_changed(self) -> None:
        """The rules of election have changed, for some topic at least."""
        if self._term is not None:
            self._when("changed rules", self._term.elections.offline)

    async def perform(self, job: Callable[[Term], Awaitable[Result]]) -> Result:
        """Have something done between the other jobs; NOT_CONTROLLER if that is over first."""
        self.require_office()
        term = self._in_office
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        results: list[Result] = []

        async def work() -> None:
            try:
                results.append(await job(term))
            except KafkaError as error:
                if not done.done():
                    done.set_exception(error)

        self._asked_count += 1
        name = f"asked {self._asked_count}"
        self._asked[name] = done
        self._when(name, work)
        await done
        if not results:
            # The session was lost in the middle of it.
            raise KafkaError(ErrorCode.NOT_CONTROLLER, "no longer the controller")
        return results[0]

    async def run(self) -> None:
        """Stand for election, then do what comes due, until the session is lost."""
        self._tree.listen(self._session_changed)
        self._when(_ELECTION, self._elect)
        open_contact = self._rules.open_contact
        async with asyncio.TaskGroup() as self._tasks:
            if open_contact is not None:
                self._lookout = Lookout(
                    self._tasks, open_contact, self._clock, changed=self._presence_changed
                )
            try:
                lost = await self._work()
            finally:
                self._resign()
                if self._lookout is not None:
                    self._lookout.watch([])
        raise lost

    async def _work(self) -> SessionLost:
        while True:
            while not self._due:
                self._is_something_due.clear()
                await self._is_something_due.wait()
            name = next(iter(self._due))
            try:
                await self._do(name, self._due.pop(name))
            except SessionLost as error:
                return error

    async def _do(self, name: str, job: Job) -> None:
        try:
            await job()
        except Deposed:
            self._resign()
            self._when(_ELECTION, self._elect)
        except ConnectionLost:
            self._resign()  # until the connection is back
        finally:
            asked = self._asked.pop(name, None)
            if asked is not None and not asked.done():
                self._answer(asked)

    def _answer(self, asked: asyncio.Future[None]) -> None:
        if self._term is None:
            message = f"broker {self._broker_id} is no longer the controller"
            asked.set_exception(KafkaError(ErrorCode.NOT_CONTROLLER, message))
        else:
            asked.set_result(None)

    def _when(self, name: str, job: Job) -> None:
        self._due[name] = job
        self._is_something_due.set()

    def _session_changed(self, state: SessionState) -> None:
        if state is not SessionState.SUSPENDED:
            self._when(_ELECTION, self._elect)

    def _presence_changed(self) -> None:
        """The process of a broker is gone, or back."""
        if self._term is None:
            self._when(_ELECTION, self._elect)
        else:
            self._when("brokers", self._term.brokers_changed)

    # Election

    async def _elect(self) -> None:
        stat = await self._tree.exists(
            controller_nodes.PATH, watch=lambda _event: self._when(_ELECTION, self._elect)
        )
        if stat is None:
            self._resign()
            await self._stand()
        elif stat.ephemeral_owner != self._tree.session_id:
            self._resign()
            if self._lookout is not None and await self._is_over(self._lookout):
                await self._stand(instead_of=stat)
        elif self._term is None:
            # Elected, but the connection broke before the answer came.
            await self._take_office(*await self._epoch())

    async def _is_over(self, lookout: Lookout) -> bool:
        """Whether the process of the controller is gone, although its session stands."""
        try:
            node = await self._tree.get(controller_nodes.PATH)
            broker_id = controller_nodes.decode_controller(node.data).broker_id
        except (NoNode, NodeDataError):
            return False
        if broker_id == self._broker_id:
            return True  # Its registration is ours now: that was an earlier life of this broker.
        broker = await TreeReader(self._tree).broker(str(broker_id))
        lookout.watch([] if broker is None else [broker])
        return broker is not None and lookout.is_gone(broker)

    async def _stand(self, *, instead_of: NodeStat | None = None) -> None:
        """Become the controller, if there is none, or in the place of one that is gone."""
        try:
            epoch, version = await self._epoch()
        except NodeDataError as error:
            _log.error("Failed to parse the controller epoch: %s", error)
            return
        removal: list[Operation] = []
        if instead_of is not None:
            # Looked at after the epoch: as long as that is the same, so is the node.
            stat = await self._tree.exists(controller_nodes.PATH)
            if stat is None or stat.ephemeral_owner != instead_of.ephemeral_owner:
                return
            removal = [Delete(controller_nodes.PATH, stat.version)]
        registration = controller_nodes.ControllerRegistration(
            self._broker_id, self._clock.now_ms()
        )
        try:
            await self._tree.multi(
                [
                    *removal,
                    Create(controller_nodes.PATH, registration.encode(), is_ephemeral=True),
                    SetData(
                        controller_nodes.EPOCH_PATH,
                        controller_nodes.encode_epoch(epoch + 1),
                        version,
                    ),
                ]
            )
        except (NodeExists, NoNode, BadVersion):
            return  # Another was quicker; the watch fires when it goes.
        await self._take_office(epoch + 1, version + 1)

    async def _epoch(self) -> tuple[int, int]:
        """The epoch of the latest controller, and the version of the node that says so."""
        while True:
            try:
                node = await self._tree.get(controller_nodes.EPOCH_PATH)
            except NoNode:
                first = Create(controller_nodes.EPOCH_PATH, controller_nodes.encode_epoch(0))
                try:
                    await self._tree.create(first)
                except NodeExists:
                    continue
            else:
                return controller_nodes.decode_epoch(node.data), node.stat.version

    async def _take_office(self, epoch: int, epoch_version: int) -> None:
        _log.info("broker %d is the controller, epoch %d", self._broker_id, epoch)
        machine = Controller(
            self._broker_id,
            epoch,
            is_unclean_allowed=self._rules.is_unclean_allowed,
            listener=self._rules.listener,
        )
        nodes = StateNodes(self._tree, epoch_version)
        term = self._term = Term(
            machine,
            TreeReader(self._tree),
            nodes,
            schedule=self._when,
            deleted=self._rules.deleted,
        )
        senders = Senders(self._tasks, machine.outbox, self._send, answered=term.note_answer)
        rules = self._rules
        await term.begin(
            senders, self._lookout, features=rules.features, new_topic_id=rules.new_topic_id
        )
        self._rebalance_later(term, _FIRST_REBALANCE_S)

    def _rebalance_later(self, term: Term, delay_s: float) -> None:
        interval_s = self._rules.rebalance_s
        if interval_s is None:
            return

        async def rebalance() -> None:
            percentage = self._rules.imbalance_percentage
            await term.elections.preferred(term.machine.imbalanced(percentage=percentage))
            self._rebalance_later(term, interval_s)

        def look() -> None:
            if self._term is term:
                self._when("rebalance", rebalance)

        asyncio.get_running_loop().call_later(delay_s, look)

    def _resign(self) -> None:
        if self._term is not None:
            _log.info("broker %d is no longer the controller", self._broker_id)
            self._term.end()
        self._term = None
        # An election may have come due since: it must not get lost with the rest.
        self._due = {name: job for name, job in self._due.items() if name == _ELECTION}
        asked, self._asked = self._asked, {}
        for one in asked.values():
            if not one.done():
                self._answer(one)
