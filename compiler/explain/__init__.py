"""Pictures and pages made from a trace."""
