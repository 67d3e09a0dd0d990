"""Trimming: what is left out of a conversation that no longer fits, and when that pays."""

from __future__ import annotations

from tilth.model.messages import Block
from tilth.task.trimming import KEEP_RESULTS, shorter_results


def talk(*sizes: int, prose: int = 0) -> list[Block]:
    """Give a conversation of commands whose results have these sizes, after so much prose."""
    messages: list[Block] = [{"role": "user", "content": [{"type": "text", "text": "Work."}]}]
    for number, size in enumerate(sizes):
        call = {"type": "tool_use", "id": f"t{number}", "name": "bash", "input": {"command": "x"}}
        said = {"type": "text", "text": "w" * prose}
        messages.append({"role": "assistant", "content": [said, call] if prose else [call]})
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "y" * size}
        messages.append({"role": "user", "content": [result]})
    return messages


def gone(messages: list[Block]) -> list[str]:
    return list(shorter_results(messages))


def test_large_old_results_go_alone() -> None:
    sizes = [20_000, 20_000, *[2_000] * KEEP_RESULTS]
    assert gone(talk(*sizes)) == ["t0", "t1"]


def test_small_old_results_are_not_worth_writing_the_rest_anew_so_recent_ones_go_too() -> None:
    sizes = [400, 400, *[20_000] * KEEP_RESULTS]
    assert gone(talk(*sizes)) == [f"t{n}" for n in range(KEEP_RESULTS + 1)]


def test_what_else_was_said_counts_as_what_must_be_written_anew() -> None:
    sizes = [6_000, *[2_000] * KEEP_RESULTS]
    assert gone(talk(*sizes)) == ["t0"]
    assert len(gone(talk(*sizes, prose=20_000))) > 1


def test_old_results_go_whatever_it_costs_when_nothing_else_is_long() -> None:
    sizes = [400, 400, *[10] * KEEP_RESULTS]
    assert gone(talk(*sizes, prose=20_000)) == ["t0", "t1"]


def test_the_newest_is_only_cut_and_only_when_nothing_else_is_left() -> None:
    (name,), (text,) = zip(*shorter_results(talk(10, 50_000)).items(), strict=True)
    assert name == "t1"
    assert "are removed here to make room" in text
