"""What faces show of an envelope: its reasons, figures, parts and differences.

A face imports the service and the schema alone; these names of the compiler are part of what the
service hands out. They load the compiler, so a face that seldom shows an envelope imports late.
"""

from __future__ import annotations

from ...compiler.envelope.compare import Ablation as Ablation
from ...compiler.envelope.compare import EnvelopeDiff as EnvelopeDiff
from ...compiler.envelope.compare import diff_envelopes as diff_envelopes
from ...compiler.envelope.envelope import Envelope as Envelope
from ...compiler.explain import page as page
from ...compiler.explain.charts import budget_bar as budget_bar
from ...compiler.explain.report import Omission as Omission
from ...compiler.explain.report import entries as entries
from ...compiler.explain.report import head_facts as head_facts
from ...compiler.explain.report import omissions as omissions
from ...compiler.explain.report import question_of as question_of
from ...compiler.explain.report import reason_words as reason_words
from ...compiler.format.grammar import parse_envelope as parse_envelope
from ...compiler.media.table import measures as measures
from ...compiler.media.table import media_type_of as media_type_of
from ...compiler.render.media import Originals as Originals
from ...compiler.render.providers import turn_parts as turn_parts
from ...compiler.request.request import MediaKind as MediaKind
from ...compiler.tokens.counting import ExactCounter as ExactCounter
from ...compiler.trace.accounting import StageAccount as StageAccount
from ...compiler.trace.manifest import stored_ids as stored_ids
from ...compiler.trace.metrics import stands as stands
