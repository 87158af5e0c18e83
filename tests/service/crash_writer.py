"""A process that writes with eight threads until it is killed, printing what was acknowledged.

Each line is `thread number`; it is printed only after the write returned, so every number on
standard output must be in the store afterwards.
"""

import sys
import threading

from tenure import connect


def main(path: str, first: int) -> None:
    memory = connect(path)
    lock = threading.Lock()

    def work(thread: int) -> None:
        number = first
        while True:
            number += 1
            memory.write(
                subject=f"Person {thread % 4}",
                slot="skill",
                value=f"{thread}-{number}",
                idempotency_key=f"{thread}-{number}",
            )
            with lock:
                sys.stdout.write(f"{thread} {number}\n")
                sys.stdout.flush()

    threads = [threading.Thread(target=work, args=(n,), daemon=True) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
