"""Access turned into mounts: what counts where paths nest, meet or lead elsewhere."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.sandbox_site import policy

from tilth.base.errors import ToolError
from tilth.sandbox.confinement import Access, Bind
from tilth.sandbox.forbidden import root_only, sockets
from tilth.sandbox.layout import Layout, Layouts, Link, PlaceKind, follow, lay_out


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for folder in ("a/b/c", "home/tools", "other"):
        (tmp_path / folder).mkdir(parents=True)
    return tmp_path


def kinds(access: Access, *fresh: Path) -> dict[str, PlaceKind]:
    layout = lay_out(access, fresh)
    return {str(mount.target): mount.kind for mount in layout.mounts}


def git_alone(root: Path) -> Access:
    """Show nothing below a root but what the worker sees of the git directory."""
    return Access(hidden=(root,), pinned=policy(root).worker().pinned)


def sources(layout: Layout) -> set[Path | None]:
    return {mount.source for mount in layout.mounts if mount.kind is PlaceKind.READABLE}


def test_shallow_places_come_before_deep_ones(root: Path) -> None:
    access = Access(writable=(root / "a" / "b",), hidden=(root / "a",), readable=(root / "a/b/c",))

    assert kinds(access) == {
        str(root / "a"): PlaceKind.HIDDEN,
        str(root / "a/b"): PlaceKind.WRITABLE,
        str(root / "a/b/c"): PlaceKind.READABLE,
    }
    assert list(kinds(access)) == sorted(kinds(access))


def test_on_the_same_path_the_stricter_counts(root: Path) -> None:
    place = root / "a"

    assert kinds(Access(writable=(place,), hidden=(place,))) == {str(place): PlaceKind.HIDDEN}
    both = Access(writable=(place,), readable=(place,), hidden=(root,))
    assert kinds(both)[str(place)] is PlaceKind.READABLE


def test_a_bind_counts_at_its_target(root: Path) -> None:
    bind = Bind(source=root / "other", target=root / "a" / "b", writable=True)
    (mount,) = lay_out(Access(binds=(bind,))).mounts

    assert (mount.source, mount.target) == (root / "other", root / "a" / "b")
    assert mount.kind is PlaceKind.WRITABLE


def test_what_is_readable_anyway_needs_no_mount(root: Path) -> None:
    assert kinds(Access(readable=(root / "a", root / "a" / "b"))) == {}


def test_what_is_hidden_anyway_needs_no_mount(root: Path) -> None:
    assert kinds(Access(hidden=(root, root / "home"))) == {str(root): PlaceKind.HIDDEN}


def test_a_file_in_a_place_that_is_empty_anyway_needs_no_mount(root: Path) -> None:
    (root / "a" / "agent.sock").touch()
    (root / "a" / "b" / "agent.sock").touch()
    hidden = (root / "a" / "agent.sock", root / "a" / "b" / "agent.sock")

    assert kinds(Access(hidden=hidden), root / "a") == {str(root / "a"): PlaceKind.FRESH}
    shown = Access(hidden=hidden, writable=(root / "a" / "b",))
    assert kinds(shown, root / "a")[str(hidden[1])] is PlaceKind.HIDDEN


def test_a_layout_is_given_again_while_the_disk_is_the_same(root: Path) -> None:
    layouts = Layouts()
    access = Access(writable=(root / "a",), readable=(root / "a" / "b",), hidden=(root / "home",))

    first = layouts.of(access)

    assert layouts.of(access) is first
    assert layouts.of(access.model_copy()) is first
    assert layouts.of(access.model_copy(update={"hidden": ()})) != first


def test_a_layout_is_made_anew_when_something_appears_goes_or_is_led_elsewhere(root: Path) -> None:
    layouts = Layouts()
    late = root / "late"
    access = Access(readable=(root / "other",), hidden=(root, late), writable=(root / "a" / "b",))
    assert str(late) not in {str(mount.target) for mount in layouts.of(access).mounts}
    shown = {str(mount.target) for mount in layouts.of(access).mounts}

    (root / "other").rename(root / "moved")
    gone = {str(mount.target) for mount in layouts.of(access).mounts}
    (root / "other").symlink_to("moved")
    led = layouts.of(access)

    assert gone == shown - {str(root / "other")}
    assert led.links == (Link(target=root / "other", text="moved"),)
    assert str(root / "moved") in {str(mount.target) for mount in led.mounts}


def test_a_link_that_a_command_puts_in_the_way_is_refused_the_next_time(root: Path) -> None:
    layouts = Layouts()
    access = Access(writable=(root / "a",), readable=(root / "a" / "b",))
    layouts.of(access)

    (root / "a" / "b").rename(root / "a" / "away")
    (root / "a" / "b").symlink_to("/etc")

    with pytest.raises(ToolError, match="is a link where the sandbox needs a plain path"):
        layouts.of(access)


def test_what_is_not_there_is_left_out(root: Path) -> None:
    gone = root / "gone"
    bind = Bind(source=gone, target=root / "a")

    assert kinds(Access(readable=(gone,), hidden=(gone,), binds=(bind,)), gone) == {}


def test_a_link_is_followed_and_made_again_only_where_it_is_covered(root: Path) -> None:
    (root / "home" / "python").symlink_to("../other")
    shown = Access(readable=(root / "home" / "python",), hidden=(root,))
    plain = Access(readable=(root / "home" / "python",))

    assert follow(root / "home" / "python").real == root / "other"
    assert lay_out(shown).links == (Link(target=root / "home" / "python", text="../other"),)
    assert lay_out(plain).links == ()


def test_a_circle_of_links_ends(root: Path) -> None:
    (root / "x").symlink_to("y")
    (root / "y").symlink_to("x")

    assert follow(root / "x").real == root / "x"
    assert follow(root / "x" / "below").real.is_relative_to(root)


def test_a_place_inside_what_is_bound_is_refused_if_a_link_stands_there(root: Path) -> None:
    bind = Bind(source=root / "other", target=root / "a" / "b", writable=True)
    access = Access(binds=(bind,), readable=(root / "a" / "b" / "c",))
    assert kinds(access)[str(root / "a/b/c")] is PlaceKind.READABLE

    (root / "other" / "c").symlink_to(root / "home")
    with pytest.raises(ToolError, match=r"other/c is a link where the sandbox needs a plain path"):
        lay_out(access)


def test_what_is_to_be_written_to_must_be_there(root: Path) -> None:
    with pytest.raises(ToolError, match="gone does not exist"):
        lay_out(Access(writable=(root / "gone",)))


@pytest.mark.parametrize("text", ["{root}/home", "../home", "../other/../home"])
def test_what_stands_behind_a_link_is_found_however_it_is_written(root: Path, text: str) -> None:
    (root / "a" / "link").symlink_to(text.format(root=root))
    assert follow(root / "a" / "link" / "tools").real == root / "home" / "tools"


def test_a_path_lies_in_the_deepest_mount_above_it(root: Path) -> None:
    layout = lay_out(Access(hidden=(root / "a",), writable=(root / "a" / "b",)))
    covers = {
        path: mount.kind if (mount := layout.cover(root / path)) else None
        for path in ("a/x", "a/b/x/y", "other/x")
    }
    assert covers == {"a/x": PlaceKind.HIDDEN, "a/b/x/y": PlaceKind.WRITABLE, "other/x": None}


def test_there_is_a_network_only_when_the_user_allows_it(root: Path) -> None:
    for allowed in (False, True):
        place = policy(root, network=allowed)
        for access in (place.worker(), place.gate(), place.for_setup()):
            assert access.network is allowed


def test_a_virtual_environment_made_by_setup_is_writable_for_setup_alone(root: Path) -> None:
    (root / "setup" / "venv" / "bin").mkdir(parents=True)
    (root / "setup" / "venv" / "bin" / "python").symlink_to("/usr/bin/python3")
    place = policy(root)
    target = root / "workspace" / ".venv"

    (making,) = place.for_setup().binds
    assert (making.target, making.writable) == (target, True)
    for access in (place.worker(), place.gate()):
        used = [bind for bind in access.binds if bind.target == target]
        assert [bind.writable for bind in used] == [False]


def test_an_object_store_that_a_file_of_the_repository_names_is_not_shown(root: Path) -> None:
    info = root / "src" / ".git" / "objects" / "info"
    info.mkdir(parents=True)
    (info / "alternates").write_text(f"# a note\n{root}/other\n../../../a\n")
    given = root / "store"

    readable = set(policy(root, stores=(given,)).worker().readable)

    assert given in readable
    assert not {root / "other", root / "a"} & readable


def test_no_link_inside_the_git_directory_is_followed(root: Path) -> None:
    git_dir = root / "src" / ".git"
    git_dir.mkdir(parents=True)
    (git_dir / "objects").symlink_to(root / "home")
    (git_dir / "refs").mkdir()

    shown = sources(lay_out(git_alone(root)))

    assert shown == {git_dir / "refs"}


@pytest.mark.parametrize("name", ["src/.git/info", "src/.git", "src"])
def test_a_link_put_into_the_way_to_the_git_directory_later_is_not_followed_either(
    root: Path, name: str
) -> None:
    """An access is made once for many commands; what it names is looked at for each of them."""
    git_dir = root / "src" / ".git"
    for part in ("info", "refs"):
        (git_dir / part).mkdir(parents=True)
    (root / "home" / "info").mkdir()
    (root / "home" / ".git" / "info").mkdir(parents=True)
    access, layouts = git_alone(root), Layouts()
    assert sources(layouts.of(access)) == {git_dir / "info", git_dir / "refs"}

    (root / name).rename(root / "away")
    (root / name).symlink_to(root / "home")

    left = {git_dir / "refs"} if name == "src/.git/info" else set()
    assert sources(layouts.of(access)) == left


def test_a_git_directory_that_is_reached_by_a_link_from_the_start_is_shown(root: Path) -> None:
    (root / "real" / ".git" / "refs").mkdir(parents=True)
    (root / "src").symlink_to("real")
    assert sources(lay_out(git_alone(root))) == {root / "real" / ".git" / "refs"}


def test_what_only_root_may_read_is_found_for_root_alone(root: Path) -> None:
    (root / "a" / "open").write_text("")
    (root / "a" / "shadow").write_text("x")
    (root / "a" / "empty").touch(mode=0o600)
    (root / "a" / "shadow").chmod(0o640)
    (root / "other" / "key").write_text("x")
    (root / "other").chmod(0o700)

    assert root_only((root,), euid=0) == (root / "a" / "shadow", root / "other")
    assert root_only((root,), euid=1000) == ()


def test_the_kernels_list_of_sockets_is_read(tmp_path: Path) -> None:
    table = tmp_path / "unix"
    table.write_text(
        "Num       RefCount Protocol Flags    Type St Inode Path\n"
        "0000: 00000002 00000000 00010000 0001 01 1 /run/docker.sock\n"
        "0000: 00000002 00000000 00010000 0001 01 2 /srv/a b.sock\n"
        "0000: 00000002 00000000 00010000 0001 01 3 @abstract\n"
        "0000: 00000003 00000000 00000000 0001 03 4\n"
    )

    assert sockets(table) == (Path("/run/docker.sock"), Path("/srv/a b.sock"))
    assert sockets(tmp_path / "gone") == ()


def test_a_socket_with_a_relative_name_stands_where_its_program_does(tmp_path: Path) -> None:
    script = (
        "import os, socket, sys; os.chdir(sys.argv[1]); s = socket.socket(socket.AF_UNIX);"
        "s.bind('here.sock'); print(os.fstat(s.fileno()).st_ino, flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        inode = holder.stdout.readline().strip()
        table = tmp_path / "unix"
        table.write_text(f"header\n0: 2 0 10000 1 1 {inode} here.sock\n0: 2 0 0 1 1 9 @x\n")
        found = sockets(table)
        holder.kill()
    assert found == (tmp_path / "here.sock",)


def test_a_directory_that_cannot_be_listed_counts_as_holding_something(root: Path) -> None:
    assert root_only((root / "gone",), euid=0) == ()
    (root / "empty").mkdir(mode=0o700)
    assert root_only((root,), euid=0) == ()
