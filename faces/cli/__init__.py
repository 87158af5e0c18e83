"""The command line."""

import gc

_YOUNG_OBJECTS = 50_000

# The command line has its process to itself. Loading a command makes a hundred thousand objects
# that all stay: to walk through them after every 700 would be a tenth of a short command's time.
gc.set_threshold(_YOUNG_OBJECTS)
