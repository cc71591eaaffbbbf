"""The clients in their blocking form: the same names, without `await`.

from moldau.client.blocking import Producer

with Producer(bootstrap_servers="localhost:9092") as producer:
    producer.send("orders", b"value")
"""

from moldau.client.blocking.admin import Admin
from moldau.client.blocking.consumer import Consumer
from moldau.client.blocking.producer import Producer

__all__ = ["Admin", "Consumer", "Producer"]
