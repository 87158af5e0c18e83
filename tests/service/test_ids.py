"""The ids that a process makes."""

import uuid

from tenure.service.backend.backend import uuid7


def test_ids_sort_as_they_were_made_and_cannot_be_guessed() -> None:
    ids = [uuid7() for _ in range(200)]
    # Two may share a quarter of a microsecond: their order there is chance.
    assert [made[:18] for made in ids] == sorted(made[:18] for made in ids)
    assert len({made[19:] for made in ids}) == len(ids)

    for made in map(uuid.UUID, ids):
        assert (made.version, made.variant) == (7, uuid.RFC_4122)
