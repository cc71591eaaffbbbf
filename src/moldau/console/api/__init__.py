"""What the pages ask for, and what programs may ask for: one module per subject."""
