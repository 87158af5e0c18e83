"""The version of the package, to be had without the metadata of its installation.

Reading those takes longer than most of what a command does; a test holds this one to
`pyproject.toml`.
"""

from typing import Final

VERSION: Final = "0.1.0"
