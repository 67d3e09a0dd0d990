"""Plain text in lines of a given width."""

import re


class WrapError(ValueError):
    """A width in which nothing can be written."""


def wrap(text, width):
    """Give the lines of a text, its paragraphs filled anew and apart by an empty line."""
    lines = []
    for paragraph in paragraphs(text):
        if lines:
            lines.append("")
        lines.extend(_fill(paragraph.split(), width))
    return lines


def paragraphs(text):
    """Give the paragraphs of a text: what empty lines set apart."""
    return [part.strip() for part in re.split(r"\n\s*\n", text) if part.strip()]


def _fill(words, width):
    """Put words into lines, as many into each as fit."""
    lines = [words[0]]
    for word in words[1:]:
        if len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines
