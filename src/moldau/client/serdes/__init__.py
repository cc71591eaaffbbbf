"""Keys and values row by row: bytes to Python's objects and back."""
