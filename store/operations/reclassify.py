"""Reclassify: change who may see an object, at all times at once.

Permissions belong to the object and not to its rows, so a read of the past applies today's.
What was derived from the object may not be wider than it: its dependants are tightened in
the same transaction, and never widened.
"""

from __future__ import annotations

from ...schema.claim import Permissions
from ...schema.operation import ReclassifyReceipt
from ...schema.principal import EVERYONE_TAG
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

    permissions_of = {object_id: permissions}
    dependants = tx.assertions(tx.dependants((object_id,)))
    for dependant, assertion in dependants.items():
        narrow = narrowed_permissions(assertion.permissions, permissions)
        if narrow != assertion.permissions:
            permissions_of[dependant] = narrow

    change.objects += permissions_of
    for affected_id, new_permissions in permissions_of.items():
        change.permissions.append(
            PermissionChange(affected_id, new_permissions, change.stamp, mandate.actor)
        )
    tx.apply(change.batch())
    return ReclassifyReceipt(
        object_id=object_id,
        permissions=permissions,
        tx=change.at,
        tightened=tuple(sorted(permissions_of.keys() - {object_id})),
    )


def narrowed_permissions(target: Permissions, source: Permissions) -> Permissions:
    """Permissions no wider than a source's: highest class, both lists, every denial.

    >>> both = Permissions(allow=("hr", "legal"))
    >>> narrowed_permissions(both, Permissions(allow=("legal",))).allow
    ('legal',)
    """
    own_roles, source_roles = set(target.allow), set(source.allow)
    if EVERYONE_TAG in own_roles:
        roles = source_roles
    elif EVERYONE_TAG in source_roles:
        roles = own_roles
    else:
        roles = own_roles & source_roles

    # An allow list is never empty, so two lists that share no role deny everyone instead.
    deny = set(target.deny) | set(source.deny)
    if not roles:
        deny.add(EVERYONE_TAG)
    return Permissions(
        classification=max(target.classification, source.classification, key=lambda c: c.rank),
        allow=tuple(sorted(roles)) or target.allow,
        deny=tuple(sorted(deny)),
    )
