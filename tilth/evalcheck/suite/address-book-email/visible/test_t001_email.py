from addressbook import AddressBook, Contact

ADA = Contact("Ada", "ada@example.org")
BEN = Contact("Ben", "family@example.org")
EVE = Contact("Eve", "eve@example.org", ("555-1",))


def book(*contacts):
    result = AddressBook()
    for contact in contacts:
        result.add(contact)
    return result


# AC-1
def test_a_contact_is_found_by_its_address():
    assert book(ADA, BEN, EVE).find_by_email("eve@example.org") == [EVE]


# AC-1
def test_capital_letters_make_no_difference():
    assert book(ADA, BEN).find_by_email("ADA@Example.org") == [ADA]


# AC-1
def test_nobody_is_found_for_an_unknown_address():
    assert book(ADA).find_by_email("eve@example.org") == []


# AC-2
def test_a_removed_contact_is_not_found():
    people = book(ADA, EVE)
    people.remove("Ada")
    assert people.find_by_email("ada@example.org") == []


# AC-3
def test_the_list_is_printed_by_name():
    assert book(EVE, ADA).to_text() == "Ada <ada@example.org>\nEve <eve@example.org>\n"
