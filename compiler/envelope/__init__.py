"""What a caller holds in the hand: the envelope, its checks, two of them compared."""
