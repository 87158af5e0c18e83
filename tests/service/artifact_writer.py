"""A process that keeps artifacts until it is killed, and prints the address of each kept one."""

import sys

from tenure import connect

SHARED = "what every process keeps"
"""The same bytes again and again: each put adds a grant beside those of others."""


def main(path: str, first: int) -> None:
    """Keep bytes of its own and bytes that all keep, in turn."""
    with connect(path) as memory:
        owner = memory.write(subject="Sam", slot="skill", value=str(first))
        number = first
        while True:
            number += 1
            own = f"artifact {number} " * 400
            for text in (own, SHARED):
                artifact = memory.artifacts.put(
                    text, name=str(number), object_ids=[owner.object_id]
                )
                print(artifact.address, number, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
