"""The style sheet of a page: readable, in light and dark, on paper and on a small screen.

It stands in a module of its own because the page's content security policy holds its hash.
"""

from __future__ import annotations

from typing import Final

STYLE: Final = """
:root{color-scheme:light dark;--ink:#14202e;--paper:#fff;--line:#c3ccd7;--soft:#f2f5f8}
@media(prefers-color-scheme:dark){
:root{--ink:#e6ebf2;--paper:#10161e;--line:#3b4756;--soft:#1a222d}}
*{box-sizing:border-box}
body{margin:0;color:var(--ink);background:var(--paper);font:16px/1.5 system-ui,sans-serif}
main{max-width:64rem;margin:0 auto;padding:1.5rem 1rem 4rem}
h1{font-size:1.5rem;overflow-wrap:anywhere}
h2{font-size:1.15rem;margin:2.5rem 0 .75rem;border-bottom:1px solid var(--line)}
h3{font-size:1rem}
dl{display:grid;grid-template-columns:repeat(auto-fill,minmax(19rem,1fr));gap:.5rem 1.5rem}
dt{font-size:.8rem;opacity:.8}
dd{margin:0;overflow-wrap:anywhere}
svg{display:block;width:100%;height:auto;margin:.5rem 0 1rem}
.wide{overflow-x:auto;margin:.5rem 0 1rem}
table{border-collapse:collapse;font-size:.875rem}
th,td{padding:.3rem .75rem .3rem 0;text-align:left;vertical-align:top;
border-bottom:1px solid var(--line);max-width:24rem;overflow-wrap:break-word;unicode-bidi:isolate}
td.n{text-align:right;font-variant-numeric:tabular-nums}
details{margin:.25rem 0;border:1px solid var(--line);border-radius:4px}
summary{padding:.4rem .75rem;cursor:pointer;overflow-wrap:anywhere}
pre{margin:0;padding:.75rem;background:var(--soft);font-size:.8125rem;white-space:pre-wrap;
overflow-wrap:anywhere;unicode-bidi:isolate}
:focus-visible{outline:3px solid #3b82f6;outline-offset:2px}
@media print{main{max-width:none}details,svg,tr{break-inside:avoid}
details::details-content{content-visibility:visible;height:auto}}
"""
