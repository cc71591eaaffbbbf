"""What each country has ordered: totals that follow every change of the orders.

    moldau streams run examples/revenue.py --bootstrap-server localhost:9092

reads the table of orders that examples/orders.toml captures from PostgreSQL. An order that is
changed or cancelled is taken out of the total that it was in, and counts with what it is now.
"""

from moldau.streams import StreamsBuilder, Topology, json

application = "revenue"
Total = dict[str, int]


def nothing() -> Total:
    return {"orders": 0, "cents": 0}


def add(_country: str, cents: int, total: Total) -> Total:
    return {"orders": total["orders"] + 1, "cents": total["cents"] + cents}


def subtract(_country: str, cents: int, total: Total) -> Total:
    return {"orders": total["orders"] - 1, "cents": total["cents"] - cents}


def topology() -> Topology:
    builder = StreamsBuilder()
    orders = builder.table(
        "shop.public.orders", key=json("id int"), value=json("country string, cents int")
    )
    by_country = orders.group_by("named_struct('key', value.country, 'value', value.cents)")
    totals = by_country.aggregate(
        nothing, add, subtract, returns="struct<orders: bigint, cents: bigint>"
    )
    row = "named_struct('country', key, 'orders', value.orders, 'cents', value.cents)"
    totals.to_stream().map_values(row).to("revenue")
    return builder.build()


if __name__ == "__main__":
    print(topology().describe())
