"""The words an interview gives back to the seeder."""

from __future__ import annotations

from collections.abc import Sequence

_MOST_PROBLEMS = 60

NUDGE = (
    "Your answer called no tool, so nobody has seen it. Call `ask_user` to ask the user, a reading "
    "tool to look at the repository, or `write_seed` to hand in the whole seed."
)
CUT_TEXT = (
    "Your answer was cut off at the length limit and called no tool. Go on in smaller steps, and "
    "call a tool."
)
CUT_CALL = (
    "Not executed: your answer was cut off at the length limit, so this call may be incomplete. "
    "Make it again, shorter: fewer tasks or smaller tests if it was `write_seed`."
)
SAME_CALL = (
    "You have made this very call before and its result stands above. Do something else: look "
    "elsewhere, ask the user, or call `write_seed`."
)
ONE_SEED = "Not heard: only the first write_seed of an answer is heard."
ASKED_TOO = (
    "Not heard: you asked the user something in the same answer. Take the reply into account, then "
    "call `write_seed` again."
)
INTERRUPTED = (
    "This call was interrupted before its result was recorded. Make it again if you still need it."
)
UNANSWERED = (
    "This is the same seed again, and nobody was asked. Mend the contradictions that were named, "
    "or put them to the user with `ask_user`, then call `write_seed`."
)
WRITTEN = "The seed holds and is written. The interview is over."


def refused(problems: Sequence[str]) -> str:
    """List everything that is wrong with a seed."""
    shown = [f"- {problem}" for problem in problems[:_MOST_PROBLEMS]]
    more = len(problems) - len(shown)
    tail = [f"- … and {more} more"] if more > 0 else []
    heading = (
        "The seed does not hold yet, and nothing was written. All that was found, "
        f"{len(problems)} problem(s):"
    )
    ending = "Mend all of them and call `write_seed` again with the whole seed."
    return "\n".join([heading, "", *shown, *tail, "", ending])


def disputed(contradictions: Sequence[str]) -> str:
    """Pass on what the contract review found."""
    heading = (
        "The tests hold, but an independent reader of the contract named contradictions. Nothing "
        "was written yet:"
    )
    ending = (
        "For each: mend the seed, or put it to the user with `ask_user` if it is theirs to decide. "
        "Then call `write_seed` again with the whole seed. It is not reviewed a second time."
    )
    return "\n".join([heading, "", *(f"- {line}" for line in contradictions), "", ending])


def few_left(left: int) -> str:
    """Warn that the interview must come to its end."""
    return (
        f"[{left} answers are left in this interview. Decide what is still open yourself, list it "
        "in `open_questions`, and call `write_seed`.]"
    )
