"""Tool arguments: what is wrong with them is said in the words of JSON."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict

from tilth.base.errors import Unreadable
from tilth.contract.tool_arguments import read_arguments


class Asked(BaseModel):
    model_config = ConfigDict(extra="forbid")

    text: str = "x"
    items: tuple[str, ...] = ()
    listed: list[str] = []
    table: dict[str, str] = {}
    whole: int = 0
    number: float = 0.0
    flag: bool = False
    word: Literal["a", "b"] = "a"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"text": 1}, "text: must be a string"),
        ({"items": 5}, "items.0: must be a string"),
        ({"table": 5}, "table: must be an object"),
        ({"whole": "many"}, "whole: must be a whole number"),
        ({"whole": 1.5}, "whole: must be a whole number"),
        ({"whole": []}, "whole: must be a whole number"),
        ({"number": "x"}, "number: must be a number"),
        ({"number": []}, "number: must be a number"),
        ({"flag": "perhaps"}, "flag: must be true or false"),
        ({"flag": []}, "flag: must be true or false"),
        ({"word": "c"}, "word: must be a or b"),
        ({"other": 1}, "other: is not an argument of this tool"),
        ([], "the arguments must be one JSON object"),
        ({"text": 1, "whole": "x"}, "text: must be a string; whole: must be a whole number"),
    ],
)
def test_a_fault_is_told_as_somebody_who_writes_json_would(arguments: Any, said: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read_arguments("tool", Asked, arguments)
    assert str(caught.value) == f"tool: {said}"
