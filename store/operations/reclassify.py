"""Reclassify: change who may see an object, at all times at once.

Permissions belong to the object and not to its rows, so a read of the past applies today's.
What was derived from the object may not be wider than it: its dependants are tightened in
the same transaction, and never widened. Sources: DESIGN 4; settled 4; checklist C-019, C-020.
"""

from __future__ import annotations

from ...schema.claim import Permissions
from ...schema.operation import ReclassifyReceipt
from ...schema.principal import EVERYONE
from ..port.store import PermissionChange, WriteTx
from .change import Mandate, begin, unknown_object


def reclassify(
    tx: WriteTx, object_id: str, permissions: Permissions, *, mandate: Mandate
) -> ReclassifyReceipt:
    """Set the permissions of an object, and tighten what was derived from it.

    Raises:
        NotFound: `unknown_object`.
    """
    change = begin(tx.lock(), mandate, "reclassify")
    if object_id not in tx.assertions((object_id,)):
        raise unknown_object(object_id)
    wanted = {object_id: permissions}
    for dependant, held in tx.assertions(tx.dependants((object_id,))).items():
        narrow = tightened(held.permissions, permissions)
        if narrow != held.permissions:
            wanted[dependant] = narrow
    change.objects += wanted
    change.permissions += [
        PermissionChange(one, allowed, change.stamp, mandate.actor)
        for one, allowed in wanted.items()
    ]
    tx.apply(change.batch())
    return ReclassifyReceipt(
        object_id=object_id,
        permissions=permissions,
        tx=change.at,
        tightened=tuple(sorted(wanted.keys() - {object_id})),
    )


def tightened(own: Permissions, source: Permissions) -> Permissions:
    """Return permissions no wider than a source's: highest class, both lists, every denial.

    >>> tightened(Permissions(allow=("hr", "legal")), Permissions(allow=("legal",))).allow
    ('legal',)
    """
    mine, theirs = set(own.allow), set(source.allow)
    both = theirs if EVERYONE in mine else mine if EVERYONE in theirs else mine & theirs
    deny = {*own.deny, *source.deny, *(() if both else (EVERYONE,))}
    return Permissions(
        classification=max(own.classification, source.classification, key=lambda c: c.rank),
        allow=tuple(sorted(both)) or own.allow,
        deny=tuple(sorted(deny)),
    )
