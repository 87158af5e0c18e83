"""Operations on stored state that are no plain writes: one transaction and one stamp each."""
