"""The test kit: a broker in the test process, and what stands in for the world.

`pip install moldau` brings a pytest fixture: `def test_x(kafka)` gets a broker of its own
(`moldau.testing.broker`) to which any Kafka client can connect.
"""
