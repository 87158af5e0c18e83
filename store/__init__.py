"""Claims to timelines: reconciliation, the store port and its adapters."""
