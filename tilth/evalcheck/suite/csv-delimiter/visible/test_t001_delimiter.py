import pytest

from exporting import Column, export_rows, write_file

COLUMNS = [Column("Name", "name"), Column("Count", "count")]
ROWS = [{"name": "rake", "count": 2}, {"name": "hoe; small", "count": 1}]


# AC-1
def test_rows_are_separated_by_the_delimiter():
    lines = export_rows(ROWS, COLUMNS, delimiter=";").splitlines()
    assert lines == ["Name;Count", "rake;2", '"hoe; small";1']


# AC-1
def test_a_file_is_written_with_the_delimiter(tmp_path):
    path = tmp_path / "stock.csv"
    write_file(path, ROWS, COLUMNS, delimiter="\t")
    assert path.read_text(encoding="utf-8-sig").splitlines()[1] == "rake\t2"


# AC-1
def test_the_comma_is_the_default():
    assert export_rows(ROWS, COLUMNS).splitlines()[1] == "rake,2"


# AC-2
@pytest.mark.parametrize("delimiter", ["|", "", ";;"])
def test_another_delimiter_is_refused(delimiter, tmp_path):
    with pytest.raises(ValueError):
        export_rows(ROWS, COLUMNS, delimiter=delimiter)
    with pytest.raises(ValueError):
        write_file(tmp_path / "new.csv", ROWS, COLUMNS, delimiter=delimiter)
