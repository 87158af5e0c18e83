"""Exports of conversations become observations, each message once."""

import codecs
import io
import json
import zipfile

import pytest

from tenure import Principal, connect
from tenure.schema.errors import InvalidInput
from tenure.service.documents.chats import read_chats
from tenure.tests.support.refusals import refused


def node(number: int, parent: str | None, role: str, **content: object) -> dict[str, object]:
    message = {"id": f"m{number}", "author": {"role": role}, "create_time": 1_780_000_000.5}
    return {"parent": parent, "message": {**message, "content": content} if role else None}


CHATGPT = [
    {
        "id": "c1",
        "current_node": "n5",
        "mapping": {
            "n1": node(1, None, ""),
            "n2": node(
                2, "n1", "user", parts=[{"asset_pointer": "x"}, {"text": "I live in Lisbon."}]
            ),
            "n3": node(3, "n2", "assistant", parts=["other answer"]),
            "n4": node(4, "n2", "user", parts=[{"asset_pointer": "a picture"}]),
            "n5": node(5, "n4", "assistant", content_type="code", text="Good to know."),
        },
    }
]
CLAUDE = [
    {
        "uuid": "t1",
        "chat_messages": [
            {"uuid": "1", "sender": "human", "text": "Hello", "created_at": "2026-01-02T03:04:05Z"},
            {"uuid": "0", "sender": "human", "text": "", "created_at": "2026-01-02T03:04:05Z"},
            {
                "uuid": "2",
                "sender": "assistant",
                "content": [{"type": "text", "text": "Hi"}, {"type": "tool_use"}],
                "created_at": "2026-01-02T03:04:06Z",
            },
        ],
    }
]
WHATSAPP = (
    "[25.12.25, 21:41:07] Messages are encrypted\n"
    "[25.12.25, 21:41:08] \u200eAna: I live in Lisbon.\n"
    "and like it\n"
    "[25.12.25, 21:42:00] Bo: ok\n"
    "[25.12.25, 21:42:00] Bo: ok\n"
)


def zipped(**files: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in files.items():
            archive.writestr(name.replace("__", "/").replace("_json", ".json"), text)
    return out.getvalue()


def read(data, name="a.json", **options):
    content = data if isinstance(data, bytes) else json.dumps(data).encode()
    return read_chats(content, name, **options)


def test_chatgpt_gives_the_branch_that_was_shown():
    chats = read(CHATGPT)
    assert [(m.author, m.is_agent, m.text) for m in chats.messages] == [
        ("user", False, "I live in Lisbon."),
        ("ChatGPT", True, "Good to know."),
    ]
    assert chats.left_out == {"other_branch": 1, "no_text": 2}
    packed = zipped(conversations_json=json.dumps(CHATGPT), user_json="{}")
    assert read(packed, "export.zip").messages == chats.messages


@pytest.mark.parametrize("moment", ["1e18", '"x"'])
def test_a_damaged_export_is_refused(moment):
    broken = json.dumps(CHATGPT).replace("1780000000.5", moment)
    with pytest.raises(InvalidInput, match="is a damaged export"):
        read(broken.encode())


def test_claude_gives_texts_alone():
    chats = read(CLAUDE)
    assert [(m.author, m.text) for m in chats.messages] == [("user", "Hello"), ("Claude", "Hi")]
    assert chats.left_out == {"no_text": 1, "system_or_tool": 1}


def test_parts_that_are_no_text_are_counted_and_take_no_export_along():
    talk = {"mapping": {"n1": node(1, None, "user", parts=["seen", None, {"asset_pointer": "x"}])}}
    for data in (json.dumps([talk]).encode(), codecs.BOM_UTF8 + json.dumps([talk]).encode()):
        chats = read(data)
        assert [message.text for message in chats.messages] == ["seen"]
        assert chats.left_out == {"no_text": 2}
    said = {"uuid": "1", "sender": "human", "text": "see it", "created_at": "2026-01-02T03:04:05Z"}
    attached = {**said, "attachments": [{"extracted_content": "words"}]}
    assert read([{"uuid": "t", "chat_messages": [attached]}]).left_out == {"attachment": 1}


def test_slack_gives_names_threads_and_no_joins():
    days = [
        {"user": "U1", "text": "hello <@U2>", "ts": "1780000000.000100"},
        {
            "user": "U2",
            "text": "in a thread",
            "ts": "1780000001.0",
            "thread_ts": "1780000000.000100",
        },
        {"subtype": "channel_join", "text": "joined", "ts": "1780000002.0"},
    ]
    users = [{"id": "U1", "name": "ana"}, {"id": "U2", "profile": {"real_name": "Bo Li"}}]
    packed = zipped(users_json=json.dumps(users), **{"general__2026-06-01_json": json.dumps(days)})
    chats = read(packed, "slack.zip")
    assert [(m.conversation, m.author, m.text) for m in chats.messages] == [
        ("general", "ana", "hello Bo Li"),
        ("general/1780000000.000100", "Bo Li", "in a thread"),
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<@U2> and <@U9|guest>", "Bo and guest"),
        ("<https://example.org/a?b&amp;c|the page>", "the page (https://example.org/a?b&c)"),
        ("<https://example.org> &lt;b&gt;", "https://example.org <b>"),
        ("<#C1|general> <!here> <!subteam^S1|@team>", "#general @here @@team"),
    ],
)
def test_slack_shows_links_as_its_own_pages_do(text, shown):
    users = [{"id": "U2", "name": "Bo"}]
    day = [
        {"user": "U7", "user_profile": {"real_name": "Kim"}, "text": text, "ts": "1780000000.1"},
        {"user": "U2", "subtype": "file_share", "text": "with a file", "ts": "1780000001.1"},
    ]
    packed = zipped(users_json=json.dumps(users), **{"general__2026-06-01_json": json.dumps(day)})
    messages = read(packed, "slack.zip").messages
    said = [(message.author, message.text) for message in messages]
    assert said == [("Kim", shown), ("Bo", "with a file")]


@pytest.mark.parametrize(
    "head",
    [
        "31/12/25, 9:05 p. m. - ",
        "31.12.2025 klo 21.05 - ",
        "31/12/2025 à 21:05 - ",
        "2025. 12. 31. 21:05 - ",
        "2025. 12. 31. 오후 9:05, ",
        "2025/12/31 下午9:05 - ",
        "[2025/12/31 21:05:00] ",
        "٣١/١٢/٢٠٢٥، ٩:٠٥ م - ",  # noqa: RUF001
        "31/12/2568 21:05 - ",
        "12/31/25, 9:05\u202fPM - ",
    ],
)
def test_whatsapp_is_read_in_the_dates_of_many_phones(head):
    chats = read("".join(f"{head}Ana: x{n}\n" for n in range(3)).encode(), "chat.txt")
    assert {message.at.isoformat() for message in chats.messages} == {"2025-12-31T21:05:00+00:00"}
    assert [(m.author, m.text) for m in chats.messages] == [("Ana", f"x{n}") for n in range(3)]
    assert chats.warnings == ("zone_assumed",)


def test_whatsapp_reads_both_clocks_and_continued_lines():
    chats = read(WHATSAPP.encode(), "chat.txt", zone="Europe/Berlin")
    assert [(m.author, m.text) for m in chats.messages] == [
        ("Ana", "I live in Lisbon.\nand like it"),
        ("Bo", "ok"),
        ("Bo", "ok"),
    ]
    assert chats.messages[0].at.isoformat() == "2025-12-25T21:41:08+01:00"
    assert len({message.key for message in chats.messages}) == 3
    assert chats.left_out["system_or_tool"] == 1


def test_dates_that_can_be_two_are_refused_until_they_are_stated():
    lines = (
        "".join(f"05/05/25, 10:0{n} - Ana: x\n" for n in range(3)) + "06/05/25, 10:00 - Ana: y\n"
    )
    with refused(InvalidInput, "ambiguous_dates"):
        read(lines.encode(), "chat.txt")
    assert read(lines.encode(), "chat.txt", dates="day").messages[3].at.month == 5
    assert read(lines.encode(), "chat.txt", dates="month").messages[3].at.month == 6
    # The order of the file proves it where only one reading rises.
    proof = "".join(
        f"0{day}/0{month}/25, 10:00 - Ana: x\n" for day, month in ((9, 1), (1, 2), (2, 3))
    )
    assert [m.at.month for m in read(proof.encode(), "chat.txt").messages] == [1, 2, 3]


LOG = b"".join(b"2026-06-0%d 10:00:00 ERROR: disk full\n" % day for day in range(1, 5))


@pytest.mark.parametrize(
    "data", [b"one: two\n\nthree", b"[1, 2]", b"{}", b"%PDF-1.4", b"\xff\xfe", LOG]
)
def test_other_files_are_no_chat(data):
    assert read(data, "a.txt") is None


def test_a_message_is_observed_once_and_only_the_own_ones_are_the_callers():
    with connect(":memory:", principal=Principal(user="ana")) as memory:
        fields = {"name": "chat.txt", "source": "family", "zone": "UTC"}
        report = memory.documents.put(WHATSAPP, own="Ana", **fields)
        assert (report.outcome, report.opened) == ("observed", 3)
        assert memory.documents.put(WHATSAPP, own="Ana", **fields).outcome == "same"
        longer = WHATSAPP + "[26.12.25, 08:00:00] Bo: new\n"
        assert memory.documents.put(longer, own="Ana", **fields).opened == 1
        hits = memory.as_of().search("Lisbon", limit=50).hits
        levels = {hit.object.source_origin: int(hit.object.authority_level) for hit in hits}
        assert levels == {"chat://whatsapp/family/chat.txt": 2}
        others = memory.as_of().search("new ok", limit=50).hits
        assert {int(hit.object.authority_level) for hit in others} == {4}
        assert memory.documents.list() == ()


def test_a_caller_without_a_user_has_no_own_messages():
    with connect(":memory:") as memory, refused(InvalidInput, "scope_missing"):
        memory.documents.put(WHATSAPP, name="chat.txt", own="Ana")
