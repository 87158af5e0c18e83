"""Google ADK: lay an envelope over the request that goes to the model.

    agent = LlmAgent(..., before_model_callback=before_model(memory, "code_generation"))

The callback reads the user's words from the request, compiles, and rewrites it: instruction and
tools are replaced, the last contents before the user's turn stay as they are, the text of that
turn becomes the envelope's turn zone, and parts that are no text (pictures, files, function
calls) are kept. A request that was rewritten before is rewritten again, never stacked.
The run's state says more about the step (`adk_state`), and `record` is told each rewrite's ids.
The history is ADK's own: it is not compiled, so that nothing is said twice.
Source 001, "ADK integration"; checklist C-198, C-200, C-221 to C-224; google-adk 2.13.0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final

from ...compiler.format.grammar import parse_envelope
from ...compiler.render.adk import turn_parts
from ...schema.compile_terms import SECTIONS, SectionName, Stability
from ...schema.errors import Fault, InvalidInput
from .adk_state import Record, allowed_tools, correlation, given_of

if TYPE_CHECKING:
    from ...compiler.envelope.envelope import Envelope
    from ...compiler.render.media import Originals
    from ..client.memory import Memory

KEEP_CONTENTS: Final = 5
"""Contents of the conversation that stay before the user's turn (C-222)."""


def before_model(
    memory: Memory,
    task: str,
    *,
    keep: int = KEEP_CONTENTS,
    record: Record | None = None,
    media: Originals | bool = True,
    **options: Any,
) -> Callable[..., None]:
    """Return an ADK `before_model_callback` that compiles and rewrites each request.

    `given` goes to `memory.compile`, over what the run's state says; `user_request` and `query`
    are the user's own words unless they are stated there, `model` is the request's. `record` is
    called after each rewrite. Media of the envelope are laid beside its text as `memory.media`
    makes them ready; `media` may bring originals of what is no artifact, and False leaves all out.
    """

    def callback(callback_context: Any, llm_request: Any) -> None:
        words = user_text(llm_request)
        state = getattr(callback_context, "state", None)
        known = {} if state is None else given_of(state)
        request: dict[str, Any] = {"query": words, "user_request": words, **known, **options}
        if llm_request.model and "model" not in request:
            request["model"] = llm_request.model

        envelope = memory.compile(task, **request)
        originals = None if isinstance(media, bool) else media
        ready = None if media is False else memory.media(envelope, originals=originals)
        rewrite(llm_request, envelope, keep=keep, media=ready)
        if state is None:
            return

        limit_tools(llm_request, state)
        if record is not None:
            record(correlation(callback_context, envelope))

    return callback


def limit_tools(llm_request: Any, state: Any) -> None:
    """Leave a request only the functions that the state's step may call, in place."""
    tools: list[Any] = list(llm_request.config.tools or ())
    for tool in tools:
        declarations = getattr(tool, "function_declarations", None)
        if not declarations:
            continue
        names = allowed_tools(state, [function.name for function in declarations])
        tool.function_declarations = [f for f in declarations if f.name in names]

    names = allowed_tools(state, llm_request.tools_dict)
    llm_request.tools_dict = {name: llm_request.tools_dict[name] for name in names}


def user_text(llm_request: Any) -> str:
    """Return what the user said last, without what an earlier rewrite put around it."""
    turn = _last_user(list(llm_request.contents))
    if turn is None:
        return ""

    parts = llm_request.contents[turn].parts or ()
    blocks = _blocks(_text_of(parts))
    if not blocks:
        return "\n".join(part.text for part in parts if part.text)

    for block in blocks:
        if block.section == SectionName.USER_REQUEST.value:
            text: str = block.text
            return text
    return ""


def rewrite(
    llm_request: Any,
    envelope: Envelope,
    *,
    keep: int = KEEP_CONTENTS,
    media: Originals | None = None,
) -> None:
    """Rewrite an `LlmRequest` in place; `media` is what is sent beside the text, if anything.

    Raises:
        InvalidInput: `bad_request`, for a negative `keep`; `bad_media` for media that cannot be
            sent as planned. The request is then as it was.
    """
    types: Any = import_module("google.genai.types")  # comes with the caller's ADK
    if keep < 0:
        raise InvalidInput("keep at least 0 contents", code="bad_request")

    adk_request: Mapping[str, Any] = envelope.render("adk")
    turn_media = [types.Part.model_validate(part) for part in turn_parts(envelope.plan, media)]
    config = adk_request["config"]
    stable = [config["system_instruction"], *adk_request["_dynamic_instructions"]]
    llm_request.config.system_instruction = "".join(stable)
    llm_request.config.tools = _tools(llm_request, config.get("tools", []), types)
    answer = config.get("response_json_schema")
    # The agent's own schema stays, and Gemini takes none beside functions.
    if answer and not (llm_request.config.tools or llm_request.config.response_schema):
        llm_request.config.response_mime_type = config["response_mime_type"]
        llm_request.config.response_json_schema = answer
    contents = list(llm_request.contents)
    turn = _last_user(contents)
    before = contents if turn is None else contents[:turn]
    after = [] if turn is None else contents[turn + 1 :]
    before = [content for content in before if not _ours(content)]
    session = envelope.plan.text_of(Stability.SESSION)
    opening = [types.Content(role="user", parts=[types.Part(text=session)])] if session else []
    extras = [] if turn is None else _other_parts(contents[turn].parts or ())
    last = types.Content(role="user", parts=[*extras, *turn_media])
    llm_request.contents = [*opening, *_tail(before, keep), last, *after]


def _tools(llm_request: Any, declarations: list[Any], types: Any) -> list[Any]:
    """Return the envelope's tools, and ADK's own that are no functions (search, code execution).

    A request whose envelope holds no tool keeps its tools: there is nothing to replace them by.
    """
    present = list(llm_request.config.tools or [])
    if not declarations:
        return present

    tools: list[Any] = []
    for tool in present:
        if not getattr(tool, "function_declarations", None):
            tools.append(tool)
    for declaration in declarations:
        tools.append(types.Tool.model_validate(declaration))
    return tools


def _tail(contents: list[Any], keep: int) -> list[Any]:
    """Return the last contents, never parting a function's answer from its call."""
    start = max(0, len(contents) - keep)
    while 0 < start < len(contents) and _answers(contents[start]):
        start -= 1

    return contents[start:]


def _answers(content: Any) -> bool:
    return any(part.function_response is not None for part in content.parts or ())


def _last_user(contents: list[Any]) -> int | None:
    """Return the place of the user's last own turn; a function's answer is none."""
    for place in range(len(contents) - 1, -1, -1):
        content = contents[place]
        if content.role == "user" and not _answers(content) and not _ours(content):
            return place
    return None


def _other_parts(parts: Sequence[Any]) -> list[Any]:
    """Return the user's own parts that are no text; of an earlier rewrite those before its text.

    What stands between the texts of a rewrite are the media of its envelope.
    """
    if _blocks(_text_of(parts)):
        return [*takewhile(lambda part: not part.text, parts)]
    return [part for part in parts if not part.text]


def _text_of(parts: Sequence[Any]) -> str:
    return "".join(part.text or "" for part in parts)


def _ours(content: Any) -> bool:
    """Tell whether a content is the session zone of an earlier rewrite."""
    zones: set[Stability] = set()
    for block in _blocks(_text_of(content.parts or ())):
        section = SECTIONS[SectionName(block.section)]
        zones.add(section.stability)
    return zones == {Stability.SESSION}


def _blocks(text: str) -> tuple[Any, ...]:
    try:
        return parse_envelope(text)
    except (InvalidInput, Fault):
        return ()
