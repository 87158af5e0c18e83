"""What a store must be, as types: protocols, records, vectors, receipts, audit chain, targets."""
