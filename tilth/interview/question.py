"""The question: what the seeder may ask the user, one thing at a time."""

from __future__ import annotations

import re
from typing import Any

from pydantic import ConfigDict, Field

from tilth.base.errors import Unreadable
from tilth.base.values import Value
from tilth.contract.tool_arguments import read_arguments
from tilth.model.messages import ToolSpec

MOST_OPTIONS = 9
DECIDE_YOURSELF = (
    "The user leaves this to you: decide it yourself, and list it as an open question in "
    "`open_questions` with what you decided and why."
)
COMPOUND = (
    "Not asked: this reads as more than one question. Ask the one that decides most, and ask the "
    "others afterwards, one at a time."
)
ONE_QUESTION = (
    "Not asked: only one question is put to the user at a time. Read the answer to the first one, "
    "then ask again if it is still open."
)

_ALSO = re.compile(r"\b(?:and|but) also\b|\bin addition\b|\bsecondly\b", re.IGNORECASE)
_QUOTED = re.compile(r"`[^`]*`|\"[^\"]*\"|“[^”]*”|\([^()]*\)")
_LISTED = re.compile(r"^\s*(?:[-*]|\(?[0-9a-z][.)])\s.*\?\s*$", re.MULTILINE)


class Question(Value):
    """Hold one question; the user may always answer in words of their own."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    question: str = Field(
        min_length=1, description="One question, anchored in what you read in the repository."
    )
    options: tuple[str, ...] = Field(
        default=(),
        max_length=MOST_OPTIONS,
        description="Likely answers, the one you recommend first. An answer in the user's own "
        "words is always offered beside them; do not list it.",
    )

    @property
    def is_compound(self) -> bool:
        """Tell whether several things are asked at once; what is quoted does not count."""
        text = _QUOTED.sub("", self.question)
        return text.count("?") > 1 or bool(_ALSO.search(text)) or bool(_LISTED.search(text))


ASK_USER = ToolSpec.of(
    "ask_user",
    "Ask the user one question and wait for the answer. One call an answer of yours, one thing a "
    "question.",
    Question,
)


def parse_question(arguments: Any) -> Question:
    """Read a question, or raise Unreadable."""
    question = read_arguments(ASK_USER.name, Question, arguments)
    text = question.question.strip()
    options = tuple(dict.fromkeys(option.strip() for option in question.options if option.strip()))
    if not text:
        raise Unreadable("ask_user: question: is empty")
    return Question(question=text, options=options)
