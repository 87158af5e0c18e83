"""The pages in a real Chromium: accessible, silent under the policy, asking nobody else.

Debian's Chromium is driven by playwright. Without one the tests are skipped, unless
`TENURE_REQUIRE_CHROMIUM=1` says that it must be there. `TENURE_PICTURES=1` writes the pictures of
the documentation anew.
"""

# nightly, or when these change: faces/http service/visual compiler/explain
import os
import re
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import pytest
import uvicorn

import tenure
from tenure.faces.http.app import build_app
from tenure.faces.http.command import steward_of
from tenure.faces.http.config import ServerSettings
from tenure.faces.http.control import ControlFile
from tenure.schema.principal import OWNER
from tenure.service.client.answer import opening_words
from tenure.service.settings import Settings
from tenure.tests.faces.http.served import serving
from tenure.tests.source_tree import ROOT

CHROMIUM = shutil.which("chromium")
AXE = (ROOT / "tests" / "data" / "axe.min.js").read_text(encoding="utf-8")
ASKED = "valid=2026-03-01T00:00:00Z&tx=2026-03-01T00:00:00Z"
THEMES = {"light": (1200, 900), "dark": (390, 800)}
WIDE = (1200, 900)
PICTURE_FOLDER = ROOT / "docs" / "pictures"
PICTURES = {"home", "plane", "review", "envelope"}

pytestmark = pytest.mark.nightly

if CHROMIUM is None and not os.environ.get("TENURE_REQUIRE_CHROMIUM"):
    pytest.skip("there is no chromium on the PATH", allow_module_level=True)


class Served(NamedTuple):
    """A server on a port of this machine."""

    base: str
    control: ControlFile
    memory: tenure.Memory


@pytest.fixture(scope="module")
def served(demo_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("served")
    (folder / "store.db").write_bytes(demo_file.read_bytes())
    owner = replace(OWNER, tenant="demo")
    with (
        closing(ControlFile(folder / "control.db")) as control,
        socket.create_server(("127.0.0.1", 0)) as listener,
        tenure.connect(str(folder / "store.db"), principal=owner) as memory,
    ):
        port = listener.getsockname()[1]
        settings = ServerSettings(
            memory=memory,
            control=control,
            steward=steward_of(Settings(tenant="demo"), is_demo=True),
            port=port,
        )
        config = uvicorn.Config(build_app(settings), log_level="warning", access_log=False)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        yield Served(f"http://127.0.0.1:{port}", control, memory)
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    # Only the superuser of a container needs the sandbox off.
    flags = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield browser
        browser.close()


@pytest.fixture
def open_page(served: Served, chromium: Any) -> Iterator[Callable[..., Any]]:
    """Return what opens a signed-in page of a theme and a size."""
    contexts: list[Any] = []

    def open_page(theme: str = "light", **more: Any) -> Any:
        width, height = THEMES[theme]
        context = chromium.new_context(
            color_scheme=theme, viewport={"width": width, "height": height}, **more
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.goto(served.base + "/")
        page.fill("#code", served.control.new_code("demo"))
        page.click("main button")
        return page

    yield open_page
    for context in contexts:
        context.close()


def every_page(page: Any, base: str) -> dict[str, str]:
    """Return an address of every kind of page."""
    entity = page.request.get(f"{base}/find?name=Orchid+Foods").url.removeprefix(base)
    page.goto(f"{base}/envelopes")
    envelopes = [link.get_attribute("href") for link in page.locator("a[data-row]").all()]
    ids = [link.rpartition("/")[2] for link in envelopes]
    page.goto(f"{base}/reviews")
    return {
        "home": "/?q=Orchid",
        "entity": entity,
        "plane": f"{entity}/plane/pricing_tier?{ASKED}",
        "reviews": "/reviews",
        "review": page.get_attribute("a[data-key=o]", "href"),
        "decided": "/decided",
        "actions": "/actions",
        "quarantine": "/quarantine",
        "envelopes": "/envelopes",
        "envelope": envelopes[-1],
        "compare": f"/compare?a={ids[1]}&b={ids[0]}",
        "health": "/health",
        "person": entity.replace("entities", "people"),
    }


def take_pictures(page: Any, name: str, theme: str) -> None:
    """Write the picture of a page at the width of a desk; the plane also at that of a telephone."""
    width, height = THEMES[theme]
    if width < WIDE[0] and name == "plane":
        page.screenshot(path=PICTURE_FOLDER / f"{name}-{width}.png", full_page=True)
    page.set_viewport_size({"width": WIDE[0], "height": WIDE[1]})
    page.screenshot(path=PICTURE_FOLDER / f"{name}-{theme}.png", full_page=True)
    page.set_viewport_size({"width": width, "height": height})


@pytest.mark.skipif("TENURE_PICTURES" not in os.environ, reason="TENURE_PICTURES=1 asks for them")
def test_the_pictures_of_an_exported_envelope_are_taken_anew(
    served: Served, open_page: Callable[..., Any], tmp_path: Path
) -> None:
    memory = served.memory.bind(replace(OWNER, tenant="demo"))
    question = "Which pricing tier does Orchid Foods have, and what does it cost?"
    envelope = memory.compile("assistant", question, goal="Answer by mail", budget_tokens=700)
    file = tmp_path / "envelope.html"
    file.write_text(envelope.to_html(words=opening_words(memory, envelope)), encoding="utf-8")

    for theme, name, size in (
        ("light", "page-light", WIDE),
        ("dark", "page-dark", WIDE),
        ("dark", "page-390", THEMES["dark"]),
    ):
        page = open_page(theme)
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.goto(file.as_uri())
        page.screenshot(path=PICTURE_FOLDER / f"{name}.png", full_page=True)


@pytest.mark.parametrize("theme", list(THEMES))
def test_every_page_is_accessible_and_asks_nobody_else(
    served: Served, open_page: Callable[..., Any], theme: str
) -> None:
    page = open_page(theme)
    reports: list[str] = []
    addresses: list[str] = []
    page.on("console", lambda message: reports.append(message.text))
    page.on("request", lambda request: addresses.append(request.url))

    for name, path in every_page(page, served.base).items():
        page.goto(served.base + path)
        assert reports == [], name
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= THEMES[theme][0], f"{name} is wider than the screen"
        if os.environ.get("TENURE_PICTURES") and name in PICTURES:
            take_pictures(page, name, theme)

        page.evaluate(AXE)
        violations = page.evaluate("axe.run()")["violations"]
        assert [(v["id"], v["nodes"][0]["html"]) for v in violations] == [], name
        reports.clear()  # what axe itself did

    allowed_starts = (served.base, "data:")
    assert [address for address in addresses if not address.startswith(allowed_starts)] == []


def test_a_page_is_accessible_at_twice_its_size(
    served: Served, open_page: Callable[..., Any]
) -> None:
    page = open_page(device_scale_factor=2)
    page.set_viewport_size({"width": 600, "height": 450})
    page.goto(f"{served.base}/reviews")
    page.evaluate(AXE)
    assert page.evaluate("axe.run()")["violations"] == []


def test_a_case_is_decided_and_taken_back_by_keys(
    served: Served, open_page: Callable[..., Any]
) -> None:
    page = open_page()
    page.goto(f"{served.base}/reviews")
    page.keyboard.press("o")
    page.wait_for_url("**/reviews/*")
    page.wait_for_load_state()
    page.keyboard.press("?")
    assert "Unsure" in page.inner_text("#keys")
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    page.wait_for_selector("text=kept apart from now on")
    page.wait_for_load_state()
    assert served.memory.reviews.list() == ()
    page.keyboard.press("z")
    page.wait_for_selector("text=open again")
    assert len(served.memory.reviews.list()) == 1


FIRST_NAMES = ("Ada", "Bo", "Cem", "Dora", "Eli", "Fay", "Gus", "Hedda")
LAST_NAMES = ("Lindgren", "Okafor", "Petrov", "Quandt", "Rossi")
NAMES = [f"{first} {last}" for first in FIRST_NAMES for last in LAST_NAMES]
ANSWERS = ("1", "2", "n", "u")


def asked_names(memory: tenure.Memory) -> dict[str, str]:
    """Write 40 names that two people bear, and a fact of one of them; the key that decides each."""
    people: list[tenure.Write] = []
    mentions: list[tenure.Write] = []
    for number, name in enumerate(NAMES):
        for place, title in enumerate(("welder", "planner")):
            ids = {"hr": f"{4000 + 2 * number + place}"}
            subject = {"name": name, "type": "person", "external_ids": ids}
            people.append(tenure.Write(subject=subject, slot="title", value=title))
        subject = {"name": name, "type": "person"}
        mentions.append(tenure.Write(subject=subject, slot="office", value="Bergen"))
    memory.write_many(people)
    memory.write_many(mentions)
    return {name: ANSWERS[number % len(ANSWERS)] for number, name in enumerate(NAMES)}


def told(memory: tenure.Memory) -> list[Any]:
    """What is read of everybody: names, clusters and facts."""
    view = memory.as_of()
    entities = sorted(memory.entities.list(limit=500), key=lambda entity: entity.entity_id)
    facts = [sorted((s, f.values) for s, f in view.facts(e.entity_id).items()) for e in entities]
    return [(e.entity_id, e.name, e.members) for e in entities] + facts


@pytest.mark.parametrize("width", [1280, 390])
def test_forty_cases_are_decided_and_taken_back_by_one_key_each(
    chromium: Any, tmp_path: Path, width: int
) -> None:
    with tenure.connect(str(tmp_path / "team.db")) as memory, serving(memory, tmp_path) as server:
        answers = asked_names(memory)
        before = told(memory)
        page = chromium.new_context(viewport={"width": width, "height": 800}).new_page()
        page.goto(f"{server.url}/")
        page.fill("#code", server.control.new_code("default"))
        page.click("main button")
        page.goto(f"{server.url}/reviews")
        page.keyboard.press("o")

        for _ in NAMES:
            page.wait_for_selector(".decide")
            name = page.inner_text("h1").split("\u201c")[1].split("\u201d")[0]
            box = page.locator(".decide").bounding_box()
            assert box["y"] >= 0 and box["y"] + box["height"] <= 800, name
            assert page.evaluate("scrollY") == 0
            page.keyboard.press(answers.pop(name))
            page.wait_for_selector(f"h1:not(:has-text('{name}'))")
            page.wait_for_selector(f".flash:has-text('{name}')")
            page.wait_for_load_state()
        assert answers == {}
        assert len(memory.reviews.list("accepted")) == 20
        assert len(memory.reviews.list("rejected")) == len(memory.reviews.list("unsure")) == 10

        for _ in NAMES:
            label = page.inner_text("button[data-key=z]")
            name = label.removeprefix("Undo ").removesuffix(" z")
            page.keyboard.press("z")
            page.wait_for_selector(f".flash:has-text('{name}: open again')")
            # Keys are heard once the script of the page has run.
            page.wait_for_load_state()
        assert [len(memory.reviews.list(s)) for s in ("accepted", "rejected", "unsure")] == [0] * 3
        assert told(memory) == before
        page.context.close()


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 800)])
def test_the_decision_is_in_sight_from_the_first_line_to_the_last(
    served: Served, open_page: Callable[..., Any], width: int, height: int
) -> None:
    page = open_page()
    page.set_viewport_size({"width": width, "height": height})
    page.goto(f"{served.base}/reviews")
    page.click("th a[href^='/reviews/']")
    for place in ("0", "document.body.scrollHeight"):
        page.evaluate(f"scrollTo(0, {place})")
        box = page.locator(".decide").bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= height


def test_the_next_case_shows_before_the_server_has_answered(
    served: Served, open_page: Callable[..., Any]
) -> None:
    memory = served.memory
    people = ("Mika Rogers", "Toni Fisher", "Kim Waters")
    for name in people:
        for office in ("Rome", "Oslo"):
            ids = {"hr": f"{name} {office}"}
            person = tenure.EntityRef(name=name, type="person", external_ids=ids)
            memory.write(person, "office", office)
        memory.write(tenure.EntityRef(name=name, type="person"), "title", "counsel")

    first, second, third, *_ = [review.review_id for review in memory.reviews.list()]
    page = open_page()
    reports: list[str] = []
    page.on("console", lambda message: reports.append(message.text))
    # What a decision is answered with waits until it is let go.
    posts: list[Any] = []
    page.route("**/reviews/*/unsure", lambda route: posts.append(route))
    page.goto(f"{served.base}/reviews")
    with page.expect_response(f"**/reviews/{second}") as fetched:
        page.goto(f"{served.base}/reviews/{first}")
    assert fetched.value.headers["cache-control"] == "no-store"
    page.wait_for_selector("a[rel=next][data-fetched]")
    page.keyboard.press("u")
    page.wait_for_url(f"**/reviews/{second}")
    assert memory.reviews.get(second).review.mention in page.inner_text("h1")
    assert memory.reviews.get(first).review.state.value != "unsure"

    with page.expect_response(f"**/reviews/{third}"):
        posts[0].continue_()
        page.wait_for_url(f"**/reviews/{second}?last={first}*")
    assert "put aside as unsure" in page.inner_text(".flash")
    assert memory.reviews.get(first).review.state.value == "unsure"

    # Skipping asks for nothing but the case after it; a decision at an old version is told.
    page.wait_for_selector("a[rel=next][data-fetched]")
    page.keyboard.press("k")
    page.wait_for_url(f"**/reviews/{third}")
    assert memory.reviews.get(third).review.mention in page.inner_text("h1")
    page.go_back()
    page.wait_for_selector(f"h1:has-text('{memory.reviews.get(second).review.mention}')")
    page.wait_for_selector("a[rel=next][data-fetched]")
    page.unroute("**/reviews/*/unsure")
    memory.reviews.unsure(second)
    with page.expect_response(lambda answer: answer.status == 412):
        page.keyboard.press("u")
    page.wait_for_selector("text=was decided meanwhile")
    assert [words for words in reports if "412" not in words] == []
    for review_id in (first, second):
        memory.reviews.undo(review_id)
    for review in memory.reviews.list():
        if review.mention in people:
            memory.reviews.reject(review.review_id)


def test_without_scripts_everything_is_done_by_buttons(
    served: Served, open_page: Callable[..., Any]
) -> None:
    page = open_page(java_script_enabled=False)
    page.goto(f"{served.base}/reviews")
    page.click("th a[href^='/reviews/']")
    page.click("text=Unsure")
    assert "put aside as unsure" in page.inner_text("main")
    page.click("button:has-text('Undo')")
    assert "open again" in page.inner_text("main")

    page.goto(page.request.get(f"{served.base}/find?name=Orchid+Foods").url)
    page.click("a[href*='/plane/pricing_tier']")
    page.fill("input[name=valid]", "2026-03-01T00:00")
    page.fill("input[name=tx]", "2026-03-01T00:00")
    page.click("button:has-text('Ask')")
    assert "we believed standard" in page.inner_text(".answer")
    page.click("text=True then, as known now")
    assert "it was premium" in page.inner_text(".answer")


def test_a_dragged_question_never_shows_another_one_s_answer(
    served: Served, open_page: Callable[..., Any]
) -> None:
    page = open_page()
    page.goto(page.request.get(f"{served.base}/find?name=Orchid+Foods").url)
    page.click("a[href*='/plane/pricing_tier']")
    view_of = served.memory.as_of
    day = 0
    for move in range(50):
        day = move % 28 + 1
        field = page.locator("input[name=valid]")
        field.evaluate(
            "(node, day) => { node.value = `2026-02-${day}T00:00`;"
            " node.dispatchEvent(new Event('change', {bubbles: true})); }",
            f"{day:02}",
        )
    page.wait_for_selector(f"#plane[data-valid='2026-02-{day:02}T00:00:00Z']")
    valid = page.get_attribute("#plane", "data-valid")
    known = page.get_attribute("#plane", "data-tx")
    value = view_of(valid, known).value("Orchid Foods", "pricing_tier")
    assert re.search(rf"\b{value}\b", page.inner_text(".answer"))
    assert f"valid=2026-02-{day:02}" in page.url


def address_is_screen(page: Any) -> bool:
    """Whether the address asks what the page answers."""
    query = {name: value for name, (value,) in parse_qs(urlsplit(page.url).query).items()}
    shown = {name: page.get_attribute("#plane", f"data-{name}") for name in ("valid", "tx")}
    fields = {name: page.input_value(f".asking [name={name}]") for name in ("valid", "tx")}
    return all(
        instant(query[name]) == instant(shown[name]) <= instant(fields[name])
        for name in ("valid", "tx")
    )


def instant(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00")).replace(tzinfo=UTC)


def test_the_address_of_the_plane_asks_what_the_screen_answers(
    served: Served, open_page: Callable[..., Any]
) -> None:
    page = open_page()
    page.goto(page.request.get(f"{served.base}/find?name=Orchid+Foods").url)
    page.click("a[href*='/plane/pricing_tier']")
    page.wait_for_url("**/plane/*")
    page.wait_for_load_state()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    page.wait_for_selector("#plane[data-valid^='2026-02-15']")
    assert address_is_screen(page)
    known = page.get_attribute("#plane", "data-tx")
    page.keyboard.press("ArrowDown")
    page.wait_for_selector(f"#plane:not([data-tx='{known}'])")
    assert address_is_screen(page)

    page.fill("input[name=valid]", "2026-03-01T00:00")
    page.dispatch_event("input[name=valid]", "change")
    page.wait_for_selector("#plane[data-valid='2026-03-01T00:00:00Z']")
    assert address_is_screen(page)

    box = page.locator("svg.plane").bounding_box()
    page.mouse.click(box["x"] + box["width"] - 20, box["y"] + 60)
    page.wait_for_selector("#plane[data-valid^='2027']")
    assert address_is_screen(page)
    there = page.get_attribute("#plane", "data-valid")

    page.go_back()
    page.wait_for_selector("#plane[data-valid='2026-03-01T00:00:00Z']")
    assert address_is_screen(page)
    page.go_forward()
    page.wait_for_selector(f"#plane[data-valid='{there}']")
    assert address_is_screen(page)
    shown = page.inner_text(".answer")
    page.goto(page.url)
    assert page.inner_text(".answer") == shown


def test_a_table_of_many_rows_is_filtered_by_words(
    served: Served, open_page: Callable[..., Any]
) -> None:
    page = open_page()
    entity = page.request.get(f"{served.base}/find?name=Orchid+Foods").url
    page.goto(entity.replace("entities", "people"))
    rows = page.locator("tbody tr:visible")
    total = rows.count()
    page.fill(".filter", "ENTERPRISE clean")
    assert 0 < rows.count() < total
    assert all("enterprise" in text and "clean" in text for text in rows.all_inner_texts())
    page.fill(".filter", "")
    assert rows.count() == total


def test_a_long_word_does_not_push_its_table_out_of_reach(
    served: Served, open_page: Callable[..., Any]
) -> None:
    served.memory.write("Linea Longa", "office", "https://example.org/" + "a" * 600)
    page = open_page("dark")
    page.goto(page.request.get(f"{served.base}/find?name=Linea+Longa").url)
    width = page.evaluate("document.querySelector('table').getBoundingClientRect().width")
    assert width < 2 * THEMES["dark"][0]
