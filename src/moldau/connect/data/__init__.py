"""What connectors exchange with topics: schemas, values, records, Arrow tables."""
