"""The tables of a tenant's file, and the triggers that keep history append-only.

One file is one tenant, so no index starts with a tenant column. Claims are numbered in order of
writing, and other tables point at the number. Every text that erasure must empty is in `content`,
or in columns whose triggers allow emptying and nothing else: a version may see one closing, a claim
nothing at all.

Never use REPLACE here: the delete triggers see it only with `recursive_triggers`, which every
connection sets. A partial index serves a query only if the query has its condition as a literal, so
`statements` writes the open end out; it covers the query only if it also has the columns of its
condition (SQLite 3.40). A schema change appends to `MIGRATIONS`.
"""

from __future__ import annotations

from typing import Final

from ...schema.entity import AUDIT, SUGGESTION
from ...schema.interval import INF_US as _OPEN


def append_only(table: str) -> str:
    """Return the triggers of a table that only ever grows."""
    return f"""
CREATE TRIGGER {table}_keep BEFORE DELETE ON {table}
BEGIN SELECT RAISE(ABORT, 'history is append-only: {table}'); END;
CREATE TRIGGER {table}_same BEFORE UPDATE ON {table}
BEGIN SELECT RAISE(ABORT, 'history is append-only: {table}'); END;
"""


def unless(table: str, condition: str, columns: str) -> str:
    """Return the triggers of a table whose rows see one kind of change and no removal."""
    names = columns.split()
    new = ", ".join(f"NEW.{name}" for name in names)
    old = ", ".join(f"OLD.{name}" for name in names)
    return f"""
CREATE TRIGGER {table}_keep BEFORE DELETE ON {table}
BEGIN SELECT RAISE(ABORT, 'history is append-only: {table}'); END;
CREATE TRIGGER {table}_change BEFORE UPDATE ON {table}
WHEN NOT (({condition}) AND ({new}) IS ({old}))
BEGIN SELECT RAISE(ABORT, 'history is append-only: {table}'); END;
"""


APPLICATION_ID: Final = 0x746E7265
"""`tnre`: tells a tenure file from any other SQLite database."""


_RECORD: Final = """
CREATE TABLE meta (one INTEGER PRIMARY KEY CHECK (one = 1), tenant TEXT NOT NULL) STRICT;
CREATE TABLE counter (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  seq INTEGER NOT NULL, last_us INTEGER NOT NULL, next_vid INTEGER NOT NULL,
  vec_seq INTEGER NOT NULL, erasures INTEGER NOT NULL) STRICT;
CREATE TABLE tenant_key (epoch INTEGER PRIMARY KEY, secret BLOB NOT NULL) STRICT;
CREATE TABLE definition (number INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;
CREATE TABLE tx_event (
  seq INTEGER PRIMARY KEY, tx INTEGER NOT NULL UNIQUE, actor TEXT NOT NULL, op TEXT NOT NULL,
  object_ids TEXT NOT NULL, digest BLOB NOT NULL) STRICT;
CREATE TABLE tombstone (
  erasure_id TEXT PRIMARY KEY, tx INTEGER NOT NULL, actor TEXT NOT NULL, reason TEXT NOT NULL,
  object_ids TEXT NOT NULL, entity_ids TEXT NOT NULL) STRICT;
"""

_ENTITY: Final = f"""
CREATE TABLE entity (
  entity_id TEXT PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL, state TEXT NOT NULL,
  scope_id TEXT NOT NULL, tx_start INTEGER NOT NULL, created_by TEXT NOT NULL,
  recorded INTEGER NOT NULL) STRICT;
CREATE INDEX entity_by_type ON entity (type, entity_id);
CREATE TABLE alias (
  alias_id INTEGER PRIMARY KEY, entity_id TEXT NOT NULL REFERENCES entity, surface TEXT NOT NULL,
  norm TEXT NOT NULL, type TEXT NOT NULL, scope_id TEXT NOT NULL, ordinal INTEGER NOT NULL,
  valid_from INTEGER NOT NULL, valid_until INTEGER NOT NULL,
  tx_start INTEGER NOT NULL, tx_end INTEGER NOT NULL, object_id TEXT NOT NULL, merge_id TEXT,
  CHECK (valid_from < valid_until), CHECK (tx_start < tx_end)) STRICT;
CREATE INDEX alias_by_norm ON alias (norm, scope_id, tx_start);
CREATE INDEX alias_by_entity ON alias (entity_id);
CREATE UNIQUE INDEX alias_key ON alias (norm, scope_id, type, ordinal, valid_from)
  WHERE tx_end = {_OPEN};
CREATE TABLE identifier (
  identifier_id INTEGER PRIMARY KEY, entity_id TEXT NOT NULL REFERENCES entity,
  scheme TEXT NOT NULL, value TEXT NOT NULL, tx_start INTEGER NOT NULL, tx_end INTEGER NOT NULL,
  scope_id TEXT NOT NULL, object_id TEXT NOT NULL, CHECK (tx_start < tx_end)) STRICT;
CREATE INDEX identifier_by_value ON identifier (scheme, value, scope_id);
CREATE UNIQUE INDEX identifier_by_entity
  ON identifier (entity_id, scheme, value, scope_id, object_id);
CREATE TABLE norm (norm_id INTEGER PRIMARY KEY, norm TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE block_key (
  k TEXT NOT NULL, norm_id INTEGER NOT NULL REFERENCES norm, kind TEXT NOT NULL,
  PRIMARY KEY (k, norm_id)) STRICT, WITHOUT ROWID;
CREATE INDEX block_key_by_norm ON block_key (norm_id);
CREATE TABLE block_count (
  k TEXT PRIMARY KEY, kind TEXT NOT NULL, postings INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE judgement (
  judgement_id TEXT PRIMARY KEY, merge_id TEXT, left_id TEXT NOT NULL REFERENCES entity,
  right_id TEXT NOT NULL REFERENCES entity, verdict TEXT NOT NULL, judged_by TEXT NOT NULL,
  actor TEXT NOT NULL, score REAL, log_odds REAL, evidence TEXT NOT NULL,
  model_version TEXT NOT NULL, reason TEXT NOT NULL, tx_start INTEGER NOT NULL,
  tx_end INTEGER NOT NULL, CHECK (tx_start < tx_end)) STRICT;
CREATE INDEX judgement_by_left ON judgement (left_id, tx_start);
CREATE INDEX judgement_by_right ON judgement (right_id, tx_start);
CREATE INDEX judgement_by_merge ON judgement (merge_id);
CREATE TABLE canonical (raw_id TEXT PRIMARY KEY, canonical_id TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX canonical_members ON canonical (canonical_id);
CREATE TABLE review (
  review_id TEXT NOT NULL, version INTEGER NOT NULL, entity_id TEXT NOT NULL,
  mention TEXT NOT NULL, type TEXT NOT NULL, scope_id TEXT NOT NULL, candidates TEXT NOT NULL,
  reason TEXT NOT NULL, object_id TEXT NOT NULL, state TEXT NOT NULL, opened_tx INTEGER NOT NULL,
  decided_tx INTEGER, decided_by TEXT, decided_entity TEXT, merge_id TEXT, note TEXT NOT NULL,
  PRIMARY KEY (review_id, version)) STRICT;
CREATE INDEX review_by_entity ON review (entity_id);
"""

_CLAIM: Final = """
CREATE TABLE slot (
  slot_id INTEGER PRIMARY KEY, slot_key TEXT NOT NULL UNIQUE, subject_id TEXT, slot TEXT,
  scope_id TEXT NOT NULL, many INTEGER NOT NULL) STRICT;
CREATE INDEX slot_of_subject ON slot (subject_id, slot, scope_id, many);
CREATE INDEX slot_by_name ON slot (slot);
CREATE INDEX slot_by_scope ON slot (scope_id);
CREATE TABLE permit (
  permit_id INTEGER PRIMARY KEY, scope_id TEXT NOT NULL, class_rank INTEGER NOT NULL,
  allow TEXT NOT NULL, deny TEXT NOT NULL, UNIQUE (scope_id, class_rank, allow, deny)) STRICT;
CREATE TABLE claim (
  claim_id INTEGER PRIMARY KEY, object_id TEXT NOT NULL UNIQUE,
  slot_id INTEGER NOT NULL REFERENCES slot, op TEXT NOT NULL,
  valid_from INTEGER NOT NULL, valid_until INTEGER NOT NULL, since_us INTEGER NOT NULL,
  level INTEGER NOT NULL, source_authority INTEGER NOT NULL, confidence INTEGER NOT NULL,
  tx INTEGER NOT NULL, ordinal INTEGER NOT NULL, target TEXT, quarantine TEXT NOT NULL,
  scope_id TEXT NOT NULL, slot TEXT, subject_id TEXT, value_entity_id TEXT,
  authority_level INTEGER NOT NULL, source_origin TEXT NOT NULL, source_kind TEXT NOT NULL,
  object_type TEXT NOT NULL, layer TEXT NOT NULL, applicable_task_types TEXT NOT NULL,
  sensitivity TEXT NOT NULL, half_life_days REAL, minimum_threshold REAL,
  retirement_rule TEXT NOT NULL, update_path TEXT NOT NULL, derived_from TEXT NOT NULL,
  origins TEXT NOT NULL, planned INTEGER NOT NULL, actor TEXT NOT NULL,
  resolved_via TEXT NOT NULL, writer_user TEXT, writer_session TEXT, directs INTEGER NOT NULL,
  turn INTEGER, CHECK (valid_from < valid_until)) STRICT;
CREATE TABLE claim_signature (
  claim_id INTEGER PRIMARY KEY REFERENCES claim, signature TEXT NOT NULL) STRICT;
CREATE INDEX claim_by_slot ON claim (slot_id, tx, ordinal);
CREATE INDEX claim_by_value ON claim (value_entity_id) WHERE value_entity_id IS NOT NULL;
CREATE INDEX claim_text_about ON claim (subject_id) WHERE slot IS NULL AND subject_id IS NOT NULL;
CREATE INDEX claim_standing ON claim (object_type, scope_id) WHERE object_type IN
  ('policy_rule', 'tool_schema', 'preference', 'actionable_constraint', 'project_decision');
CREATE INDEX claim_standing_subject ON claim (scope_id, slot, subject_id, object_type)
  WHERE object_type IN ('preference', 'actionable_constraint', 'project_decision')
  AND slot IS NOT NULL AND subject_id IS NOT NULL;
CREATE UNIQUE INDEX claim_turn ON claim (scope_id, turn) WHERE turn IS NOT NULL;
CREATE INDEX claim_decays ON claim (claim_id) WHERE half_life_days IS NOT NULL;
CREATE TABLE content (
  claim_id INTEGER PRIMARY KEY REFERENCES claim, value_key TEXT NOT NULL,
  value_json TEXT NOT NULL, text TEXT NOT NULL, normalized_claim TEXT NOT NULL,
  why_it_matters TEXT NOT NULL, behavioral_implication TEXT, enforcement TEXT,
  terms TEXT NOT NULL) STRICT;
CREATE TABLE value_claim (
  slot_id INTEGER NOT NULL REFERENCES slot, value_key TEXT NOT NULL,
  claim_id INTEGER NOT NULL REFERENCES content,
  PRIMARY KEY (slot_id, value_key, claim_id)) STRICT, WITHOUT ROWID;
CREATE INDEX value_of_claim ON value_claim (claim_id);
CREATE TABLE mention (
  claim_id INTEGER NOT NULL REFERENCES claim, start INTEGER NOT NULL, until INTEGER NOT NULL,
  entity_id TEXT NOT NULL REFERENCES entity, PRIMARY KEY (claim_id, start),
  CHECK (0 <= start AND start < until)) STRICT, WITHOUT ROWID;
CREATE INDEX mention_by_entity ON mention (entity_id, claim_id);
CREATE TABLE object_permit (
  claim_id INTEGER PRIMARY KEY REFERENCES claim,
  permit_id INTEGER NOT NULL REFERENCES permit) STRICT;
CREATE TABLE permission_change (
  change_id INTEGER PRIMARY KEY, claim_id INTEGER NOT NULL REFERENCES claim,
  permit_id INTEGER NOT NULL REFERENCES permit, tx INTEGER NOT NULL, actor TEXT NOT NULL) STRICT;
CREATE TABLE edge (
  edge_id INTEGER PRIMARY KEY, kind TEXT NOT NULL, src_id INTEGER NOT NULL REFERENCES claim,
  dst_id INTEGER NOT NULL REFERENCES claim, valid_from INTEGER NOT NULL,
  valid_until INTEGER NOT NULL, reason TEXT NOT NULL, relation TEXT NOT NULL,
  tx INTEGER NOT NULL, merge_id TEXT, CHECK (valid_from < valid_until)) STRICT;
CREATE INDEX edge_from ON edge (src_id, tx);
CREATE INDEX edge_to ON edge (dst_id, kind, tx);
CREATE INDEX edge_confirms ON edge (dst_id, tx, kind) WHERE kind = 'CONFIRMS';
CREATE TABLE flag (
  flag_id INTEGER PRIMARY KEY, claim_id INTEGER NOT NULL REFERENCES claim, kind TEXT NOT NULL,
  is_on INTEGER NOT NULL, tx INTEGER NOT NULL) STRICT;
CREATE INDEX flag_by_claim ON flag (claim_id, kind, tx);
CREATE VIEW searchable (claim_id, terms) AS
SELECT d.claim_id, d.terms || ' ' || char(57344) || lower(hex(c.scope_id))
FROM content d CROSS JOIN claim c ON c.claim_id = d.claim_id WHERE d.terms <> '';
CREATE VIRTUAL TABLE text_all USING fts5 (terms, content = 'searchable', content_rowid = 'claim_id',
  tokenize = 'ascii', detail = none, columnsize = 0);
CREATE VIRTUAL TABLE text_live USING fts5 (terms, content = 'searchable',
  content_rowid = 'claim_id', tokenize = 'ascii', detail = none, columnsize = 0);
CREATE TABLE live (claim_id INTEGER PRIMARY KEY REFERENCES content) STRICT;
"""
"""An index holds next to the words of a text its scope as a word of its own (`codec.scope_word`),
so that a search looks at what its caller may read alone. `value_claim` leads a write to a slot of
many values to the claims of its own value; an erasure empties it. What was said has a `turn`,
numbered by scope: what others write does not come between two turns."""

_VERSION: Final = f"""
CREATE TABLE version (
  vid INTEGER PRIMARY KEY, slot_id INTEGER NOT NULL REFERENCES slot,
  claim_id INTEGER NOT NULL REFERENCES claim,
  valid_from INTEGER NOT NULL, valid_until INTEGER NOT NULL,
  tx_start INTEGER NOT NULL, tx_end INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('clean', 'disputed', 'overridden', 'quarantined')),
  reason TEXT NOT NULL, head INTEGER NOT NULL CHECK (head IN (0, 1)),
  deny INTEGER NOT NULL CHECK (deny IN (0, 1)), continues INTEGER,
  CHECK (valid_from < valid_until), CHECK (tx_start < tx_end)) STRICT;
CREATE INDEX version_open ON version
  (slot_id, valid_until, valid_from, status, deny, head, tx_end)
  WHERE head = 1 AND tx_end = {_OPEN};
CREATE INDEX version_open_rest ON version (slot_id, deny, valid_until)
  WHERE head = 0 AND tx_end = {_OPEN};
CREATE INDEX version_by_valid
  ON version (slot_id, valid_from DESC, tx_start, tx_end, valid_until, status, deny, head)
  WHERE head = 1;
CREATE INDEX version_by_claim ON version (claim_id, tx_end, head);
CREATE INDEX version_began ON version (tx_start);
CREATE INDEX version_ended ON version (tx_end) WHERE tx_end < {_OPEN};
"""

_WORK: Final = f"""
CREATE TABLE action (
  action_id TEXT PRIMARY KEY, kind TEXT NOT NULL, object_id TEXT NOT NULL, slot_key TEXT,
  valid_from INTEGER NOT NULL, valid_until INTEGER NOT NULL, members TEXT NOT NULL,
  detail TEXT NOT NULL, tx_start INTEGER NOT NULL, tx_end INTEGER NOT NULL,
  outcome TEXT NOT NULL, closed_by TEXT NOT NULL, CHECK (tx_start < tx_end)) STRICT;
CREATE INDEX action_open ON action (tx_start) WHERE tx_end = {_OPEN};
CREATE INDEX action_by_slot ON action (slot_key, tx_end);
CREATE INDEX action_by_object ON action (object_id, tx_end);
CREATE TABLE receipt (
  receipt_id INTEGER PRIMARY KEY, object_id TEXT NOT NULL UNIQUE, tx INTEGER NOT NULL,
  body TEXT NOT NULL, idempotency_key TEXT UNIQUE, fingerprint TEXT NOT NULL) STRICT;
CREATE TABLE vector (
  vec_seq INTEGER PRIMARY KEY, claim_id INTEGER NOT NULL REFERENCES content,
  encoder_id TEXT NOT NULL, part TEXT NOT NULL, vec16 BLOB NOT NULL) STRICT;
CREATE UNIQUE INDEX vector_key ON vector (claim_id, encoder_id, part);
CREATE TABLE pack (digest TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE manifest (
  number INTEGER PRIMARY KEY, envelope_id TEXT NOT NULL UNIQUE, body TEXT NOT NULL,
  pack TEXT NOT NULL) STRICT;
CREATE TABLE compiled (
  number INTEGER NOT NULL REFERENCES manifest, place INTEGER NOT NULL, object_id TEXT NOT NULL,
  PRIMARY KEY (number, place)) STRICT, WITHOUT ROWID;
CREATE INDEX compiled_by_object ON compiled (object_id, number);
CREATE TABLE usage (
  object_id TEXT PRIMARY KEY, uses INTEGER NOT NULL,
  last_us INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE import_journal (
  one INTEGER PRIMARY KEY CHECK (one = 1), digest TEXT NOT NULL, applied INTEGER NOT NULL,
  total INTEGER NOT NULL) STRICT;
"""

_SESSION: Final = """
CREATE TABLE session_event (
  session TEXT NOT NULL, seq INTEGER NOT NULL CHECK (seq > 0), kind TEXT NOT NULL,
  actor TEXT NOT NULL, last_us INTEGER NOT NULL, recorded_us INTEGER NOT NULL,
  body TEXT NOT NULL, digest BLOB NOT NULL, PRIMARY KEY (session, seq)) STRICT, WITHOUT ROWID;
CREATE TABLE session_text (
  session TEXT NOT NULL, seq INTEGER NOT NULL, part INTEGER NOT NULL, digest BLOB NOT NULL,
  text TEXT, PRIMARY KEY (session, seq, part),
  FOREIGN KEY (session, seq) REFERENCES session_event) STRICT;
CREATE TABLE session_snapshot (
  session TEXT NOT NULL, seq INTEGER NOT NULL, seal BLOB NOT NULL, body TEXT NOT NULL,
  PRIMARY KEY (session, seq), FOREIGN KEY (session, seq) REFERENCES session_event) STRICT;
"""

_SCHEME_OF_ORIGIN: Final = "substr({row}source_origin, 1, instr({row}source_origin, '://') + 2)"
"""What an erasure leaves of an origin: the address behind it may name somebody."""
EMPTY_PATHS: Final = (
    "UPDATE claim SET update_path = '', origins = '[]', source_origin = "
    + _SCHEME_OF_ORIGIN.format(row="")
)


_CLOSES: Final = f"OLD.tx_end = {_OPEN} AND NEW.tx_end BETWEEN OLD.tx_start + 1 AND {_OPEN} - 1"
_STAYS: Final = "NEW.tx_end = OLD.tx_end"

_ORIGIN_EMPTIED: Final = (
    "NEW.update_path = '' AND NEW.origins = '[]' AND NEW.source_origin = "
    + _SCHEME_OF_ORIGIN.format(row="OLD.")
)
_CLAIM_STAYS: Final = (
    "claim_id object_id slot_id op valid_from valid_until since_us level source_authority"
    " confidence tx ordinal target quarantine scope_id slot subject_id value_entity_id"
    " authority_level source_kind object_type layer applicable_task_types sensitivity"
    " half_life_days minimum_threshold retirement_rule derived_from planned actor resolved_via"
    " writer_user writer_session directs turn"
)

_CONTENT_SAME: Final = """
CREATE TRIGGER content_same BEFORE UPDATE ON content
BEGIN SELECT RAISE(ABORT, 'content is never changed, only emptied'); END;
"""

_GUARDS: Final = (
    "".join(
        (
            *map(
                append_only,
                "meta definition tx_event tombstone slot permit mention session_event edge"
                " permission_change flag pack compiled".split(),
            ),
            unless(
                "version",
                _CLOSES,
                "vid slot_id claim_id valid_from valid_until tx_start status reason head deny"
                " continues",
            ),
            unless(
                "judgement",
                f"({_CLOSES}) AND NEW.evidence = OLD.evidence"
                f" OR ({_STAYS}) AND NEW.evidence = '{{}}'",
                "judgement_id merge_id left_id right_id verdict judged_by actor score log_odds"
                " model_version reason tx_start",
            ),
            unless(
                "action",
                f"({_CLOSES}) AND NEW.detail = OLD.detail"
                f" OR ({_STAYS}) AND NEW.detail = '{{}}'"
                " AND (NEW.outcome, NEW.closed_by) IS (OLD.outcome, OLD.closed_by)",
                "action_id kind object_id slot_key valid_from valid_until members tx_start",
            ),
            unless(
                "review",
                "NEW.mention = '' AND NEW.candidates = '[]' AND NEW.note = ''",
                "review_id version entity_id type scope_id reason object_id state opened_tx"
                " decided_tx decided_by decided_entity merge_id",
            ),
            unless(
                "receipt",
                "NEW.body = '' AND NEW.fingerprint = '' OR NEW.fingerprint = OLD.fingerprint"
                " AND NEW.body GLOB '{*}' AND length(NEW.body) < length(OLD.body)",
                "receipt_id object_id tx idempotency_key",
            ),
            unless("claim", _ORIGIN_EMPTIED, _CLAIM_STAYS),
            unless("session_text", "NEW.text IS NULL", "session seq part digest"),
            unless("manifest", "NEW.body = ''", "number envelope_id pack"),
        )
    )
    + _CONTENT_SAME
    + f"""
CREATE TRIGGER alias_close BEFORE UPDATE ON alias
WHEN NOT ({_CLOSES} AND (NEW.alias_id, NEW.entity_id, NEW.surface, NEW.norm, NEW.type,
  NEW.scope_id, NEW.ordinal, NEW.valid_from, NEW.valid_until, NEW.tx_start, NEW.object_id,
  NEW.merge_id)
  IS (OLD.alias_id, OLD.entity_id, OLD.surface, OLD.norm, OLD.type, OLD.scope_id, OLD.ordinal,
  OLD.valid_from, OLD.valid_until, OLD.tx_start, OLD.object_id, OLD.merge_id))
BEGIN SELECT RAISE(ABORT, 'history is append-only: alias'); END;
CREATE TRIGGER alias_keep BEFORE DELETE ON alias
WHEN (SELECT state FROM entity WHERE entity_id = OLD.entity_id) <> 'erased'
  AND NOT EXISTS (SELECT 1 FROM claim c WHERE c.object_id = OLD.object_id
    AND c.claim_id NOT IN (SELECT claim_id FROM content))
BEGIN SELECT RAISE(ABORT, 'history is append-only: alias'); END;
CREATE TRIGGER identifier_same BEFORE UPDATE ON identifier
BEGIN SELECT RAISE(ABORT, 'history is append-only: identifier'); END;
CREATE TRIGGER identifier_keep BEFORE DELETE ON identifier
WHEN (SELECT state FROM entity WHERE entity_id = OLD.entity_id) <> 'erased'
BEGIN SELECT RAISE(ABORT, 'history is append-only: identifier'); END;
CREATE TRIGGER entity_keep BEFORE DELETE ON entity
BEGIN SELECT RAISE(ABORT, 'history is append-only: entity'); END;
CREATE TRIGGER key_same BEFORE UPDATE ON tenant_key
BEGIN SELECT RAISE(ABORT, 'a secret key is never changed'); END;
CREATE TRIGGER key_keep BEFORE DELETE ON tenant_key WHEN (SELECT seq FROM counter) > 0
BEGIN SELECT RAISE(ABORT, 'a secret key is never deleted'); END;
CREATE TRIGGER counter_rises BEFORE UPDATE ON counter
WHEN NEW.seq < OLD.seq OR NEW.last_us < OLD.last_us OR NEW.next_vid < OLD.next_vid
  OR NEW.vec_seq < OLD.vec_seq OR NEW.erasures < OLD.erasures
BEGIN SELECT RAISE(ABORT, 'a counter never goes back'); END;
"""
)

_CERTAIN_START: Final = f"""
ALTER TABLE claim ADD COLUMN certain_us INTEGER;
DROP TRIGGER claim_keep;
DROP TRIGGER claim_change;
{unless("claim", _ORIGIN_EMPTIED, f"{_CLAIM_STAYS} certain_us")}"""

_WAITING: Final = f"""
CREATE INDEX review_by_object ON review (object_id);
CREATE INDEX alias_closed ON alias (object_id) WHERE tx_end < {_OPEN};
CREATE TABLE waiting (
  review_id TEXT PRIMARY KEY, actor TEXT NOT NULL,
  claim_id INTEGER NOT NULL REFERENCES claim) STRICT, WITHOUT ROWID;
CREATE INDEX waiting_by_actor ON waiting (actor, claim_id);
CREATE TRIGGER review_waits AFTER INSERT ON review BEGIN
  DELETE FROM waiting WHERE review_id = NEW.review_id;
  INSERT INTO waiting SELECT NEW.review_id, c.actor, c.claim_id FROM claim c
  WHERE c.object_id = NEW.object_id AND NEW.state IN ('open', 'undone')
    AND NEW.reason NOT IN ('{SUGGESTION}', '{AUDIT}');
END;
INSERT INTO waiting SELECT r.review_id, c.actor, c.claim_id
FROM review r JOIN claim c ON c.object_id = r.object_id
WHERE r.version = (SELECT max(n.version) FROM review n WHERE n.review_id = r.review_id)
  AND r.state IN ('open', 'undone') AND r.reason NOT IN ('{SUGGESTION}', '{AUDIT}');
"""
"""The blocking cases that wait, with the claims that opened them: a source may open so many."""

_TERMS: Final = f"""
DROP TRIGGER content_same;
UPDATE content SET terms = stemmed_again(terms) WHERE terms <> stemmed_again(terms);
{_CONTENT_SAME}
INSERT INTO text_all (text_all) VALUES ('rebuild');
INSERT INTO text_live (text_live) VALUES ('delete-all');
INSERT INTO text_live (rowid, terms)
SELECT s.claim_id, s.terms FROM live l CROSS JOIN searchable s ON s.claim_id = l.claim_id;
"""
"""Terms of version 3: German plurals and compounds."""

FIRST_VERSION: Final = 16
"""The version of the schema below; a file of an older one comes over by export and import."""

MIGRATIONS: Final = (
    (_RECORD, _ENTITY, _CLAIM, _VERSION, _WORK, _SESSION, _GUARDS),
    (_CERTAIN_START,),
    (_WAITING,),
    (_TERMS,),
)
"""The statements of `FIRST_VERSION`, and those that lead from each version to the next."""

SCHEMA_VERSION: Final = FIRST_VERSION + len(MIGRATIONS) - 1
"""What this code reads and writes; a file with a higher number is refused."""
