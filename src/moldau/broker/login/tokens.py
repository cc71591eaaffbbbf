"""The delegation tokens of a cluster: kept in the tree as Kafka does, and known to every broker."""

import asyncio
import base64
import contextlib
import hmac
import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable
from functools import partial

from moldau.broker.login import token_rules
from moldau.broker.login.token_rules import TokenOwners, TokenTimes
from moldau.config.broker.security import SecurityConfig
from moldau.coordination.layout import tokens as nodes
from moldau.coordination.layout.documents import NodeDataError
from moldau.coordination.layout.roots import with_parents
from moldau.coordination.layout.tokens import TokenNode
from moldau.coordination.notifications import Notifications
from moldau.coordination.tree import Create, Delete, NodeExists, NoNode, SessionError, SetData, Tree
from moldau.errors import ErrorCode, KafkaError
from moldau.runtime.clock import Clock
from moldau.runtime.threads import in_thread
from moldau.security.principals import Principal
from moldau.security.scram import ITERATIONS_MIN, ScramSecret

_log = logging.getLogger(__name__)

_READ_AT_ONCE = 100
_RETRY_S = 1.0
_SECRETS_KEPT = 10_000


class Tokens:
    """All tokens, and the changes that owners and renewers ask for.

    `delegation.token.secret.key` makes their proofs; without it there are no tokens.
    """

    def __init__(
        self,
        tree: Tree,
        secret: str | None,
        times: TokenTimes,
        *,
        clock: Clock,
        new_uuid: Callable[[], bytes],
    ) -> None:
        self._tree = tree
        self._secret = secret
        self._times = times
        self._clock = clock
        self._new_uuid = new_uuid
        self._tokens: dict[str, TokenNode] = {}
        self._ids: dict[bytes, str] = {}
        self._secrets: OrderedDict[tuple[str, str], ScramSecret] = OrderedDict()
        self._changes = Notifications(tree, nodes.CHANGES_PATH)
        self._is_news = asyncio.Event()

    @property
    def is_enabled(self) -> bool:
        """Whether this cluster has tokens."""
        return self._secret is not None

    def require_enabled(self) -> None:
        if not self.is_enabled:
            raise KafkaError(ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED)

    # Knowing

    async def load(self) -> None:
        """Learn of all tokens, if there are to be any."""
        if not self.is_enabled:
            return
        for path in with_parents((nodes.TOKENS_PATH, nodes.CHANGES_PATH)):
            with contextlib.suppress(NodeExists):
                await self._tree.create(Create(path))
        known = await self._tree.children(nodes.TOKENS_PATH)
        for token_id in self._tokens.keys() - set(known):
            self._forget(token_id)
        for start in range(0, len(known), _READ_AT_ONCE):
            await asyncio.gather(*map(self._refresh, known[start : start + _READ_AT_ONCE]))

    async def run(self) -> None:
        """Follow the changes that other brokers make, until cancelled."""
        has_failed = False
        while self.is_enabled:
            self._is_news.clear()
            try:
                if has_failed:
                    await self.load()
                    has_failed = False
                for data in await self._changes.new(watch=lambda _: self._is_news.set()):
                    await self._note_change(data.decode(errors="replace"))
            except SessionError as error:
                _log.warning("Failed to read changed tokens, retrying: %s", error)
                has_failed = True
                await asyncio.sleep(_RETRY_S)
            else:
                await self._is_news.wait()

    def find(self, token_id: str) -> TokenNode | None:
        """A token that can be used to log in."""
        token = self._tokens.get(token_id)
        is_over = token is None or token_rules.is_over(token, now_ms=self._clock.now_ms())
        return None if is_over else token

    def all(self) -> Iterable[TokenNode]:
        """Every token that is not removed yet."""
        return tuple(self._tokens.values())

    def hmac_of(self, token: TokenNode) -> bytes:
        """What proves it."""
        assert self._secret is not None
        return token_rules.hmac_of(self._secret, token.token_id)

    async def scram_secret(self, mechanism: str, token: TokenNode, salt: bytes) -> ScramSecret:
        """What a client that has the token can prove; made on its first login."""
        key = (mechanism, token.token_id)
        found = self._secrets.get(key)
        if found is None:
            password = base64.b64encode(self.hmac_of(token)).decode()
            make = partial(ScramSecret.of_password, salt=salt, iterations=ITERATIONS_MIN)
            found = await in_thread(partial(make, mechanism, password))
            self._secrets[key] = found
        self._secrets.move_to_end(key)
        while len(self._secrets) > _SECRETS_KEPT:
            self._secrets.popitem(last=False)
        return found

    # Changing

    async def create(self, owners: TokenOwners, max_lifetime_ms: int) -> TokenNode:
        """A new token."""
        self.require_enabled()
        token = token_rules.new_token(
            token_rules.token_id_of(self._new_uuid()),
            owners,
            max_lifetime_ms,
            self._times,
            now_ms=self._clock.now_ms(),
        )
        path = nodes.token_path(token.token_id)
        await self._tree.multi([Create(path, token.encode()), _notice(token.token_id)])
        self._keep(token)
        return token

    async def renew(self, proof: bytes, period_ms: int, asker: Principal) -> int:
        """Let a token live longer; returns when it expires."""
        rule = partial(token_rules.renewed, times=self._times)
        return await self._change(proof, rule, period_ms, asker)

    async def expire(self, proof: bytes, period_ms: int, asker: Principal) -> int:
        """Let a token end at another time; returns when."""
        return await self._change(proof, token_rules.expired, period_ms, asker)

    async def _change(
        self, proof: bytes, rule: token_rules.EndRule, period_ms: int, asker: Principal
    ) -> int:
        token, now_ms = self._proven(proof), self._clock.now_ms()
        changed = rule(token, period_ms, asker=asker, now_ms=now_ms)
        if changed is None:
            await self._remove(token.token_id)
            return now_ms
        await self._replace(changed)
        return changed.expires_ms

    async def remove_expired(self) -> None:
        """Remove tokens that are of no use any more, as the controller does now and then."""
        now_ms = self._clock.now_ms()
        for token in self.all():
            if token_rules.is_over(token, now_ms=now_ms):
                _log.info("Delegation token expired for token: %s", token.token_id)
                await self._remove(token.token_id)

    async def clean(self, is_controller: Callable[[], bool]) -> None:
        """Remove expired tokens for as long as this broker is the controller, until cancelled."""
        while self.is_enabled:
            await asyncio.sleep(self._times.check_ms / 1000)
            if is_controller():
                try:
                    await self.remove_expired()
                except SessionError as error:
                    _log.warning("Failed to remove expired tokens, retrying: %s", error)

    def _proven(self, proof: bytes) -> TokenNode:
        self.require_enabled()
        token = self._tokens.get(self._ids.get(proof, ""))
        if token is None or not hmac.compare_digest(self.hmac_of(token), proof):
            raise KafkaError(ErrorCode.DELEGATION_TOKEN_NOT_FOUND)
        return token

    async def _replace(self, token: TokenNode) -> None:
        path = nodes.token_path(token.token_id)
        try:
            await self._tree.multi([SetData(path, token.encode()), _notice(token.token_id)])
        except NoNode:
            self._forget(token.token_id)
            raise KafkaError(ErrorCode.DELEGATION_TOKEN_NOT_FOUND) from None
        self._keep(token)

    async def _remove(self, token_id: str) -> None:
        with contextlib.suppress(NoNode):
            await self._tree.multi([Delete(nodes.token_path(token_id)), _notice(token_id)])
        self._forget(token_id)

    # What other brokers change

    async def _note_change(self, token_id: str) -> None:
        if token_id and "/" not in token_id:
            await self._refresh(token_id)

    async def _refresh(self, token_id: str) -> None:
        try:
            node = await self._tree.get(nodes.token_path(token_id))
            self._keep(nodes.decode_token(node.data))
        except NoNode:
            self._forget(token_id)
        except (NodeDataError, ValueError) as error:
            _log.warning("Failed to parse delegation token %r: %s", token_id, error)
            self._forget(token_id)

    def _keep(self, token: TokenNode) -> None:
        self._tokens[token.token_id] = token
        if self.is_enabled:
            self._ids[self.hmac_of(token)] = token.token_id

    def _forget(self, token_id: str) -> None:
        token = self._tokens.pop(token_id, None)
        if token is not None and self.is_enabled:
            self._ids.pop(self.hmac_of(token), None)
        for key in [key for key in self._secrets if key[1] == token_id]:
            del self._secrets[key]


def make_tokens(
    config: SecurityConfig, tree: Tree, clock: Clock, new_uuid: Callable[[], bytes]
) -> Tokens:
    """The tokens of a cluster, as the settings of a broker have them."""
    secret = config.delegation_token_secret_key or config.delegation_token_master_key
    times = TokenTimes(
        max_lifetime_ms=config.delegation_token_max_lifetime_ms,
        expiry_ms=config.delegation_token_expiry_time_ms,
        check_ms=config.delegation_token_expiry_check_interval_ms,
    )
    revealed = None if secret is None else secret.reveal()
    return Tokens(tree, revealed, times, clock=clock, new_uuid=new_uuid)


def _notice(token_id: str) -> Create:
    return Create(nodes.CHANGE_PREFIX, token_id.encode(), is_sequential=True)
