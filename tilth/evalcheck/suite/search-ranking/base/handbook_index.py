"""A search index over pages of text, by word."""

import re


class IndexFileError(Exception):
    """A file that cannot be read as an index."""


class Index:
    """The words of pages; a page has an id, which is a text."""

    def __init__(self):
        self._pages = {}

    def add(self, page, text):
        """Enter a page; entering it again replaces its words and keeps its place."""
        self._pages[page] = words(text)

    def search(self, query):
        """Give the ids of the pages that hold every word of a query; none for no words."""
        wanted = set(words(query))
        if not wanted:
            return []
        return [page for page, held in self._pages.items() if wanted <= set(held)]


def words(text):
    """Give the words of a text in small letters, in order, doubles kept."""
    return re.findall(r"\w+", text.casefold())
