"""The search by address, and all that must stay as it was."""

import ast
from pathlib import Path

import dataclasses

import pytest
from addressbook import AddressBook, BookError, Contact


MODULE = "addressbook.py"
PUBLIC = {"AddressBook", "BookError", "Contact"}
FILES = {"addressbook.py"}
UNTOUCHED = '''
class BookError(Exception):
    """What was asked for is not in the book, or is there already."""


@dataclass(frozen=True)
class Contact:
    """A person or a firm."""

    name: str
    email: str = ""
    phones: tuple[str, ...] = ()
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


MOM = Contact("mo", "Family@Example.org", ("1", "2"))
DAD = Contact("Al", "family@example.org")
KID = Contact("Zoe", "FAMILY@EXAMPLE.ORG")
NIL = Contact("Nil")


def book(*contacts):
    result = AddressBook()
    for contact in contacts:
        result.add(contact)
    return result


def test_all_who_share_an_address_are_found_in_the_order_of_adding():
    people = book(MOM, NIL, KID, DAD)
    assert people.find_by_email("family@EXAMPLE.org") == [MOM, KID, DAD]
    assert people.find_by_email("family") == []


def test_a_contact_added_again_comes_last():
    people = book(MOM, KID)
    people.add(people.remove("mo"))
    assert people.find_by_email("family@example.org") == [KID, MOM]


def test_changing_the_list_found_does_not_change_the_book():
    people = book(MOM, KID)
    people.find_by_email("family@example.org").clear()
    assert people.find_by_email("family@example.org") == [MOM, KID]


def test_contacts_are_kept_as_they_were_handed_in():
    people = book(MOM, KID)
    assert people.find("mo") is MOM
    assert people.remove("Zoe") is KID
    assert people.to_text() == "mo <Family@Example.org>\n"


def test_the_book_takes_what_it_took():
    odd = [Contact(" spaced ", "no address"), Contact("", ""), Contact("MO", "Family@Example.org")]
    people = book(MOM, *odd)
    assert len(people.all()) == 4
    with pytest.raises(BookError):
        people.add(Contact("mo", "other@example.org"))


def test_a_name_is_found_exactly():
    people = book(MOM)
    assert people.find("MO") is None
    assert people.find("mo ") is None
    with pytest.raises(BookError):
        people.remove("MO")


def test_all_are_listed_by_name_with_the_order_of_adding_among_equals():
    big = Contact("MO", "a@example.org")
    assert book(KID, MOM, big, DAD).all() == [DAD, MOM, big, KID]


def test_the_book_has_one_more_method_and_no_more():
    [body] = [n.body for n in ast.parse(source()).body if getattr(n, "name", "") == "AddressBook"]
    assert public_names(body) == {"add", "remove", "find", "find_by_email", "all", "to_text"}
    names = [field.name for field in dataclasses.fields(Contact)]
    assert names == ["name", "email", "phones"]
