"""Settings of authorization, delegation tokens and stored passwords."""

from moldau.config.definition import (
    Area,
    Importance,
    UpdateMode,
    class_name,
    integer,
    long,
    password,
    string,
)
from moldau.config.rules import at_least
from moldau.config.values import Password


class SecurityConfig(Area):
    """Who may do what, and how secrets are kept."""

    authorizer_class_name: str = string(
        "",
        "Authorizer; Kafka's names for its ACL authorizer turn ours on, empty allows everything.",
        importance=Importance.LOW,
    )
    moldau_audit_topic: str = string(
        "",
        "Topic that denials are recorded in, one JSON object each, beside the log; it is made if "
        "it is not there, with one partition. Without a name there are lines in the log alone.",
        importance=Importance.LOW,
    )
    principal_builder_class: str = class_name(
        "org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder",
        "Java class that names the user of a connection; only Kafka's default is supported.",
        update=UpdateMode.PER_BROKER,
    )
    security_providers: str | None = string(
        None, "Java security providers; without effect.", importance=Importance.LOW
    )
    delegation_token_master_key: Password | None = password(
        "Deprecated: older name of `delegation.token.secret.key`."
    )
    delegation_token_secret_key: Password | None = password(
        "Secret that signs delegation tokens, equal on all brokers; without it there are none.",
    )
    delegation_token_max_lifetime_ms: int = long(
        604_800_000, "Longest life of a token.", at_least(1)
    )
    delegation_token_expiry_time_ms: int = long(
        86_400_000, "Time after which a token must be renewed.", at_least(1)
    )
    delegation_token_expiry_check_interval_ms: int = long(
        3_600_000,
        "Time between two looks for expired tokens.",
        at_least(1),
        importance=Importance.LOW,
    )
    password_encoder_secret: Password | None = password(
        "Secret that encrypts passwords stored in ZooKeeper."
    )
    password_encoder_old_secret: Password | None = password(
        "Former secret, while passwords are encrypted anew."
    )
    password_encoder_keyfactory_algorithm: str | None = string(
        None, "How the key is derived from the secret.", importance=Importance.LOW
    )
    password_encoder_cipher_algorithm: str = string(
        "AES/CBC/PKCS5Padding", "Cipher that encrypts stored passwords.", importance=Importance.LOW
    )
    password_encoder_key_length: int = integer(
        128, "Bits of the key.", at_least(8), importance=Importance.LOW
    )
    password_encoder_iterations: int = integer(
        4096, "Rounds of the derivation.", at_least(1024), importance=Importance.LOW
    )
