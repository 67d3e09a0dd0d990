import pytest

from slugs import page_url, slugify, unique_slug


# AC-1
def test_whole_words_are_kept_as_far_as_they_fit():
    assert slugify("Sowing beans in May", max_length=15) == "sowing-beans-in"
    assert slugify("Sowing beans in May", max_length=14) == "sowing-beans"


# AC-1
def test_a_first_word_that_does_not_fit_is_cut():
    assert slugify("Vermicomposting at home", max_length=5) == "vermi"


# AC-2
def test_a_length_below_one_is_refused():
    with pytest.raises(ValueError):
        slugify("Beans", max_length=0)


# AC-3
def test_without_a_limit_the_slug_is_whole():
    assert slugify("Sowing beans in May") == "sowing-beans-in-may"
    assert page_url("Garden", "Peas & beans") == "/garden/peas-beans"


# AC-3
def test_a_taken_slug_is_numbered():
    assert unique_slug("Beans", {"beans"}) == "beans-2"
