"""What the documents say about scheduling, and which tests prove it."""
