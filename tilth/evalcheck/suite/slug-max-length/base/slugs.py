"""Names of pages as they stand in links."""

import re

_WORD = re.compile(r"[a-z0-9_]+")


def slugify(title, separator="-"):
    """Turn a title into the words of a link: small letters, digits and underscores."""
    words = _WORD.findall(title.lower().replace("'", ""))
    return separator.join(words)


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
