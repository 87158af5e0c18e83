"""The vocabulary of tenure: records, bounded lists, intervals, policy and errors."""
