"""Delegation tokens: a node for each; the secret that proves one is not stored."""

from dataclasses import dataclass

from moldau.coordination.layout.documents import Document, encode
from moldau.coordination.layout.names import desanitize, sanitize

TOKENS_PATH = "/delegation_token/tokens"
CHANGES_PATH = "/delegation_token/token_changes"
CHANGE_PREFIX = f"{CHANGES_PATH}/token_change_"
"""A change's data is the id of the token."""


def token_path(token_id: str) -> str:
    return f"{TOKENS_PATH}/{token_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenNode:
    """`/delegation_token/tokens/ID`; principals as `User:name`."""

    token_id: str
    owner: str
    requester: str
    """The user that asked for it, from 3.3 on; before that it was always the owner."""
    renewers: tuple[str, ...]
    issued_ms: int
    expires_ms: int
    max_ms: int
    """When it can be renewed no longer."""

    def encode(self) -> bytes:
        return encode(
            {
                "issueTimestamp": self.issued_ms,
                "renewers": [sanitize(renewer) for renewer in self.renewers],
                "tokenRequester": sanitize(self.requester),
                "tokenId": self.token_id,
                "owner": sanitize(self.owner),
                "expiryTimestamp": self.expires_ms,
                "maxTimestamp": self.max_ms,
                "version": 3,
            }
        )


def decode_token(data: bytes) -> TokenNode:
    document = Document.decode(data)
    owner = desanitize(document.text("owner"))
    requester = document.optional_text("tokenRequester")
    return TokenNode(
        token_id=document.text("tokenId"),
        owner=owner,
        requester=owner if requester is None else desanitize(requester),
        renewers=tuple(map(desanitize, document.texts("renewers"))),
        issued_ms=document.integer("issueTimestamp"),
        expires_ms=document.integer("expiryTimestamp"),
        max_ms=document.integer("maxTimestamp"),
    )
