"""One group of writes, from the lock to the batch."""
