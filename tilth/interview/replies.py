"""The replies to the seeder: what its calls are answered with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tilth.interview.approval import SheetTask, WentBack
from tilth.interview.criteria_sheet import same_sheet

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


def change_wanted(text: str) -> str:
    """Pass on what the user wants changed in a seed they were shown."""
    heading = (
        "The tests hold, but the user has read the criteria and wants a change. Nothing was "
        "written yet. In their words:"
    )
    ending = (
        "Change plan and tests to fit, ask with `ask_user` if it is not clear, and call "
        "`write_seed` again with the whole seed. The user will read it again."
    )
    return "\n".join([heading, "", text, "", ending])


def rewritten(before: Sequence[SheetTask], after: Sequence[SheetTask]) -> str:
    """Pass on criteria that the user rewrote."""
    heading = (
        "The tests hold, but the user has rewritten acceptance criteria. Nothing was written yet. "
        "What is not named here stays as it was:"
    )
    ending = (
        "Take these criteria word for word, change descriptions and tests to fit, and call "
        "`write_seed` again with the whole seed. If one of them cannot be tested or contradicts "
        "another, put that to the user with `ask_user` first."
    )
    return "\n".join([heading, "", *_differences(before, after), ending])


def _differences(before: Sequence[SheetTask], after: Sequence[SheetTask]) -> Iterator[str]:
    kept = {task.id for task in after}
    for task in after:
        if not any(same_sheet([task], [was]) for was in before):
            criteria = enumerate(task.criteria, start=1)
            yield from (f"{task.id} {task.title}", *(f"{n}. {text}" for n, text in criteria), "")
    gone = [task.id for task in before if task.id not in kept]
    if gone:
        yield from (f"Taken out of the plan: {', '.join(gone)}", "")


def went_back(back: WentBack, *, seed: bool) -> str:
    """Pass on that the user answers an earlier question anew."""
    left = (
        "Not written: before they approve your seed, the user goes back"
        if seed
        else "Not answered yet: the user goes back"
    )
    then = (
        "Change the seed to fit, and call `write_seed` again with the whole seed."
        if seed
        else "Take that into account, and ask again what is still open."
    )
    return (
        f"{left} to an earlier question of yours:\n\n{back.question}\n\n"
        f"Their answer is now:\n\n{back.answer}\n\n{then}"
    )
