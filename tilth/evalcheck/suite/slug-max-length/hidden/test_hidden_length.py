"""The limit, and all that must stay as it was."""

import ast
from pathlib import Path

import inspect

import pytest
import slugs
from slugs import page_url, slugify, unique_slug


MODULE = "slugs.py"
PUBLIC = {"page_url", "slugify", "unique_slug"}
FILES = {"slugs.py"}
UNTOUCHED = '''
_WORD = re.compile(r"[a-z0-9_]+")


def unique_slug(title, taken):
    """Give the slug of a title, numbered from 2 if it is taken."""
    slug = slugify(title)
    candidate = slug
    number = 2
    while candidate in taken:
        candidate = f"{slug}-{number}"
        number += 1
    return candidate


def page_url(section, title):
    """Give the path of a page in a section."""
    return f"/{slugify(section)}/{slugify(title)}"
'''

ROOT = Path(__file__).resolve().parents[1]


def source():
    return (ROOT / MODULE).read_text(encoding="utf-8")


def public_names(body):
    """Give what a module or class defines under a public name; imports do not count."""
    names = set()
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return {name for name in names if not name.startswith("_")}


def test_no_public_name_comes_or_goes():
    assert public_names(ast.parse(source()).body) == PUBLIC


def test_what_the_task_does_not_touch_stands_as_it_was():
    for block in UNTOUCHED.strip("\n").split("\n\n\n"):
        assert block in source(), block


def test_no_module_and_no_dependency_comes_along():
    found = {p.relative_to(ROOT) for p in (*ROOT.rglob("*.py"), *ROOT.glob("requirements*"))}
    assert {str(path) for path in found if path.parts[0] != "tests"} == FILES


@pytest.mark.parametrize(
    ("title", "limit", "slug"),
    [
        ("aa bb cc", 8, "aa-bb-cc"),
        ("aa bb cc", 7, "aa-bb"),
        ("aa bb cc", 5, "aa-bb"),
        ("aa bb cc", 4, "aa"),
        ("aa bb cc", 1, "a"),
        ("a bbbbbb c", 4, "a"),
        ("", 5, ""),
        ("?!", 5, ""),
        ("snake_case name", 12, "snake_case"),
    ],
)
def test_as_many_whole_words_as_fit_are_kept(title, limit, slug):
    assert slugify(title, max_length=limit) == slug


def test_separators_count_whatever_they_are():
    assert slugify("aa bb", "--", 5) == "aa"
    assert slugify("aa bb", "--", 6) == "aa--bb"
    assert slugify("a_b cc", "_", 4) == "a_b"
    assert slugify("aa bb", "", 4) == "aabb"


@pytest.mark.parametrize("limit", [0, -1])
@pytest.mark.parametrize("title", ["Beans", ""])
def test_a_limit_below_one_is_refused_whatever_the_title(title, limit):
    with pytest.raises(ValueError):
        slugify(title, max_length=limit)


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("snake_case stays", "snake_case-stays"),
        ("The Art of the Hoe", "the-art-of-the-hoe"),
        ("Don't dig!", "dont-dig"),
        ("  Year 2024 -- in  review ", "year-2024-in-review"),
        ("x" * 300, "x" * 300),
        ("Crème brûlée", "cr-me-br-l-e"),
        ("", ""),
    ],
)
def test_without_a_limit_old_slugs_come_out_as_before(title, slug):
    assert slugify(title) == slug
    assert unique_slug(title, {slug, f"{slug}-2"}) == f"{slug}-3"
    assert page_url(title, title) == f"/{slug}/{slug}"


def test_the_functions_take_what_the_task_names():
    names = {name: list(inspect.signature(getattr(slugs, name)).parameters) for name in PUBLIC}
    assert names == {
        "slugify": ["title", "separator", "max_length"],
        "unique_slug": ["title", "taken"],
        "page_url": ["section", "title"],
    }
