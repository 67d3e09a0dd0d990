"""Asks the command itself, through go run."""

import subprocess


def wordcount(text, *flags):
    done = subprocess.run(
        ["go", "run", "./cmd/wordcount", *flags],
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.rstrip("\n")


def test_the_longest_word_is_printed():  # AC-1
    assert wordcount("a longest shorter word", "-longest") == "longest"
    assert wordcount("one two", "-longest") == "one"
    assert wordcount("", "-longest") == ""


def test_length_is_counted_in_characters():  # AC-2
    assert wordcount("äöü word", "-longest") == "word"


def test_the_count_is_printed_as_before():  # AC-3
    assert wordcount("", "-longest") == ""
    assert wordcount("three words here") == "3"
