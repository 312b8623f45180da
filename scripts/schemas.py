"""Writes the JSON schemas of the files of Odonata into the package, from the models (`odonata.schemas`)."""

from odonata.schemas import NAMES, path_of
from odonata.schemas.generate import text_of

for name in NAMES:
    path_of(name).write_text(text_of(name), encoding="utf-8")
