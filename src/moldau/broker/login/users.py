"""Users with SCRAM passwords: kept in the tree beside their quotas, and at hand for logins."""

import asyncio
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from moldau.broker.settings.configs import Configs
from moldau.coordination.layout.configs import ConfigEntity, parse_entity_path
from moldau.coordination.layout.documents import NodeDataError
from moldau.errors import ErrorCode, KafkaError
from moldau.security.scram import ITERATIONS_MIN, MECHANISMS, ScramSecret

_log = logging.getLogger(__name__)

_READ_AT_ONCE = 100
_USERS = "users"

Secrets = dict[str, ScramSecret]
"""By mechanism."""
_NO_SECRETS: Secrets = {}


class SecretChange(NamedTuple):
    """A secret that a user shall have, or not have any more (None)."""

    mechanism: str
    secret: ScramSecret | None


class ScramUsers:
    """The SCRAM secrets of all users."""

    def __init__(self, configs: Configs) -> None:
        self._configs = configs
        self._secrets: dict[str, Secrets] = {}
        self._iterations = {mechanism: Counter[int]() for mechanism in MECHANISMS}
        self._is_kept = False
        configs.listen_to_quotas(self._changed)

    async def load(self) -> None:
        """Keep all secrets at hand from now on; a broker without SCRAM needs none."""
        self._is_kept = True
        names = await self._configs.children(f"/config/{_USERS}")
        for start in range(0, len(names), _READ_AT_ONCE):
            batch = names[start : start + _READ_AT_ONCE]
            await asyncio.gather(*map(self._load_one, batch))

    def find(self, mechanism: str, user: str) -> ScramSecret | None:
        """What is known of a user's password; None if there is none that may be used."""
        return self._secrets.get(user, _NO_SECRETS).get(mechanism)

    def iterations(self, mechanism: str) -> Mapping[int, int]:
        """How many users can log in by a mechanism, by the iterations of their secrets."""
        return self._iterations[mechanism]

    async def described(self, user: str) -> Secrets:
        """The secrets of a user, as the tree has them now."""
        return _secrets_in(user, await self._configs.read(ConfigEntity(_USERS, user)))

    async def names(self) -> list[str]:
        """All users of which anything is set."""
        paths = await self._configs.children(f"/config/{_USERS}")
        entities = (parse_entity_path(f"{_USERS}/{path}") for path in paths)
        return sorted(entity.name for entity in entities if entity.name is not None)

    async def alter(self, user: str, changes: Sequence[SecretChange]) -> None:
        """Make all of these changes, or none."""

        def changed(current: dict[str, str]) -> Mapping[str, str]:
            for change in changes:
                if change.secret is not None:
                    current[change.mechanism] = change.secret.to_text()
                elif current.pop(change.mechanism, None) is None:
                    message = "Attempt to delete a user credential that does not exist"
                    raise KafkaError(ErrorCode.RESOURCE_NOT_FOUND, message)
            return current

        await self._configs.alter(ConfigEntity(_USERS, user), changed)

    async def _load_one(self, path: str) -> None:
        entity = parse_entity_path(f"{_USERS}/{path}")
        try:
            self._changed(entity, await self._configs.read(entity))
        except NodeDataError as error:
            # This user cannot log in; all others can.
            _log.warning("Failed to parse the settings of a user: %s", error)

    def _changed(self, entity: ConfigEntity, texts: Mapping[str, str]) -> None:
        if not self._is_kept or entity.type != _USERS or entity.has_client or entity.name is None:
            return
        found = _secrets_in(entity.name, texts)
        usable = {name: one for name, one in found.items() if one.iterations >= ITERATIONS_MIN}
        self._count(self._secrets.pop(entity.name, _NO_SECRETS), -1)
        self._count(usable, 1)
        if usable:
            self._secrets[entity.name] = usable

    def _count(self, secrets: Secrets, change: int) -> None:
        for mechanism, secret in secrets.items():
            counted = self._iterations[mechanism]
            counted[secret.iterations] += change
            if not counted[secret.iterations]:
                del counted[secret.iterations]


def _secrets_in(user: str, texts: Mapping[str, str]) -> Secrets:
    found = {}
    for mechanism in MECHANISMS:
        text = texts.get(mechanism)
        if text is None:
            continue
        try:
            found[mechanism] = ScramSecret.parse(text)
        except ValueError:
            _log.warning("Failed to parse the %s credential of user %r", mechanism, user)
    return found
