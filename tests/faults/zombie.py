"""A producer that writes in a transaction and commits when it is told to.

python -m faults.zombie 127.0.0.1:9092
"""

import sys

from confluent_kafka import KafkaException, Producer

from simulation.client import TOPIC

TRANSACTIONAL_ID = "zombie"
VALUE = "zombie@1/0"
TIMEOUT_S = 3.0
FENCED = ("_FENCED", "INVALID_PRODUCER_EPOCH", "PRODUCER_FENCED", "INVALID_TXN_STATE")


def main() -> None:
    producer = Producer(
        {
            "bootstrap.servers": sys.argv[1],
            "transactional.id": TRANSACTIONAL_ID,
            "transaction.timeout.ms": int(TIMEOUT_S * 1000),
        }
    )
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(TOPIC, f"{VALUE}#0".encode(), partition=0)
    producer.flush(30)
    print("written", flush=True)
    sys.stdin.readline()
    try:
        producer.produce(TOPIC, f"{VALUE}#1".encode(), partition=0)
        producer.commit_transaction(30)
        print("committed", flush=True)
    except KafkaException as error:
        print(error.args[0].name(), flush=True)


if __name__ == "__main__":
    main()
