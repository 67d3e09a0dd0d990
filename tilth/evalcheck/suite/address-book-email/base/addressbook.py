"""An address book, kept in memory."""

from dataclasses import dataclass


class BookError(Exception):
    """What was asked for is not in the book, or is there already."""


@dataclass(frozen=True)
class Contact:
    """A person or a firm."""

    name: str
    email: str = ""
    phones: tuple[str, ...] = ()


class AddressBook:
    """Contacts, each under a name of its own."""

    def __init__(self):
        self._contacts = {}

    def add(self, contact):
        """Enter a contact; its name must be new."""
        if contact.name in self._contacts:
            raise BookError(f"{contact.name!r} is in the book already")
        self._contacts[contact.name] = contact

    def remove(self, name):
        """Take a contact out and give it back."""
        if name not in self._contacts:
            raise BookError(f"{name!r} is not in the book")
        return self._contacts.pop(name)

    def find(self, name):
        """Give the contact of exactly this name, or None."""
        return self._contacts.get(name)

    def all(self):
        """Give all contacts, by name, small and capital letters alike."""
        return sorted(self._contacts.values(), key=lambda contact: contact.name.casefold())

    def to_text(self):
        """Write a line for each contact, as the printing program wants it."""
        return "".join(f"{contact.name} <{contact.email}>\n" for contact in self.all())
