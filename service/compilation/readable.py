"""Who may look at an envelope that was compiled before, or for somebody else.

Its text is made again for the caller that it records. Whoever looks at it must be allowed to read
today every object in it, and personal data that stands in it whole must be whole for the reader
too: a replay gives the same bytes, so nothing in it can be masked afterwards.
"""

from __future__ import annotations

from ...compiler.envelope.envelope import Envelope
from ...compiler.trace.manifest import Manifest, principal_of, stored_ids
from ...schema.claim import Version, is_personal
from ...schema.errors import Forbidden
from ...schema.policy import Policy
from ...schema.principal import Principal
from ...store.port.store import Ask, Point, Reader
from ..reading.masking import Mask, own_entities


def may_read(reader: Reader, envelope: Envelope, principal: Principal, policy: Policy) -> bool:
    """Whether a caller may read every stored object of an envelope, as whole as it stands there."""
    object_ids = stored_ids(envelope.manifest)
    versions = _visible_versions(reader, envelope.manifest, object_ids, principal)
    if not {version.row.claim.object_id for version in versions}.issuperset(object_ids):
        return False

    return not _shows_masked(reader, envelope.manifest, versions, Mask(principal, policy))


def check_personal_data(
    reader: Reader, envelope: Envelope, principal: Principal, policy: Policy
) -> None:
    """Check that a replay shows no personal data that the caller reads as masked elsewhere.

    Raises:
        Forbidden: `personal_data`.
    """
    object_ids = stored_ids(envelope.manifest)
    versions = _visible_versions(reader, envelope.manifest, object_ids, principal)
    if _shows_masked(reader, envelope.manifest, versions, Mask(principal, policy)):
        raise Forbidden(
            "the text holds personal data that is masked for you; the person it is about may "
            "replay it, or a role of policy.compile.show_personal_to",
            code="personal_data",
        )


def _visible_versions(
    reader: Reader, manifest: Manifest, object_ids: tuple[str, ...], principal: Principal
) -> list[Version]:
    if not object_ids:
        return []

    ask = Ask(objects=object_ids, heads=False, at_valid=False, at_tx=False)
    point = Point(manifest.valid_us, reader.clock().last_us)
    page = reader.versions(ask, sight=principal.sight(), point=point)
    # One object has several rows; its permissions are the same for all of them.
    return [version for version in page.versions if version.visible]


def _shows_masked(
    reader: Reader, manifest: Manifest, versions: list[Version], caller_mask: Mask
) -> bool:
    """Whether something is whole for the caller of the manifest and masked for who looks."""
    personal_versions = [version for version in versions if is_personal(version.details)]
    masked_versions = [row for row in personal_versions if caller_mask.hides(reader, row)]
    if not masked_versions:
        return False

    owner_mask = Mask(principal_of(manifest), caller_mask.policy)
    # Who the owner is may have been judged otherwise since: either answer makes it whole.
    own_ids_then = own_entities(reader, owner_mask.principal, tx_us=manifest.tx_us)
    for version in masked_versions:
        is_own_then = own_ids_then.covers(version.details, owner_mask.principal)
        if is_own_then or not owner_mask.hides(reader, version):
            return True

    return False
