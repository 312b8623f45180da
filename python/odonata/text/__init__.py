"""Numbers and tables as text, for the screen and for notebooks."""

from odonata.text.numbers import digits, fixed, four_digits, size, time, unit_of, unit_of_bytes
from odonata.text.table import Column, Table, aligned, columns, html, terminal_width

__all__ = [
    "Column",
    "Table",
    "aligned",
    "columns",
    "digits",
    "fixed",
    "four_digits",
    "html",
    "size",
    "terminal_width",
    "time",
    "unit_of",
    "unit_of_bytes",
]
