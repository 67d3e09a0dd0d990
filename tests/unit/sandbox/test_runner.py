"""A command run to its end: exit, output, time."""

from __future__ import annotations

import os
import re
import threading
import tracemalloc
from pathlib import Path

import pytest

from tilth.base.errors import ToolError
from tilth.sandbox.confinement import KEEP_BYTES, Command, Finished, run
from tilth.sandbox.runner import Host

ENV = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}


def bash(line: str, cwd: Path, timeout_s: float = 10) -> Finished:
    return run(Command(argv=("bash", "-c", line), cwd=cwd, env=ENV, timeout_s=timeout_s))


def cut_apart(output: str) -> tuple[str, int, str]:
    """Give the head, how many bytes it says are left out, and the tail."""
    head, omitted, tail = re.split(r"\n\[… (\d+) bytes omitted …\]\n", output)
    return head, int(omitted), tail


def test_output_and_exit_code_come_back(tmp_path: Path) -> None:
    finished = bash("echo out; echo err >&2; exit 3", tmp_path)

    assert finished.output == "out\nerr\n"
    assert finished.exit_code == 3
    assert not finished.timed_out


def test_a_command_runs_in_its_directory_with_exactly_its_environment(tmp_path: Path) -> None:
    os.environ["LEAKED_SECRET"] = "x"
    try:
        finished = bash("pwd; env | cut -d= -f1 | sort | tr '\\n' ' '", tmp_path)
    finally:
        del os.environ["LEAKED_SECRET"]

    assert finished.output == f"{tmp_path}\nLANG PATH PWD RUN_MARK SHLVL _ "


def test_standard_input_is_empty(tmp_path: Path) -> None:
    assert bash("cat; echo done", tmp_path).output == "done\n"


def test_a_signal_counts_as_a_shell_counts_it(tmp_path: Path) -> None:
    assert bash("kill -TERM $$", tmp_path).exit_code == 143


def test_a_timeout_is_told_and_keeps_what_was_printed(tmp_path: Path) -> None:
    finished = bash("echo before; sleep 300; echo after", tmp_path, timeout_s=3)

    assert finished.timed_out
    assert finished.exit_code is None
    assert finished.output == "before\n"


def test_a_command_that_ignores_every_signal_is_ended_all_the_same(tmp_path: Path) -> None:
    finished = bash("trap '' TERM INT HUP; while :; do sleep 300; done", tmp_path, timeout_s=0.3)

    assert finished.timed_out


def test_a_command_that_closes_its_output_early_is_still_waited_for(tmp_path: Path) -> None:
    finished = bash("exec >&- 2>&-; sleep 0.1; touch later; exit 4", tmp_path)

    assert finished.exit_code == 4
    assert (tmp_path / "later").exists()


def test_output_of_exactly_both_parts_is_kept_whole(tmp_path: Path) -> None:
    finished = bash(f"head -c {2 * KEEP_BYTES} /dev/zero | tr '\\0' a", tmp_path)

    assert finished.output == "a" * (2 * KEEP_BYTES)


def test_one_byte_more_is_omitted_and_counted(tmp_path: Path) -> None:
    finished = bash(f"head -c {2 * KEEP_BYTES + 1} /dev/zero | tr '\\0' a", tmp_path)

    half = "a" * KEEP_BYTES
    assert finished.output == f"{half}\n[… 1 bytes omitted …]\n{half}"


def test_the_first_and_the_last_lines_survive_a_flood_of_small_writes(tmp_path: Path) -> None:
    finished = bash("for i in {1..20000}; do echo line $i; done", tmp_path)

    assert finished.output.startswith("line 1\nline 2\n")
    assert finished.output.endswith("line 19999\nline 20000\n")
    head, omitted, tail = cut_apart(finished.output)
    assert len(head + tail) + omitted == sum(len(f"line {i}\n") for i in range(1, 20001))


@pytest.mark.parametrize("shift", range(4))
def test_output_is_cut_between_characters(tmp_path: Path, shift: int) -> None:
    text = "x" * shift + "€😀" * 10_000
    (tmp_path / "text").write_text(text, encoding="utf-8")

    finished = bash("cat text", tmp_path)

    head, omitted, tail = cut_apart(finished.output)
    assert "\ufffd" not in finished.output
    assert text.startswith(head)
    assert text.endswith(tail)
    assert len((head + tail).encode()) + omitted == len(text.encode())


def test_invalid_bytes_and_nul_are_replaced(tmp_path: Path) -> None:
    assert bash(r"printf 'a\xff\xfeb\0c'", tmp_path).output == "a\ufffd\ufffdb\ufffdc"


def test_a_huge_output_costs_little_memory(tmp_path: Path) -> None:
    tracemalloc.start()
    try:
        finished = bash("head -c 200000000 /dev/zero", tmp_path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert cut_apart(finished.output)[1] == 200_000_000 - 2 * KEEP_BYTES
    assert peak < 4_000_000


def test_a_missing_program_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=r"^no-such-thing cannot be run: no such program[^\n]*$"):
        run(Command(argv=("no-such-thing",), cwd=tmp_path, env=ENV, timeout_s=1))


def test_a_missing_directory_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=r"the directory [^\n]*/gone does not exist$"):
        run(Command(argv=("true",), cwd=tmp_path / "gone", env=ENV, timeout_s=1))


def test_a_program_that_is_no_program_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("not a program")
    with pytest.raises(ToolError, match=r"(?i)cannot be run: permission denied"):
        run(Command(argv=("./notes.txt",), cwd=tmp_path, env=ENV, timeout_s=1))


@pytest.mark.parametrize("line", ["echo \0", "x" * 3_000_000])
def test_a_command_line_the_system_refuses_is_one_clear_line(tmp_path: Path, line: str) -> None:
    with pytest.raises(ToolError, match=r"^bash cannot be run: [^\n]*$"):
        bash(line, tmp_path)


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    bash("true", tmp_path)
    before = len(os.listdir("/proc/self/fd"))
    bash("echo x", tmp_path)
    with pytest.raises(ToolError):
        run(Command(argv=("no-such-thing",), cwd=tmp_path, env=ENV, timeout_s=1))

    assert len(os.listdir("/proc/self/fd")) == before


def test_a_program_that_is_open_for_writing_for_a_moment_is_run_after_it(tmp_path: Path) -> None:
    """As when another thread's child was forked while the program was written."""
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\necho ran\n", encoding="utf-8")
    program.chmod(0o755)
    held = program.open("a", encoding="utf-8")
    closing = threading.Timer(0.2, held.close)
    closing.start()
    try:
        command = Command(argv=(str(program),), cwd=tmp_path, env=ENV, timeout_s=10)
        assert run(command).output == "ran\n"
    finally:
        closing.join()


def test_a_program_that_is_not_there_for_a_moment_is_tried_once_more(tmp_path: Path) -> None:
    """As when an update puts a new one in its place; whatever else is wrong fails at once."""
    program, tries = tmp_path / "program", []

    class Updated(Host):
        """Be asked before every try, and have the program there at the second."""

        def run(self, command: Command, keep_bytes: int) -> Finished | None:
            tries.append(command.argv)
            if len(tries) == 2:
                program.write_text("#!/bin/sh\necho ran\n", encoding="utf-8")
                program.chmod(0o755)
            return None

    command = Command(argv=(str(program),), cwd=tmp_path, env=ENV, timeout_s=10, host=Updated())
    assert run(command).output == "ran\n"
    assert len(tries) == 2

    program.unlink()
    with pytest.raises(ToolError, match="no such program"):
        run(command)
    assert len(tries) == 4

    program.write_text("not a program", encoding="utf-8")
    with pytest.raises(ToolError, match=r"(?i)permission denied"):
        run(command)
    assert len(tries) == 5
