import pytest

from templates import TemplateError, render

VALUES = {"name": "  Ada ", "order": {"id": 7, "customer": {"name": "Eve"}}}


# AC-1
def test_a_dotted_name_looks_into_dicts():
    assert render("{{ order.customer.name }}: {{order.id}}", VALUES) == "Eve: 7"


# AC-2
def test_filters_are_applied_from_left_to_right():
    assert render("<{{ name | trim | upper }}>", VALUES) == "<ADA>"
    assert render("{{ order.customer.name|lower }}", VALUES) == "eve"


# AC-3
@pytest.mark.parametrize("field", ["nobody", "order.customer | shout", "order..id", "1 + 1"])
def test_what_is_no_field_is_refused_with_its_line(field):
    with pytest.raises(TemplateError, match="line 2:"):
        render("Dear\n{{ " + field + " }}", VALUES)


# AC-4
def test_plain_fields_are_filled_as_before():
    assert render("{{ a }}{{ b }}", {"a": 1, "b": None}) == "1None"
