"""An evaluator of known error rate, played the whole shipped suite: the table in the docs.

Run as a program it prints that table. It takes minutes, so no test does.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from support.flow_site import Site, accept, reject
from support.messages_api import Answer, MessagesServer, Request, say
from tilth.evalcheck.cases import load_suite
from tilth.evalcheck.order import questions
from tilth.evalcheck.question import SuiteQuestion
from tilth.evalcheck.run import eval_check
from tilth.evalcheck.wanted import Wanted

ACCEPTS_EVERY_NTH_WRONG = 18
REJECTS_EVERY_NTH_RIGHT = 30
MUMBLES_AT_EVERY_NTH_RIGHT = 45


class KnownEvaluator:
    """Know every answer, and err as often as it is told to.

    What it rejects rightly it proves by the case's own hidden tests.
    """

    def __init__(self, asked: tuple[SuiteQuestion, ...]) -> None:
        self._asked = iter(asked)
        self._seen = {True: 0, False: 0}
        self._answer: Answer = accept()

    def __call__(self, request: Request) -> Answer:
        if len(request.body["messages"]) == 1:
            question = next(self._asked)
            self._seen[question.is_right] += 1
            self._answer = self._rule(question, self._seen[question.is_right])
        return self._answer

    def _rule(self, question: SuiteQuestion, number: int) -> Answer:
        if not question.is_right:
            if number % ACCEPTS_EVERY_NTH_WRONG == 0:
                return accept(score=88)
            hidden = "\n\n".join(question.suite_case.hidden.values())
            return reject(str(question.category), concern=question.note, probe=hidden)
        if number % MUMBLES_AT_EVERY_NTH_RIGHT == 0:
            return say("This looks right to me.")
        if number % REJECTS_EVERY_NTH_RIGHT == 0:
            return reject("scope_creep", concern="It does more than the task asks for.")
        return accept(score=95)


def main() -> None:
    asked = questions(load_suite().cases)
    with tempfile.TemporaryDirectory() as folder, MessagesServer(KnownEvaluator(asked)) as server:
        environ = Site(Path(folder)).environ(
            server.url, TILTH_SANDBOX="auto", TILTH_MUTATION_SECONDS="2"
        )
        raise SystemExit(eval_check(Wanted(), as_json=False, environ=environ))


if __name__ == "__main__":
    main()
