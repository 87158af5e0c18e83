"""Taking in the messages of an exported conversation, each once."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from urllib.parse import quote

from ...schema.entity import EntityRef
from ...schema.errors import InvalidInput
from ...schema.values import canonical_json
from ..backend.caller import Caller
from ..writing.observe import Observation, Observer, own_entity
from ..writing.write import Writer
from .chats import ChatExport, ChatMessage
from .records import DocumentReport
from .terms import Terms


@dataclass(frozen=True, slots=True)
class ChatKeeper(Caller):
    """Takes in the messages of exported conversations."""

    def observe(self, chats: ChatExport, name: str, terms: Terms) -> DocumentReport:
        """Observe the messages that are not stored yet; those of nobody stated are data.

        Raises:
            InvalidInput: `scope_missing`, where `own` is stated and the caller is no user.
        """
        if terms.own is not None and self.principal.user is None:
            raise InvalidInput(
                "own= says which author the caller is: bind a principal with a user",
                code="scope_missing",
            )

        observer = Observer(self._backend, self.principal)
        writer = Writer(self._backend, self.principal)
        count = 0
        for message in chats.messages:
            observation = self._observation(message, chats.program, name, terms)
            object_id = writer.object_id(observer.passage(observation))
            with self._reading() as reader:
                is_stored = bool(self._rows_of(reader, [object_id]))
            if not is_stored:
                count += 1
                if not terms.check:
                    observer.observe(observation)

        return DocumentReport(
            name=name,
            title=chats.program,
            outcome="observed" if count else "same",
            opened=count,
            kept=len(chats.messages) - count,
            dropped=dict(chats.left_out),
            warnings=chats.warnings,
        )

    def _observation(
        self, message: ChatMessage, program: str, name: str, terms: Terms
    ) -> Observation:
        conversation = quote(message.conversation, safe="/")
        if message.is_agent:
            speaker, origin = None, f"agent://{quote(message.author, safe='')}"
        elif message.author == terms.own:
            speaker, origin = own_entity(self.principal), f"chat://{program}/{conversation}"
        else:
            # What others said is read as a file is: at level 4, and it directs nobody.
            speaker = EntityRef(name=message.author, type="person")
            scheme = "slack" if program == "slack" else "doc"
            origin = f"{scheme}://{terms.source or program}/{conversation}"

        key = canonical_json([program, terms.source or name, message.conversation, message.key])
        return Observation(
            text=message.text,
            speaker=speaker,
            source_origin=origin,
            at=message.at,
            why_it_matters=None,
            applicable_task_types=(),
            idempotency_key=f"chat/{hashlib.sha256(key.encode()).hexdigest()}",
        )
