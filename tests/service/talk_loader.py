"""A process that imports talk, until it is killed: `python talk_loader.py STORE FILE ADDRESS`."""

import sys

from tenure import connect


def main() -> None:
    """Import a file of talk with a model at an address."""
    store, file, address = sys.argv[1:]
    with connect(store, extractor=f"openai:good@{address}/v1") as memory:
        memory.ingest(file, progress=lambda line, _: print(line, flush=True))


if __name__ == "__main__":
    main()
