"""Tokens of media, stand-ins, links between modalities and smaller versions."""

import itertools
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.compiler.media.reduction import (
    PICTURE,
    Item,
    chosen_segments,
    column_aggregates,
    crop_region,
    filter_rows,
    readable_size,
    sample_rows,
)
from tenure.compiler.tokens.modality import (
    CrossModalReference,
    ImageRule,
    MediaItem,
    Modality,
    audio_tokens,
    evidence_split,
    image_tokens,
    sampled_frames,
    substitute,
    video_tokens,
)
from tenure.schema.errors import InvalidInput
from tenure.tests.support.refusals import refused

PLAIN = ImageRule(patch_px=16)
TILED = ImageRule(patch_px=32, tokens_per_patch=2, tile_px=512, overview=True)


class TestCounts:
    def test_an_image_is_its_patches(self) -> None:
        assert image_tokens(32, 48, PLAIN) == 6
        assert image_tokens(33, 49, PLAIN) == 12

    def test_a_large_image_is_tiled_and_sent_once_more_as_overview(self) -> None:
        whole = 16 * 16 * 2
        assert image_tokens(512, 512, TILED) == whole
        assert image_tokens(1024, 512, TILED) == 2 * whole + whole
        assert image_tokens(513, 512, TILED) == whole + 16 * 2 + whole

    def test_tiles_without_overview_are_their_sum(self) -> None:
        assert image_tokens(1024, 1024, ImageRule(patch_px=32, tile_px=512)) == 1024

    def test_a_minute_of_audio_is_2400_tokens(self) -> None:
        assert audio_tokens(60_000) == 2400
        assert audio_tokens(1) == 1

    def test_video_is_frames_and_track(self) -> None:
        assert sampled_frames(10_500) == 11
        assert video_tokens(10, 256, audio_track=400) == 2960

    @pytest.mark.parametrize(
        "call",
        [
            lambda: image_tokens(0, 5, PLAIN),
            lambda: audio_tokens(0),
            lambda: video_tokens(0, 10),
            lambda: video_tokens(1, 10, audio_track=-1),
            lambda: sampled_frames(0),
            lambda: sample_rows([], 0),
        ],
    )
    def test_impossible_measures_are_refused(self, call: Any) -> None:
        with refused(InvalidInput, "bad_media"):
            call()


def media(name: str, tokens: int = 1000, utility: int = 800, **change: Any) -> MediaItem:
    fields: dict[str, Any] = {"modality": Modality.IMAGE, **change}
    return MediaItem(id=name, tokens=tokens, utility_permille=utility, **fields)


def text(name: str, tokens: int, utility: int) -> MediaItem:
    return media(name, tokens, utility, modality=Modality.TEXT, method="ocr")


class TestSubstitution:
    def test_the_cheapest_faithful_stand_in_is_taken(self) -> None:
        stand_ins = [text("short", 50, 719), text("long", 200, 720), text("full", 300, 800)]
        assert substitute(media("photo"), stand_ins).id == "long"

    def test_a_stand_in_must_be_cheaper(self) -> None:
        photo = media("photo")
        assert substitute(photo, [text("ocr", 1000, 1000)]) is photo

    def test_ties_go_to_utility_then_to_the_smaller_id(self) -> None:
        same = [text("b", 10, 800), text("c", 10, 800), text("a", 10, 790)]
        assert substitute(media("photo"), same).id == "b"

    @given(st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 1000)), max_size=8))
    def test_nothing_ever_gets_dearer_or_unfaithful(self, offers: list[tuple[int, int]]) -> None:
        stand_ins = [text(f"s{n}", *offer) for n, offer in enumerate(offers)]
        choice = substitute(media("photo"), stand_ins)
        assert choice.tokens <= 1000
        assert choice.utility_permille >= 720


class TestReferences:
    def test_a_stand_in_links_to_its_original(self) -> None:
        link = CrossModalReference(
            source=media("IMG_1"), target=text("TEXT_3", 9, 800), confidence_permille=950
        )
        assert link.line() == (
            "TEXT_3 (text) extracted from IMG_1 (image) via ocr, confidence 0.950"
        )

    def test_the_split_names_all_five_and_adds_up(self) -> None:
        split = evidence_split([media("a", 10), media("b", 5), text("c", 7, 1)])
        assert dict(split) == {
            Modality.TEXT: 7,
            Modality.IMAGE: 15,
            Modality.AUDIO: 0,
            Modality.VIDEO: 0,
            Modality.STRUCTURED: 0,
        }


class TestReduction:
    @given(width=st.integers(1, 3000), height=st.integers(1, 3000), target=st.integers(1, 4000))
    def test_a_smaller_picture_fits_and_keeps_its_shape(
        self, width: int, height: int, target: int
    ) -> None:
        size = readable_size(width, height, target, 1)
        least = image_tokens(*readable_size(width, height, 0, 1), PICTURE)
        assert image_tokens(*size, PICTURE) <= max(target, least)
        assert size[0] <= width
        assert size[1] <= height
        assert abs(size[0] * height - size[1] * width) <= 2 * max(width, height)

    def test_it_is_the_largest_that_fits(self) -> None:
        size = readable_size(3840, 2160, 2000, 1)
        assert image_tokens(*size, PICTURE) <= 2000
        edge = size[0] + 1
        assert image_tokens(edge, 2160 * edge // 3840, PICTURE) > 2000

    def test_no_picture_gets_smaller_than_can_be_read(self) -> None:
        assert readable_size(3840, 2160, 200, 720) == (1280, 720)
        assert readable_size(64, 64, 4, 720) == (64, 64)

    def test_a_crop_holds_all_regions_inside_the_picture(self) -> None:
        regions = [(10, 20, 30, 40), (25, 5, 900, 30), (500, 0, 600, 9)]
        assert crop_region(100, 35, regions) == (10, 5, 100, 35)
        assert crop_region(100, 100, [(100, 0, 200, 9)]) is None

    def test_segments_keep_their_own_order(self) -> None:
        segments = [Item("z", 5, 9), Item("m", 5, 1), Item("a", 5, 8)]
        assert chosen_segments(segments, 10) == ("z", "a")

    def test_a_filter_says_what_it_leaves_out(self) -> None:
        rows = [{"id": n, "name": f"n{n}", "note": "x"} for n in range(5)]
        found = filter_rows(rows, ("name", "id"), lambda row: row["id"] != 2)
        assert list(found.rows[0].items()) == [("name", "n0"), ("id", 0)]
        assert found.note == "4 of 5 rows; 1 of 3 columns left out"
        assert filter_rows(rows, ("id", "name", "note")).note == ""

    @given(st.integers(0, 200), st.integers(1, 50))
    def test_a_sample_is_spread_over_the_whole(self, count: int, size: int) -> None:
        rows = [{"n": n} for n in range(count)]
        found = sample_rows(rows, size)
        places = [int(str(row["n"])) for row in found.rows]
        assert len(places) == min(count, size)
        assert all(one < other for one, other in itertools.pairwise(places))
        assert (found.note == "") == (count <= size)
        if 1 < size < count:
            assert (places[0], places[-1]) == (0, count - 1)

    def test_aggregates_are_exact(self) -> None:
        rows: list[dict[str, object]] = [{"v": 1}, {"v": 2.5}, {"v": "x"}, {"v": True}, {}]
        found = column_aggregates(rows, "v")
        assert found == {
            "count": 2,
            "sum": Fraction(7, 2),
            "min": 1,
            "max": Fraction(5, 2),
            "mean": Fraction(7, 4),
        }
        assert column_aggregates([{"v": float("nan")}], "v") == {"count": 0}
