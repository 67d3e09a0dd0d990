"""A night of five scripted tasks: clean, rejected, tampered, below the bar, blocked.

It is what the viewer and the report have most to say about, made with the real program.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from support.flow_site import Run, Site, accept, block, call, reject, write
from support.messages_api import Answer, Reply, say, think

SLUG = '''"""Slugs: a title as it stands in an address."""

import re
import unicodedata


def slugify(title: str) -> str:
    """Lower the case, fold accents and join words with dashes."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode()
    return "-".join(re.findall(r"[a-z0-9]+", plain.lower()))
'''
SHORTEN = '''"""Shortening: a text cut between words."""


def shorten(text: str, limit: int) -> str:
    """Cut a text to at most `limit` characters, between two words."""
    if len(text) <= limit:
        return text
    return text[:limit].rsplit(" ", 1)[0]
'''
SHORTEN_WORD = SHORTEN.replace(
    '    return text[:limit].rsplit(" ", 1)[0]\n',
    "    head = text[: limit + 1]\n"
    '    return head.rsplit(" ", 1)[0] if " " in head else text[:limit]\n',
)
PROBE = (
    "from words.shorten import shorten\n\n\n"
    "def test_a_word_that_ends_at_the_limit_stays():\n"
    "    assert shorten('one two', 7) == shorten('one two three', 7) == 'one two'\n"
)
COUNT = '''"""Counting words."""


def count_words(text: str) -> int:
    """Count the words of a text."""
    return len(text.split())
'''
TITLE = '''"""Titles."""


def title_case(text: str) -> str:
    """Write every word with a capital."""
    return text.title()
'''
TITLE_AGAIN = TITLE.replace("text.title()", 'text.title().replace("\'S", "\'s")')

PLAN: tuple[tuple[str, str, list[str], str, str], ...] = (
    (
        "Make slugs of titles",
        "Articles need an address: `slugify(title)` in words/slug.py.",
        ["slugify('Crème brûlée!') gives 'creme-brulee'", "slugify('') gives ''"],
        "slug",
        (
            "from words.slug import slugify\n\n\ndef test_accents():  # AC-1\n"
            "    assert slugify('Crème brûlée!') == 'creme-brulee'\n\n\n"
            "def test_empty():  # AC-2\n    assert slugify('') == ''\n"
        ),
    ),
    (
        "Cut texts between words",
        "Previews show the head of a text: `shorten(text, limit)` in words/shorten.py.",
        ["No word is cut in two", "The result never exceeds the limit"],
        "shorten",
        (
            "from words.shorten import shorten\n\n\ndef test_between_words():  # AC-1\n"
            "    assert shorten('one two three', 8) == 'one two'\n\n\n"
            "def test_limit():  # AC-2\n    assert len(shorten('one two three', 8)) <= 8\n"
        ),
    ),
    (
        "Count words",
        "Statistics need `count_words(text)` in words/count.py.",
        ["count_words('one  two') gives 2"],
        "count",
        (
            "from words.count import count_words\n\n\ndef test_count():\n"
            "    assert count_words('one  two') == 2\n"
        ),
    ),
    (
        "Write titles with capitals",
        "Headings use `title_case(text)` in words/title.py.",
        ["Every word begins with a capital", "Small words such as 'of' stay small"],
        "title",
        (
            "from words.title import title_case\n\n\ndef test_capitals():  # AC-1\n"
            "    assert title_case('red house') == 'Red House'\n\n\n"
            "def test_one_word():  # AC-2\n    assert title_case('a') == 'A'\n"
        ),
    ),
    (
        "Translate words",
        "`translate(word)` in words/translate.py asks the company's dictionary service.",
        ["translate('house') gives 'Haus'"],
        "translate",
        (
            "from words.translate import translate\n\n\ndef test_translate():\n"
            "    assert translate('house') == 'Haus'\n"
        ),
    ),
)


def tasks() -> list[dict[str, Any]]:
    return [
        {"id": f"T-{n:03d}", "title": title, "description": about, "acceptance_criteria": criteria}
        for n, (title, about, criteria, _, _) in enumerate(PLAN, start=1)
    ]


def site(root: Path) -> Site:
    """Lay out the repository."""
    files = {
        "AGENTS.md": "Every function has a docstring and types.\n",
        "words/__init__.py": '"""Words."""\n',
        "conftest.py": "",
    }
    return Site.make(root, files)


def bundle(site: Site) -> Path:
    folder = site.root / "bundle"
    (folder / "tests").mkdir(parents=True)
    plan = {"version": 1, "feature": "Texts for the new site", "tasks": tasks()}
    (folder / "prd.json").write_text(json.dumps(plan), encoding="utf-8")
    for number, (_, _, _, name, test) in enumerate(PLAN, start=1):
        (folder / "tests" / f"test_t{number:03d}_{name}.py").write_text(test, encoding="utf-8")
    return folder


def submit(path: str, symbol: str, summary: str, criteria: int = 1, **more: Any) -> Answer:
    covered = [
        {"criterion": str(n), "addressed_by": f"{path}:{symbol}", "evidence": f"test {n} passes"}
        for n in range(1, criteria + 1)
    ]
    return call("submit_case", summary=summary, ac_coverage=covered, **more)


def worker() -> list[Reply]:
    test = "python -m pytest -q tests/{} 2>&1 | tail -3"
    return [
        think("A small task. I look at the conventions first.")
        + say("I look around.")
        + call("bash", command="ls; cat AGENTS.md"),
        write("words/slug.py", SLUG) + call("bash", command=test.format("test_t001_slug.py")),
        submit("words/slug.py", "slugify", "slugify() folds accents and joins words.", 2),
        write("words/shorten.py", SHORTEN),
        submit("words/shorten.py", "shorten", "shorten() cuts at the last blank.", 2),
        say("A word that ends exactly at the limit was lost.")
        + write("words/shorten.py", SHORTEN_WORD)
        + call("bash", command=test.format("test_t002_shorten.py")),
        submit(
            "words/shorten.py",
            "shorten",
            "shorten() keeps a word that ends at the limit, and cuts one that is longer.",
            2,
            uncertainties=["A single word longer than the limit is cut: the criteria disagree."],
        ),
        write("words/count.py", COUNT)
        + write("conftest.py", "collect_ignore_glob = ['tests/*']\n"),
        submit("words/count.py", "count_words", "count_words() splits at white space."),
        write("words/title.py", TITLE),
        submit("words/title.py", "title_case", "title_case() capitalises every word.", 2),
        write("words/title.py", TITLE_AGAIN),
        submit("words/title.py", "title_case", "Possessives stay small.", 2),
        block(
            "The dictionary service needs a key that is not here.", evidence="no key in AGENTS.md"
        ),
    ]


def evaluator() -> list[Reply]:
    small = "Small words such as 'of' are capitalised too: criterion 2 is not met."
    return [
        accept(score=95, concern="Both criteria are met and tested."),
        reject(
            "tests_pass_but_wrong",
            concern="shorten('one two three', 7) loses 'two', although it ends at the limit.",
            evidence=["words/shorten.py:shorten"],
            next_step="Keep a word that ends exactly at the limit.",
            probe=PROBE,
            score=55,
        ),
        accept(score=84, resolved=["C1"], concern="The word at the limit is kept now."),
        accept(
            score=88, concern="The function is right; conftest.py should not have been touched."
        ),
        reject(concern=small, evidence=["words/title.py"], next_step="Keep small words.", score=40),
        reject(concern=small, evidence=["words/title.py"], next_step="Keep small words.", score=45),
        call("submit_ruling", contract_at_fault=True, reason="Without the key it cannot be met."),
    ]


def run_night(root: Path) -> Run:
    """Run it; it ends with a question, exit 6."""
    place = site(root)
    settings = {"TILTH_ON_EXHAUSTED": "accept", "TILTH_MAX_EVALUATOR_CALLS_PER_TASK": "2"}
    return place.run(bundle(place), worker=worker(), evaluator=evaluator(), **settings)
