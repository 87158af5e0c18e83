"""What all use-cases share: store, queue, clock, ids, vocabulary, times."""
