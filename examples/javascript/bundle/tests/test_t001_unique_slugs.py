"""Asks the module itself, through node."""

import json
import subprocess

SCRIPT = """
import { uniqueSlugs } from "./src/slug.js";
console.log(JSON.stringify(uniqueSlugs(JSON.parse(process.argv[1]))));
"""


def unique_slugs(*titles):
    done = subprocess.run(
        ["node", "--input-type=module", "--eval", SCRIPT, json.dumps(titles)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_different_titles_keep_their_slugs():  # AC-1
    assert unique_slugs("News", "About us") == ["news", "about-us"]


def test_a_slug_that_was_given_gets_a_number():  # AC-2
    assert unique_slugs("News", "News!", "news") == ["news", "news-2", "news-3"]


def test_a_number_that_is_taken_is_passed_over():  # AC-2
    assert unique_slugs("News 2", "News", "News") == ["news-2", "news", "news-3"]
