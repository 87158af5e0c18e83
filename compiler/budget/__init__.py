"""Pure mathematics: division between sections, selection within one, shares of profiles."""
