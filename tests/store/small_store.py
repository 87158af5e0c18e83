"""An embedded store with one tenant, and all that it holds as lists and mappings."""

from typing import Any, NamedTuple

from tenure.store.port.records import RecordKind
from tenure.store.port.store import Clock
from tenure.store.sqlite.store import SqliteStore

TENANT = "default"


class State(NamedTuple):
    """What a store holds, by id where a record has one."""

    clock: Clock
    events: list[Any]
    entities: dict[str, Any]
    claims: dict[str, Any]
    rows: dict[int, Any]
    edges: list[Any]
    judgements: dict[str, Any]
    reviews: dict[str, Any]
    actions: dict[str, Any]
    flags: list[Any]


class SmallStore(SqliteStore):
    """A store whose one tenant is there, and is whole when it is closed."""

    def __init__(self) -> None:
        super().__init__(":memory:")
        self.ensure(TENANT)

    @property
    def state(self) -> State:
        with self.reading(TENANT) as reader:
            held: dict[RecordKind, list[Any]] = {k: [*reader.records(k)] for k in RecordKind}
            clock = reader.clock()
        return State(
            clock=clock,
            events=held[RecordKind.EVENT],
            entities={one.entity_id: one for one in held[RecordKind.ENTITY]},
            claims={one.claim.object_id: one for one in held[RecordKind.CLAIM]},
            rows={one.vid: one for one in held[RecordKind.ROW]},
            edges=held[RecordKind.EDGE],
            judgements={one.judgement_id: one for one in held[RecordKind.JUDGEMENT]},
            reviews={one.review_id: one for one in held[RecordKind.REVIEW]},
            actions={one.action_id: one for one in held[RecordKind.ACTION]},
            flags=held[RecordKind.FLAG],
        )

    def close(self) -> None:
        findings = self.check(TENANT)
        super().close()
        assert findings == ()
