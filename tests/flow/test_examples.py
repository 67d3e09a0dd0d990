"""The examples in other languages: their bundles hold, and a run takes them to a commit."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.flow_site import Site, accept, write
from support.messages_api import call
from support.toolchains import EXAMPLES, path_with, present

from tilth.config.project import TILTH_TOML, read_project
from tilth.gate.junit import complaint, read_counts
from tilth.interview.check import check

JAVASCRIPT = """
/** Give the names of pages, each its own, in the order of their titles. */
export function uniqueSlugs(titles) {
  const given = new Set();
  return titles.map((title) => {
    const name = slug(title);
    let free = name;
    for (let number = 2; given.has(free); number += 1) free = `${name}-${number}`;
    given.add(free);
    return free;
  });
}
"""
GO = """
// Longest gives the longest word of a text, the first of several.
func Longest(text string) string {
	longest := ""
	for _, word := range strings.Fields(text) {
		if utf8.RuneCountInString(word) > utf8.RuneCountInString(longest) {
			longest = word
		}
	}
	return longest
}
"""
FLAG = """	longest := flag.Bool("longest", false, "print the longest word")
	flag.Parse()
"""
PRINT = """	if *longest {
		fmt.Println(wordcount.Longest(string(text)))
		return
	}
	fmt.Println("""


Edits = dict[str, Callable[[str], str]]


def javascript() -> Edits:
    """Give what meets the JavaScript example's task."""
    return {"src/slug.js": lambda text: text + JAVASCRIPT}


def go() -> Edits:
    """Give what meets the Go example's task."""

    def package(text: str) -> str:
        two = 'import (\n\t"strings"\n\t"unicode/utf8"\n)'
        return text.replace('import "strings"', two) + GO

    def main(text: str) -> str:
        text = text.replace("import (\n", 'import (\n\t"flag"\n')
        text = text.replace("\ttext, err", FLAG + "\ttext, err")
        return text.replace("\tfmt.Println(wordcount.Count", PRINT + "wordcount.Count")

    return {"count.go": package, "cmd/wordcount/main.go": main}


EDITS = {"javascript": javascript, "go": go}


def files_of(name: str) -> dict[str, str]:
    root = EXAMPLES / name / "project"
    found = (path for path in root.rglob("*") if path.is_file())
    return {path.relative_to(root).as_posix(): path.read_text("utf-8") for path in found}


@pytest.mark.parametrize("name", present())
def test_a_bundle_is_red_before_the_work_and_green_after_it(name: str, tmp_path: Path) -> None:
    """Where a toolchain compiles, it does so once: its cache is shared by all that runs here."""
    project = tmp_path / "project"
    shutil.copytree(EXAMPLES / name / "project", project)
    environ = {"PATH": path_with(name), "HOME": str(tmp_path)}

    def ends(*argv: str) -> int:
        done = subprocess.run(argv, cwd=project, env=environ, capture_output=True, check=False)
        return done.returncode

    seeds = [str(path) for path in (EXAMPLES / name / "bundle/tests").glob("test_*.py")]
    pytest_argv = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *seeds)
    validators = read_project((project / TILTH_TOML).read_bytes(), TILTH_TOML).validators
    assert validators
    assert ends(*pytest_argv) == 1
    for file, edit in EDITS[name]().items():
        (project / file).write_text(edit((project / file).read_text("utf-8")), "utf-8")
    assert ends(*pytest_argv) == 0
    for named in validators:
        assert ends(*named.command) == 0
        assert named.junit is None or complaint(read_counts(project, named.junit)) is None


@pytest.mark.parametrize("name", [name for name in present() if name == "javascript"])
def test_a_task_in_another_language_is_gated_by_its_own_tools(name: str, tmp_path: Path) -> None:
    bundle, file, good = EXAMPLES / name / "bundle", "src/slug.js", "/^-+|-+$/g"
    site = Site.make(tmp_path, files_of(name))
    settings = {"PATH": path_with(name), "TILTH_SANDBOX": "auto"}
    environ = site.environ("http://127.0.0.1:1", **settings)
    assert check(bundle, site.repo, {}, environ=environ) == 0
    met = (site.repo / file).read_text("utf-8") + JAVASCRIPT
    covered = [{"criterion": str(n), "addressed_by": f"{file}:uniqueSlugs"} for n in (1, 2)]
    case = call("submit_case", summary="Done.", ac_coverage=covered)
    broken = write(file, met.replace(good, "/^-+/g")) + case
    run = site.run(
        bundle, worker=[broken, write(file, met) + case], evaluator=[accept()], **settings
    )
    assert run.code == 0
    ran = [ran for ran in run.of("validator_run") if ran["name"] == "node"]
    assert [(one["passed"], one["tests"]["passed"], one["tests"]["failed"]) for one in ran] == [
        (False, 1, 1),
        (True, 2, 0),
    ]
    assert run.subjects[-1] == "T-001: Give every page of a list a name of its own"
