"""The bitemporal core, pure: the rule of an instant, the planner, the ledger, a slot's state."""
