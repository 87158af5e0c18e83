"""Views, search, history, mentions, stored envelopes."""
