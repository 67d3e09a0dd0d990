import pytest

from versions import Version, VersionError, parse


@pytest.mark.parametrize("text", ["1.2.3", "0.0.0", "1.0.0-rc.1", "1.0.0+x.1", "1.0.0--.a+b"])
def test_a_version_is_written_as_it_was_read(text):
    assert str(parse(text)) == text


def test_the_parts_of_a_version():
    assert parse("1.2.3-rc.4+b5") == Version(1, 2, 3, ("rc", "4"), "b5")


@pytest.mark.parametrize("text", ["", "1.2", "01.2.3", "1.2.3-", "1.2.3-01", "v1.2.3"])
def test_what_is_no_version_is_refused(text):
    with pytest.raises(VersionError):
        parse(text)
