"""Thirty texts with their o200k counts: at least one package counts wrong and reports success.

A library must count every one of these before any of its counts is believed. The texts cover
what tokenizers get wrong: splits at letters, digits and case, contractions, runs of whitespace,
combining marks, scripts without spaces, emoji sequences, special-token strings as plain text.
"""

from __future__ import annotations

from typing import Final

GOLDEN: Final[tuple[tuple[str, int], ...]] = (
    ("", 0),
    ("hello world", 2),
    ("The quick brown fox jumps over the lazy dog.", 10),
    ("I'll say it's theirs; they've WON'T.", 9),
    ("camelCaseIdentifier HTTPServerError XMLHttpRequest", 8),
    ("1234567890 3.14159 2026-11-21T09:30:00Z", 23),
    ("    four spaces\n\ttab\n\n\n  end   ", 9),
    ("\r\n\r\nwindows\r\nlines\r\n", 5),
    ("def f(x: int) -> int:\n    return x ** 2  # square\n", 19),
    ('{"id": 17, "name": "Sam Rivera", "tags": ["a", "b"]}', 23),
    ("id,name,total\n1,Ann,10.50\n2,Bob,7\n", 18),
    ("https://example.org/path?q=1&r=%20#top", 13),
    ("aGVsbG8gd29ybGQsIHRoaXMgaXMgYmFzZTY0", 23),
    ("<|endoftext|> and <|im_start|>", 14),
    ("a" * 64, 8),
    (" " * 64, 1),
    ("-" * 64 + "\n", 2),
    ("naïve café coöperate Straße", 8),
    ("Cafe\u0301 e\u0301\u0302", 5),
    ("Быстрая коричневая лиса", 10),
    ("\u0938\u0930\u0932 \u0939\u093f\u0928\u094d\u0926\u0940 \u0935\u093e\u0915\u094d\u092f", 6),
    ("مرحبا بالعالم", 4),
    ("\u4eca\u5929\u5929\u6c14\u5f88\u597d\uff0c\u6211\u4eec\u53bb\u516c\u56ed\u3002", 9),
    ("\u6771\u4eac\u30bf\u30ef\u30fc\u306b\u884c\u304d\u307e\u3057\u305f\u3002", 9),
    ("\uc548\ub155\ud558\uc138\uc694 \uc138\uacc4", 3),
    (
        "\u0e20\u0e32\u0e29\u0e32\u0e44\u0e17\u0e22\u0e44\u0e21\u0e48\u0e21\u0e35\u0e0a\u0e48\u0e2d\u0e07\u0e27\u0e48\u0e32\u0e07",
        6,
    ),
    (
        "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466 \U0001f44d\U0001f3fd "
        "\U0001f1e9\U0001f1ea",
        18,
    ),
    ("zero\u200bwidth\u2060joiner\ufeff", 7),
    ("\xa0\u2003\u3000wide spaces", 5),
    ("x\x00y\x1b[31mred\x1b[0m", 12),
)
