"""How the receipts of a group call the entities that its mentions were compared with.

A stored receipt has every candidate under the name it was made with. Whoever writes is told a name
that they may see, read under the lock that the group holds: a snapshot of their own afterwards took
each writer eight calls of the store. Checklist: C-055.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...resolution.known import Lookup
from ...resolution.names import NameRow, visible_names
from ...resolution.register import Register
from ...schema.principal import Sight
from ...schema.write import Submission
from ..port.receipts import with_names
from ..port.store import WriteTx
from .work import CommitWork


def name_candidates(
    tx: WriteTx,
    group: Sequence[Submission],
    work: CommitWork,
    ids_of_place: Mapping[int, Sequence[str]],
) -> None:
    """Name candidates, raw ids by place in the group, as the writer of each place may see them."""
    ids = sorted({raw for place_ids in ids_of_place.values() for raw in place_ids})
    register = work.register
    if not all(map(register.entity, ids)):
        # A retry was answered before anything was looked up.
        lookup = Lookup(entity_ids=tuple(ids), names_only=True)
        register = Register(tx.known(lookup, scopes=(), tx_us=work.last))

    rows_of_root: dict[str, list[NameRow]] = {}
    for row in tx.name_rows(sorted(register.members_of(ids)), tx_us=work.last):
        rows_of_root.setdefault(register.root(row.entity_id), []).append(row)

    for place, place_ids in ids_of_place.items():
        writer, receipts = group[place].writer, work.results[place]
        assert writer is not None  # else nothing of it is to be named
        assert isinstance(receipts, tuple)
        names = _names(place_ids, rows_of_root, register, writer.sight())
        work.results[place] = tuple([with_names(receipt, names) for receipt in receipts])


def _names(
    ids: Sequence[str],
    rows_of_root: Mapping[str, Sequence[NameRow]],
    register: Register,
    sight: Sight,
) -> dict[str, tuple[str, ...]]:
    """The names of entities that a caller may see, by raw id."""
    names: dict[str, tuple[str, ...]] = {}
    for raw in ids:
        root = register.root(raw)
        names[raw] = visible_names(rows_of_root.get(root, ()), register, sight).get(root, ())
    return names
