"""Finds what is known of those who log in by SCRAM; of strangers, something as well."""

import contextlib

from moldau.broker.login.identity import Identity
from moldau.broker.login.scram_login import Known
from moldau.broker.login.tokens import Tokens
from moldau.broker.login.users import ScramUsers
from moldau.coordination.layout.login_key import (
    LOGIN_KEY_PATH,
    decode_login_key,
    encode_login_key,
)
from moldau.coordination.layout.roots import with_parents
from moldau.coordination.tree import Create, NodeExists, NoNode, Tree
from moldau.security.principals import Principal
from moldau.security.scram import Claim, ScramSecret


class ScramCredentials:
    """Those of users, and of delegation tokens.

    A stranger is answered with a salt of his own, and iterations that others have, and fails at
    the end, as somebody with a wrong password does: neither the answer nor its time shows which
    users there are.
    """

    def __init__(self, users: ScramUsers, tokens: Tokens, key: bytes) -> None:
        self._users = users
        self._tokens = tokens
        self._key = key

    async def find(self, mechanism: str, claim: Claim) -> Known:
        """What a claim has to be proven by."""
        usual = None if claim.is_token else self._users.iterations(mechanism)
        nobody = ScramSecret.of_nobody(mechanism, claim.user, self._key, usual)
        if not claim.is_token:
            secret = self._users.find(mechanism, claim.user)
            return Known(secret or nobody, Identity(claim.user))
        token = self._tokens.find(claim.user) if self._tokens.is_enabled else None
        if token is None:
            return Known(nobody, Identity(claim.user))
        secret = await self._tokens.scram_secret(mechanism, token, nobody.salt)
        owner = Principal.parse(token.owner)
        return Known(secret, Identity(owner.name, is_by_token=True, expires_at_ms=token.expires_ms))


async def find_login_key(tree: Tree, new_key: bytes) -> bytes:
    """The secret of the cluster, which is `new_key` if it has none yet."""
    while True:
        with contextlib.suppress(NoNode):
            return decode_login_key((await tree.get(LOGIN_KEY_PATH)).data)
        *parents, _ = with_parents((LOGIN_KEY_PATH,))
        for path in parents:
            with contextlib.suppress(NodeExists):
                await tree.create(Create(path))
        with contextlib.suppress(NodeExists):
            await tree.create(Create(LOGIN_KEY_PATH, encode_login_key(new_key)))
