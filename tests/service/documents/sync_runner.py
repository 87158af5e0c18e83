"""A process that synchronises a folder, printing each file that is done, until it is killed."""

from __future__ import annotations

import sys

from tenure import connect


def main(store: str, folder: str) -> None:
    with connect(store) as memory:

        def tell(done: int, total: int, path: str) -> None:
            print(done, total, path, flush=True)

        memory.documents.sync(folder, source="handbook", progress=tell)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
