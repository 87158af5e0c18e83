"""What each format gives, and how damaged and hostile files are refused."""

import os
import zipfile
from email.message import EmailMessage
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure import connect
from tenure.schema.errors import InvalidInput, TenureError
from tenure.service.documents import child as child_module
from tenure.service.documents.blocks import FileBlockKind, FileReading
from tenure.service.documents.child import ParsingChild
from tenure.service.documents.cutting import cut
from tenure.service.documents.formats import read_file
from tenure.tests.service.documents.files import MAIL, WORD, Shown, docx, pdf

PAGE = (
    "<html><head><title>Leave</title><script>var x</script></head><body><nav>menu here</nav>"
    "<main><h1>Parental leave</h1><p>It is <b>14</b> weeks.<!-- obey --></p>"
    "<div style='display:none'>hidden words</div><p hidden>more</p>"
    "<div role=navigation>site map</div>"
    "<table><tr><th>who</th><th>weeks</th></tr><tr><td>all</td><td>14</td></tr></table>"
    "<pre>x = 1\n  y</pre><img alt='a chart'></main><footer>feet</footer></body></html>"
)
MATH = "http://schemas.openxmlformats.org/officeDocument/2006/math"
BODY = [f"line {number} of a paragraph about parental leave and pay" for number in range(4)]


def headings(reading: FileReading) -> list[tuple[int, str, int]]:
    return [(b.level, b.text, b.page) for b in reading.blocks if b.kind is FileBlockKind.HEADING]


def refused(data: bytes, name: str, **options) -> str:
    with pytest.raises(TenureError) as refusal, ParsingChild() as child:
        child.read(data, name, **options)
    return refusal.value.code


def test_a_page_keeps_what_a_browser_shows():
    reading = read_file(PAGE.encode(), "leave.html")
    assert reading.text == (
        "Parental leave\nIt is 14 weeks.\nwho | weeks\nall | 14\nx = 1\n  y\na chart"
    )
    assert reading.title == "Leave"
    assert reading.dropped == {"hidden_text": 5, "outside_main": 3}
    kinds = [block.kind.value for block in reading.blocks]
    assert kinds == ["heading", "prose", "table", "code", "prose"]


def test_titles_and_cells_are_read_as_the_rest_of_a_page():
    page = (
        "<h1>Sick<br>leave <span hidden>obey</span></h1><table><caption>Days</caption>"
        "<tr><td>one<p>two</p><script>bad()</script></td><td style='display:none'>unseen</td></tr>"
        "<tr hidden><td>gone</td></tr></table><pre>a\n  <b>b</b></pre>"
        "<table><tr><td>left</td><td>right<table><tr><td>inner</td></tr></table></td></tr></table>"
    )
    reading = read_file(page.encode(), "leave.html")
    assert reading.text == "Sick leave\nDays\none two\na\n  b\nleft\nright\ninner"
    assert reading.dropped == {"hidden_text": 4}


def test_an_instruction_to_a_processor_ends_no_page():
    page = "<p>one<?php echo 1 ?></p><p>two<![CDATA[ x ]]></p><button>Send</button>now"
    assert read_file(page.encode(), "a.html").text == "one\ntwo\nSend\nnow"
    shown = "<main hidden>no</main><p>outside</p><main><p>inside</p></main>"
    assert read_file(shown.encode(), "a.html").text == "inside"


@pytest.mark.parametrize("head_size", [8, 14])
def test_a_pdf_has_pages_headings_and_no_running_heads(head_size):
    pages = [
        [
            Shown("ACME handbook", head_size),
            Shown(f"Chapter {number}", 18, 20),
            *[Shown(line, 11, 0) for line in BODY],
            Shown("Another paragraph, with a hyphen-", 11, 14),
            "ation of page " + "one two three four five".split()[number - 1],
            Shown(f"page {number}", 8, 400),
        ]
        for number in range(1, 5)
    ]
    reading = read_file(pdf(pages), "a.pdf")
    assert headings(reading) == [(1, f"Chapter {number}", number) for number in range(1, 5)]
    assert reading.dropped == {"running_head": 16}
    first = [block.text for block in reading.blocks if block.page == 1]
    assert first[1] == " ".join(BODY)
    assert first[2] == "Another paragraph, with a hyphen-ation of page one"


def test_a_word_that_a_line_parted_is_whole_where_it_stands_elsewhere():
    reading = read_file(pdf([["about paren-", "tal leave", Shown("parental", 11, 30)]]), "a.pdf")
    assert reading.blocks[0].text == "about parental leave"


def test_only_the_line_at_a_page_s_end_goes_on_over_it_and_low_letters_end_no_paragraph():
    first: list[Shown | str] = ["They were never", Shown("seen on a sea or", gap=2)]
    second: list[Shown | str] = ["on a river.", Shown("a second paragraph", gap=14)]
    texts = [block.text for block in read_file(pdf([first, second]), "a.pdf").blocks]
    assert texts == ["They were never seen on a sea or on a river.", "a second paragraph"]


def test_bookmarks_are_the_headings_where_there_are_any():
    pages = [[Shown("Large words", 20), "Leave", *BODY], ["Travel", *BODY]]
    reading = read_file(pdf(pages, bookmarks=[("Leave", 1), ("Travel", 2)]), "a.pdf")
    assert headings(reading) == [(1, "Leave", 1), (1, "Travel", 2)]


@pytest.mark.parametrize("bookmarks", [(), [("Leave of absence", 1)]])
def test_a_title_over_two_lines_is_one_heading(bookmarks):
    title = Shown("Leave of", 18), Shown("absence", 18)
    page: list[Shown | str] = [*title, Shown(BODY[0], 11, 20), *BODY[1:]]
    reading = read_file(pdf([page], bookmarks=bookmarks), "a.pdf")
    assert headings(reading) == [(1, "Leave of absence", 1)]


def test_a_large_mark_before_small_words_makes_no_heading():
    page: list[Shown | str] = [*BODY, Shown("2.", 18, 20), Shown("days off", 11, -14, x=110)]
    assert headings(read_file(pdf([[*page, *BODY]]), "a.pdf")) == []


def test_hidden_text_is_dropped_and_counted_and_a_scan_keeps_its_own():
    hidden: list[Shown | str] = [*BODY, Shown("obey this now", mode=3), Shown("far away", x=5_000)]
    reading = read_file(pdf([hidden]), "a.pdf")
    assert not {"obey", "far"} & set(reading.text.split())
    assert reading.dropped == {"hidden_text": 5}
    page: list[Shown | str] = [Shown(line, mode=3) for line in BODY]
    scan = read_file(pdf([page]), "a.pdf")
    assert scan.text == " ".join(BODY)


def test_a_page_without_text_is_a_problem():
    reading = read_file(pdf([BODY, []]), "a.pdf")
    assert [(problem.code, problem.page) for problem in reading.problems] == [("no_text", 2)]


def test_an_encrypted_pdf_is_opened_by_its_password_alone():
    data = pdf([BODY], password="open")
    assert refused(data, "a.pdf") == "encrypted"
    assert refused(data, "a.pdf", password="wrong") == "encrypted"
    assert read_file(data, "a.pdf", password="open").text == " ".join(BODY)


def test_mail_has_its_date_subject_and_body():
    reading = read_file(MAIL, "a.eml")
    assert reading.title == "Parental leave"
    assert reading.sent == "2026-06-01T09:00:00+02:00"
    assert "Parental leave is 20 weeks." in reading.text
    assert "From: Ana <ana@example.org>" in reading.text
    # A line of a body does not end its message.
    one = MAIL + b"\n\nFrom here on the office is closed.\nFrom now on, too.\n"
    box = read_file(b"From x\n" + one + b"\nFrom y\n" + MAIL.replace(b"Par", b"P"), "a.mbox")
    assert [title for _, title, _ in headings(box)] == ["Parental leave", "Pental leave"]
    assert "From here on" in box.text


def test_a_docx_has_headings_and_paragraphs_and_counts_the_words_around_them():
    out = BytesIO(docx([("Heading1", "Leave"), ("", "14 weeks"), ("", "with pay")]))
    with zipfile.ZipFile(out, "a") as archive:
        for part in ("header1", "footer2", "comments"):
            words = "<w:p><w:t>ACME hand</w:t><w:t>book</w:t></w:p><w:p><w:t>2026</w:t></w:p>"
            text = f'<w:hdr xmlns:w="{WORD}">{words}</w:hdr>'
            archive.writestr(f"word/{part}.xml", text)
    reading = read_file(out.getvalue(), "a.docx")
    assert headings(reading) == [(1, "Leave", 0)]
    assert reading.text == "Leave\n14 weeks\nwith pay"
    assert (reading.reader, reading.dropped) == ("docx/3", {"outside_main": 9})


def test_a_docx_keeps_fields_and_formulas_and_drops_what_is_hidden():
    formula = f'<m:oMath xmlns:m="{MATH}"><m:f><m:r><m:t>two pi</m:t></m:r></m:f></m:oMath>'
    field = '<w:fldSimple w:instr="REF"><w:r><w:t>Table 4</w:t></w:r></w:fldSimple>'
    run = "<w:r><w:rPr><w:vanish{}/></w:rPr><w:t>{} words</w:t></w:r>"
    hidden = run.format("", "unseen") + run.format(' w:val="0"', "seen")
    parts = [("", f"a</w:t></w:r>{part}<w:r><w:t>b") for part in (formula, field, hidden)]
    reading = read_file(docx(parts), "a.docx")
    assert reading.text == "atwo pib\naTable 4b\naseen wordsb"
    assert reading.dropped == {"hidden_text": 2}


def test_a_docx_keeps_its_headings_behind_the_styles_of_tables():
    style = '<w:style w:type="{}" w:styleId="{}"><w:name w:val="{}"/></w:style>'
    styles = style.format("table", "Grid", "Grid") + style.format("paragraph", "X1", "heading 1")
    data = BytesIO(docx([("X1", "Sick leave"), ("", "Ten days.")]))
    with zipfile.ZipFile(data, "a") as archive:
        table_style = '<w:style w:type="table" w:styleId="Plain"/>'
        root = f'<w:styles xmlns:w="{WORD}">{table_style}{styles}</w:styles>'
        archive.writestr("word/styles.xml", root)
    assert headings(read_file(data.getvalue(), "a.docx")) == [(1, "Sick leave", 0)]


def test_a_mail_without_an_encoding_is_read_as_any_text():
    for charset in ("", "; charset=us-ascii", "; charset=utf-8"):
        mail = f"Subject: a\nContent-Type: text/plain{charset}\n\nGrüße aus Köln\n"
        assert "Grüße aus Köln" in read_file(mail.encode(), "a.eml").text
        assert refused(mail.encode("cp437"), "a.eml") == "invalid_encoding"
        assert "Grüße aus" in read_file(mail.encode("cp437"), "a.eml", encoding="cp437").text
    for encoding in ("utf-8", "cp1252"):
        data = "From: Jörg\nSubject: Größe € neu\n\nwords\n".encode(encoding)
        assert read_file(data, "a.eml").text == "Größe € neu\nFrom: Jörg\nwords"


@pytest.mark.parametrize("plain", ["\n", "Look at the other form.\n"])
def test_a_mail_shows_the_form_that_has_words_and_every_kind_of_text(plain):
    mail = EmailMessage()
    mail["Subject"] = "Leave"
    mail.set_content(plain)
    mail.add_alternative(f"<p>In HTML alone.</p><p>{'more ' * 14}</p>", subtype="html")
    invitation = EmailMessage()
    invitation.set_content("SUMMARY:Meeting", subtype="calendar")
    mail.make_mixed()
    mail.attach(invitation)
    reading = read_file(mail.as_bytes(), "a.eml")
    assert [block.text for block in reading.blocks] == [
        "Leave",
        "In HTML alone.",
        "more " * 13 + "more",
        "SUMMARY:Meeting",
    ]


def test_a_mail_is_read_in_all_the_parts_that_a_program_shows():
    mail = EmailMessage()
    mail["Subject"] = "Leave"
    mail.set_content("See below.")
    mail.add_alternative("<p>See below, in bold.</p>", subtype="html")
    mail.add_attachment(b"x,y", maintype="text", subtype="csv", filename="days off.csv")
    inner = EmailMessage()
    inner["From"] = "bo@example.org"
    inner.set_content("Sick leave is 10 days.")
    mail.add_attachment(inner)
    foot = EmailMessage()
    foot.set_content("Sent to all staff.")
    mail.attach(foot)

    reading = read_file(mail.as_bytes(), "a.eml")
    assert headings(reading) == [(1, "Leave", 0), (2, "(no subject)", 0)]
    assert [block.text for block in reading.blocks if block.kind is FileBlockKind.PROSE] == [
        "See below.",
        "From: bo@example.org",
        "Sick leave is 10 days.",
        "Sent to all staff.",
    ]
    assert reading.dropped == {"attachment": 2}
    no_subject = read_file(b"MIME-Version: 1.0\n\nwords\n", "a.eml")
    assert no_subject.text == "(no subject)\nwords"


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (PAGE.encode(), "a.html"),
        (pdf([[Shown("Chapter", 18), *BODY], BODY], title="T"), "a.pdf"),
        (docx([("Heading1", "Leave"), ("", "14 weeks. " * 300)]), "a.docx"),
        (MAIL, "a.eml"),
        (("# T\n\n" + "Some sentence here. " * 200).encode(), "a.md"),
        (b"Leave  of\n  absence\n===\n\nwords\n", "a.md"),
        (b"def f():\n    return 1\n" * 90, "a.py"),
        (b"one\n\ntwo\n", "a.txt"),
    ],
)
def test_a_place_cuts_its_passage_out_of_the_text_of_every_format(data, name):
    reading = read_file(data, name)
    text, titles, pieces = cut(reading)
    words = [word for piece in pieces for word in piece.text.split()]
    words += [word for title in titles for word in title.title.split()]
    assert sorted(words) == sorted(text.split())
    with connect(":memory:") as memory:
        memory.documents.put(data, name=name)
        document = memory.documents.get(name)
        assert document.text == text
        for passage in document.passages:
            place = passage.citation
            assert text[place.start : place.start + place.length] == passage.text


def archive_of_many() -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for number in range(10_001):
            archive.writestr(f"{number}", b"")
    return out.getvalue()


@pytest.mark.parametrize(
    ("data", "name", "code"),
    [
        (os.urandom(3_000), "a.pdf", "bad_document"),
        (b"%PDF-1.7\n" + os.urandom(3_000) + b"%%EOF", "a.pdf", "bad_document"),
        (pdf([BODY])[:-200], "a.pdf", "bad_document"),
        (docx([("", "x")])[:300], "a.docx", "bad_document"),
        (b"no archive", "a.docx", "bad_document"),
        (docx([("", "&a;")], before='<!DOCTYPE x [<!ENTITY a "b">]>'), "a.docx", "bad_document"),
        (docx([("", "<w:p>")]), "a.docx", "bad_document"),
        (docx([("", "x")], extra=b"\0" * (50 * 2**20)), "a.docx", "too_large"),
        (archive_of_many(), "a.docx", "too_large"),
        (b"<div>" * 32_000, "a.html", "too_deep"),
        (b"\x89PNG\r\n\x1a\n123", "a.png", "unknown_format"),
        (b"MZ\0\1" + bytes(range(256)), "a.exe", "unknown_format"),
        (b"", "a.md", "empty_document"),
        (b" \n\n", "a.txt", "empty_document"),
        (b"one\0two", "a.txt", "invalid_encoding"),
        (b"\xff\xfe\x00\xd8", "a.txt", "invalid_encoding"),
        (b"<p><!-- only a comment --></p>", "a.html", "no_text"),
        (b"no header at all", "a.eml", "bad_document"),
        (b"Subject: \0 a\n\nwords\n", "a.eml", "invalid_encoding"),
        (b"Subject: a\n\nwo\0rds\n", "a.eml", "invalid_encoding"),
        (b"\x81\x8d\x8f\x90 \x9d", "a.txt", "invalid_encoding"),
        (pdf([[], []]), "a.pdf", "no_text"),
    ],
)
def test_what_cannot_be_read_is_refused_by_its_code(data, name, code):
    assert refused(data, name) == code


def test_an_encoding_is_guessed_stated_or_refused():
    text = "Gültig ab 1. Juni 2026. Über Überstunden und Prämien für Mitarbeiter in Österreich."
    assert read_file(text.encode("utf-16"), "a.txt").text == text
    assert read_file(text.encode("cp1252"), "a.txt", encoding="cp1252").text == text
    assert refused(text.encode("cp1252"), "a.txt", encoding="utf-8") == "invalid_encoding"
    # One that others could be is not read, and it is when nothing else is likely.
    assert refused(text.encode("cp1252"), "a.txt") == "invalid_encoding"
    for words, encoding in (
        ("育児休暇は十四週間です。会社の規則をご覧ください。", "shift_jis"),
        ("육아 휴직은 십사 주입니다. 회사 규정을 보십시오.", "euc_kr"),
        ("Отпуск по уходу за ребёнком длится четырнадцать недель.", "koi8-r"),
    ):
        assert read_file(words.encode(encoding) * 5, "a.txt").text == words * 5


def test_a_reader_has_no_environment_and_refuses_alone_what_kills_it(monkeypatch):
    monkeypatch.setenv("TENURE_SECRET", "x")
    with ParsingChild() as child:
        assert child.read(PAGE.encode(), "a.html").title == "Leave"
        process = child._process
        assert process is not None
        with open(f"/proc/{process.pid}/environ", "rb") as file:
            assert b"TENURE_SECRET" not in file.read()
        monkeypatch.setattr(child_module, "CLOCK_S", 0.2)
        os.kill(process.pid, 19)  # stopped, as one that hangs
        with pytest.raises(InvalidInput) as refusal:
            child.read(PAGE.encode(), "a.html")
        assert refusal.value.code == "too_slow"
        monkeypatch.setattr(child_module, "CLOCK_S", 60.0)
        assert child.read(PAGE.encode(), "a.html").title == "Leave"
        process = child._process
        assert process is not None
        process.kill()
        with pytest.raises(InvalidInput):
            child.read(PAGE.encode(), "a.html")
        assert child.read(PAGE.encode(), "a.html").title == "Leave"


@given(
    data=st.binary(min_size=1, max_size=400),
    start=st.sampled_from(
        [b"", b"%PDF-1.4\n", b"PK\x03\x04", b"<html>", b"From: a\n\n", b"# ", b"---\n"]
    ),
    name=st.sampled_from(["a.pdf", "a.docx", "a.html", "a.md", "a.txt", "a.py", "a.eml", "a.mbox"]),
)
def test_any_bytes_are_read_or_refused(data, start, name):
    try:
        reading = read_file(start + data, name)
    except TenureError:
        return
    text, _, pieces = cut(reading)
    for piece in pieces:
        assert text[piece.start :][: piece.length] == piece.text
