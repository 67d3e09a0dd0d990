"""Tables as CSV, for a program that compares them byte by byte."""

import csv
import io
from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    """One column: its heading, and the key under which rows hold its value."""

    heading: str
    key: str


def export_rows(rows, columns):
    """Give rows as CSV text below a line of headings."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow([column.heading for column in columns])
    for row in rows:
        writer.writerow([cell_text(row.get(column.key)) for column in columns])
    return text.getvalue()


def cell_text(value):
    """Write one value as the importing program reads it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.2f}"
    return str(value)


def write_file(path, rows, columns):
    """Write rows to a file, with the mark that spreadsheets know UTF-8 by."""
    with open(path, "w", encoding="utf-8-sig", newline="") as file:
        file.write(export_rows(rows, columns))


def columns_of(row):
    """Make a column for each key of a row, headed by the key with a capital letter."""
    return [Column(key.replace("_", " ").capitalize(), key) for key in row]
