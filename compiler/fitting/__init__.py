"""How pieces are made to fit a budget and become text."""
