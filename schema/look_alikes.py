"""Characters drawn like ASCII ones, and the skeleton of a text that replaces them.

A mark written as `\uff28uman:`, with a Cyrillic a or with a ligature looks like the mark to a
person and to a model, but matches no ASCII pattern. `skeleton` returns the text as it is drawn,
with the place of each character in the original, so that a pattern finds the mark in any spelling.
It is for matching only and never rendered.

The table is fixed here, because `unicodedata` differs between Python versions: single characters
that NFKC or the confusables of Unicode (UTS 39, with small capitals) map to an ASCII letter, digit
or sign of our marks. Nothing maps to a backslash, so nothing else looks like an escape.
Checklist C-084, C-164.
"""

# ruff: noqa: RUF001

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

STROKE: Final = "\u0131"
"""What a bare vertical stroke becomes, which may be I, l, 1 or |; `i` matches it without case."""

_LOWER: Final = "abcdefghijklmnopqrstuvwxyz"
_ALPHABETS: Final = (
    *((0x1D400 + 52 * style, _LOWER * 2) for style in range(13)),  # mathematical
    *((0x1D7CE + 10 * style, "0123456789") for style in range(5)),
    (0x1CCD6, _LOWER),  # outlined
    (0x1CCF0, "0123456789"),
    *((start, _LOWER) for start in (0xFF21, 0xFF41, 0x24B6, 0x24D0)),  # full width, circled
    *((start, _LOWER) for start in (0x1F130, 0x1F150, 0x1F170, 0x1F1E6)),  # squared, flags
    (0xFF10, "0123456789"),
    (0xFF08, "()*+,-./"),
    (0xFF1A, ":"),
    (0xFF1C, "<"),
    (0xFF1E, ">"),
    (0xFF3B, "["),
    (0xFF3D, "]"),
    (0xFF3F, "_"),
    (0xFF5C, "|"),
    (0xFF03, "#"),
)
"""Runs of characters in the order of the ASCII ones that they are drawn like."""

_DRAWN_LIKE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "a": "ªɑΑαАаᎪᗅᴀᴬᵃₐ⍺ꓮ𐊠𖽀𝚨𝛂𝛢𝛼𝜜𝜶𝝖𝝰𝞐𝞪",
        "b": "ƄʙΒВЬᏏᏴᑲᖯᗷᴮᵇℬꓐꞴ𐊂𐊡𐌁𝚩𝛣𝜝𝝗𝞑",
        "c": "ϲϹСсᏟᴄᶜℂℭⅭⅽⲤⲥꓚꟲꮯ𐊢𐌂𐐕𐐽𐔜𑣩𑣲🄫🝌",
        "d": "ԁᎠᏧᑯᗞᗪᴅᴰᵈⅅⅆⅮⅾꓒꓓ",
        "e": "ΕЕеҽᎬᴇᴱᵉₑ℮ℯℰⅇ⋿ⴹꓰꬲ𐊆𑢦𑢮𝚬𝛦𝜠𝝚𝞔",
        "f": "ϜքᖴᶠẝℱꓝꜰꞘꞙꟳꬵ𐊇𐊥𐔥𑢢𑣂𝈓𝟊",
        "g": "ƍɡɢԌցᏀᏳᴳᵍᶃℊꓖ",
        "h": "ʜʰΗНһհᎻᏂᕼᴴₕℋℌℍℎⲎꓧ𐋏𝚮𝛨𝜢𝝜𝞖",
        "i": "ıɩɪ˛ͺιіӏᎥᴵᵢιⁱℐℑℹⅈⅠⅰ⍳ꙇꭵ𑣃𝚤𝛊𝜄𝜾𝝸𝞲",
        "j": "ʲͿϳЈјᎫᒍᴊᴶⅉⱼꓙꞲ",
        "k": "ΚКᏦᛕᴋᴷᵏₖKⲔꓗ𐔘𝚱𝛫𝜥𝝟𝞙",
        "l": "ƖˡΙІӀ۱ᏞᒪᛁᴸₗℒℓⅬⅼ∣⏽ⲒⳐⵏꓡꓲ￨𐊊𐌉𐌠𐐛𐔦𑢣𑢲𖼖𖼨𝈪𝚰𝛪𝜤𝝞𝞘",
        "m": "ΜϺМᎷᗰᛖᴍᴹᵐₘℳⅯⅿⲘꓟ𐊰𐌑𝚳𝛭𝜧𝝡𝞛",
        "n": "ɴΝոռᴺⁿₙℕⲚꓠ𐔓𝚴𝛮𝜨𝝢𝞜",
        "o": "ºΟοσОоՕօ۵०০੦૦ଠ୦௦ం౦ಂ೦ംഠ൦ං๐໐ဝ၀ჿዐᴏᴑᴼᵒₒℴⲞⲟⵔ〇ꓳꬽ𐊒𐊫𐐄𐐬𐓂𐓪𐔖𑓐𑢵𑣈𑣗𑣠𝚶𝛐𝛔𝛰𝜊𝜎𝜪𝝄𝝈𝝤𝝾𝞂𝞞𝞸𝞼",
        "p": "ΡρϱРрᏢᑭᴘᴾᵖₚℙ⍴Ⲣⲣꓑ𐊕𝚸𝛒𝛠𝛲𝜌𝜚𝜬𝝆𝝔𝝦𝞀𝞎𝞠𝞺𝟈",
        "q": "ԛգզℚⵕꟴ𐞥",
        "r": "ƦʀʳгᎡᏒᖇᴦᴿᵣℛℜℝⲅꓣꭇꭈꮁ𐒴𖼵𝈖🄬",
        "s": "ſƽˢЅѕՏᏕᏚₛꓢꜱꮪ𐊖𐐠𐑈𑣁𖼺",
        "t": "ΤТᎢᴛᵀᵗₜ⊤⟙Ⲧꓔ𐊗𐊱𐌕𑢼𖼊𝚻𝛵𝜯𝝩𝞣🝨",
        "u": "ʋυՍսሀᑌᴜᵁᵘᵤ∪⋃ꓴꞟꭎꭒ𐓎𐓶𑢸𑣘𖽂𝛖𝜐𝝊𝞄𝞾",
        "v": "νѴѵ۷ᏙᐯᴠᵛᵥⅤⅴ∨⋁ⱽⴸꓦꛟꮩ𐔝𑜆𑢠𑣀𖼈𝈍𝛎𝜈𝝂𝝼𝞶",
        "w": "ɯʷѡԜԝաᎳᏔᴡᵂꓪꮃ𑜊𑜎𑜏𑣦𑣯",
        "x": "×ˣΧХхᕁᕽ᙭᙮ᚷₓⅩⅹ╳⤫⤬⨯ⲬⵝꓫꞳ𐊐𐊴𐌗𐌢𐔧𑣬𝚾𝛸𝜲𝝬𝞦",
        "y": "ɣʏʸΥγϒУуҮүყᎩᎽᶌỿℽⲨꓬꭚ𐊲𑢤𑣜𖽃𝚼𝛄𝛶𝛾𝜰𝜸𝝪𝝲𝞤𝞬",
        "z": "ΖᏃᴢᶻℤℨꓜꮓ𐋵𑢩𑣄𑣥𝚭𝛧𝜡𝝛𝞕",
        "0": "⁰₀⓪🯰",
        "1": "¹₁①🯱",
        "2": "²ƧϨᒿ₂②ꙄꛯꝚ🯲",
        "3": "³ƷȜЗӠ₃③ⳌꝪꞫ𑣊𖼻𝈆🯳",
        "4": "Ꮞ⁴₄④𑢯🯴",
        "5": "Ƽ⁵₅⑤𑢻🯵",
        "6": "бᏮ⁶₆⑥Ⳓ𑣕🯶",
        "7": "⁷₇⑦𐓒𑣆𝈒🯷",
        "8": "Ȣȣ৪੪ଃ⁸₈⑧𐌚🯸",
        "9": "৭੧୨൭⁹₉⑨ⳊꝮ𑢬𑣌𑣖🯹",
        "<": "˂ᐸᚲ‹❮﹤𝈶",
        ">": "˃ᐳ›❯﹥𖼿𝈷",
        "/": "᜵⁁⁄∕╱⟋⧸Ⳇ⼃〳ノ㇓丿𝈺",
        "|": "ǀ│┃❘",
        "[": "⁅❲⟦【〔〚﹇",
        "]": "⁆❳⟧】〕〛﹈",
        "(": "⁽₍❨﴾︵﹙",
        ")": "⁾₎❩﴿︶﹚",
        "_": "︳︴﹍﹎﹏",
        ":": "ː˸։ःઃ᛬᠃᠉⁚∶ꓽ꞉︓﹕",
        "#": "﹟",
        "*": "⁎∗﹡𐌟",
        "-": "˗‐‑‒–⁃−➖Ⲻ﹘﹣",
        ".": "۰․ꓸ꘎﹒𝅭",
    }
)
"""By ASCII character: the characters that are drawn like it, whatever their case."""

_LIGATURES: Final = (
    "ĲIJ ĳij ǇLJ ǈLj ǉlj ǊNJ ǋNj ǌnj ǱDZ ǲDz ǳdz ₨Rs №No ℠SM ℡TEL ™TM "
    "℻FAX ⅡII ⅢIII ⅣIV ⅥVI ⅦVII ⅧVIII ⅨIX ⅪXI ⅫXII ⅱii ⅲiii ⅳiv ⅵvi "
    "ⅶvii ⅷviii ⅸix ⅺxi ⅻxii ㉐PTE ㋌Hg ㋍erg ㋎eV ㋏LTD ㍱hPa ㍲da ㍳AU ㍴bar "
    "㍵oV ㍶pc ㍷dm ㍺IU ㎀pA ㎁nA ㎃mA ㎄kA ㎅KB ㎆MB ㎇GB ㎈cal ㎉kcal ㎊pF ㎋nF "
    "㎎mg ㎏kg ㎐Hz ㎑kHz ㎒MHz ㎓GHz ㎔THz ㎖ml ㎗dl ㎘kl ㎙fm ㎚nm ㎜mm ㎝cm ㎞km "
    "㎩Pa ㎪kPa ㎫MPa ㎬GPa ㎭rad ㎰ps ㎱ns ㎳ms ㎴pV ㎵nV ㎷mV ㎸kV ㎹MV ㎺pW ㎻nW "
    "㎽mW ㎾kW ㎿MW ㏃Bq ㏄cc ㏅cd ㏈dB ㏉Gy ㏊ha ㏋HP ㏌in ㏍KK ㏎KM ㏏kt ㏐lm ㏑ln "
    "㏒log ㏓lx ㏔mb ㏕mil ㏖mol ㏗PH ㏙PPM ㏚PR ㏛sr ㏜Sv ㏝Wb ㏿gal ﬀff ﬁfi ﬂfl "
    "ﬃffi ﬄffl ﬅst ﬆst 🄭CD 🄮WZ 🅊HV 🅋MV 🅌SD 🅍SS 🅎PPV 🅏WC 🅪MC 🅫MD 🅬MR "
    "🆐DJ "
)
"""Characters that are drawn like several letters, each followed by these."""

_INVISIBLES: Final = (
    *range(0x180B, 0x1810),
    *range(0x200B, 0x2010),
    *range(0x2060, 0x2070),
    *range(0xFE00, 0xFE10),
    *range(0xE0100, 0xE01F0),
    *(0x00AD, 0x034F, 0x061C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFEFF, 0xFFA0),
)
"""Characters that are drawn as nothing and may be inside a word."""


def _table() -> Iterator[tuple[int, str]]:
    for start, characters in _ALPHABETS:
        yield from enumerate(characters, start)
    for character, look_alikes in _DRAWN_LIKE.items():
        shape = STROKE if character == "l" else character
        yield from ((ord(look_alike), shape) for look_alike in look_alikes)
    for ligature in _LIGATURES.split():
        yield ord(ligature[0]), ligature[1:].lower()
    yield from ((point, "") for point in _INVISIBLES)


_SHAPES: Final = dict(_table())
# Sets and no patterns: a class of characters beyond U+FFFF is gone through one by one.
_LOOK_ALIKES: Final = frozenset(map(chr, _SHAPES))
_MULTIPLES: Final = frozenset(chr(point) for point, shape in _SHAPES.items() if len(shape) != 1)


def skeleton(text: str) -> tuple[str, Sequence[int]]:
    """Return a text as it is drawn, and where each of its characters is in the text.

    The places have one more at the end, the length of the text.

    >>> skeleton("\uff28\u200d\U0001d42eman")
    ('human', [0, 2, 3, 4, 5, 6])
    """
    if text.isascii() or _LOOK_ALIKES.isdisjoint(text):
        return text, range(len(text) + 1)
    if _MULTIPLES.isdisjoint(text):
        return text.translate(_SHAPES), range(len(text) + 1)

    parts: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        shape = _SHAPES.get(ord(character), character)
        parts.append(shape)
        places += [place] * len(shape)
    places.append(len(text))
    return "".join(parts), places
