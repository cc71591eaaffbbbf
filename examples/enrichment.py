"""Orders with what is known of the customer, and what each country buys in a minute.

    moldau streams run examples/enrichment.py --bootstrap-server localhost:9092

reads orders, by customer, and customers, a table of the latest that is known of each; writes
enriched orders to orders-enriched and what countries spend to spent-by-country.
"""

from datetime import timedelta

from moldau.streams import StreamsBuilder, TimeWindows, Topology, json

application = "enrichment"
ORDER = json("item string, price double")
CUSTOMER = json("name string, country string")
MINUTES = TimeWindows.of_size_and_grace(timedelta(minutes=1), timedelta(seconds=10))


def topology() -> Topology:
    builder = StreamsBuilder()
    customers = builder.table("customers", value=CUSTOMER)
    orders = builder.stream("orders", value=ORDER)
    enriched = orders.join(
        customers,
        "named_struct('item', left.item, 'price', left.price, "
        "'name', right.name, 'country', right.country)",
    )
    enriched.to("orders-enriched")
    spent = enriched.group_by("value.country").windowed_by(MINUTES).sum("value.price")
    spent.to_stream().to("spent-by-country")
    return builder.build()


if __name__ == "__main__":
    print(topology().describe())
