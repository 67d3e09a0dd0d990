"""The answers file: an interview without a person, answered from what was written down before."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from tilth.base.errors import BadText, UserError
from tilth.base.foreign_text import read_json
from tilth.base.safe_text import one_line
from tilth.interview.frontend import SeedSummary
from tilth.interview.question import DECIDE_YOURSELF, Question
from tilth.interview.summary import spent_line, summary_lines
from tilth.task.budget import Meter

_SHAPE = "give a JSON list of answers in order, or an object from question to answer"


class Answers:
    """Hold the answers, by their order or by their question."""

    def __init__(self, in_order: Sequence[str] = (), by_question: Mapping[str, str] | None = None):
        self._in_order = list(in_order)
        self._by_question = {_loose(key): text for key, text in (by_question or {}).items()}

    def skip(self, count: int) -> None:
        """Pass over answers an earlier sitting has used."""
        del self._in_order[:count]

    def to(self, question: str) -> str:
        """Give the answer; without one the seeder is to decide and say so."""
        if self._in_order:
            found: str | None = self._in_order.pop(0)
        else:
            found = self._by_question.get(_loose(question))
        return found if found and found.strip() else DECIDE_YOURSELF


def read_answers(path: Path) -> Answers:
    """Read an answers file, or say what is wrong with it."""
    try:
        content = read_json(path.read_bytes())
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from None
    except BadText as error:
        raise UserError(f"{path} cannot be used: {error}; {_SHAPE}") from None
    if isinstance(content, list) and all(_is_answer(item) for item in content):
        return Answers(in_order=[_text(item) for item in content])
    if isinstance(content, dict) and all(_is_answer(item) for item in content.values()):
        return Answers(by_question={key: _text(item) for key, item in content.items()})
    raise UserError(f"{path} does not hold answers: {_SHAPE}")


def _is_answer(item: Any) -> bool:
    return item is None or isinstance(item, str | int | float | bool)


def _text(item: Any) -> str:
    # null leaves a question open on purpose.
    if isinstance(item, bool):
        return "yes" if item else "no"
    return "" if item is None else str(item)


def _loose(text: str) -> str:
    return " ".join(text.split()).casefold().rstrip("?!. ")


class AnswersFrontend:
    """Answer from a file, and tell on a stream what was asked and answered."""

    def __init__(self, answers: Answers, stream: TextIO | None = None) -> None:
        self._answers = answers
        self._stream = stream or sys.stderr

    def pass_over(self, count: int) -> None:
        """Leave out answers that an earlier sitting has used."""
        self._answers.skip(count)

    def ask(self, question: Question) -> str:
        answer = self._chosen(question, self._answers.to(question.question))
        self._tell(f"asked: {one_line(question.question, 300)}")
        shown = "(left to the seeder)" if answer == DECIDE_YOURSELF else answer
        self._tell(f"answered: {one_line(shown, 300)}")
        return answer

    def update_tokens(self, meter: Meter, turns: int) -> None:
        self._tell(spent_line(meter, turns))

    def show_summary(self, summary: SeedSummary) -> None:
        for line in summary_lines(summary):
            self._tell(line)

    def _chosen(self, question: Question, answer: str) -> str:
        """Take a bare number for the option it names."""
        number = int(answer) if answer.isascii() and answer.isdigit() else 0
        return question.options[number - 1] if 0 < number <= len(question.options) else answer

    def _tell(self, line: str) -> None:
        self._stream.write(line + "\n")
        self._stream.flush()
