"""The gallery: its pictures are there, small, and made by commands that exist. Nothing is drawn here."""

import importlib.util
from pathlib import Path

import pytest

from odonata.cli.main import application

ROOT = Path(__file__).parents[1]

_spec = importlib.util.spec_from_file_location("gallery", ROOT / "scripts" / "gallery.py")
gallery = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(gallery)

PICTURES = gallery.pictures()
COMMANDS = sorted({tuple(command) for picture in PICTURES for command in picture.commands})


def test_twelve_pictures_are_there_and_no_others():
    assert len(PICTURES) == gallery.PAGE.read_text().count("![") == 12
    shown = {ROOT / "docs" / picture.file for picture in PICTURES}
    assert len(shown) == 12
    assert set(gallery.FOLDER.iterdir()) == shown
    assert sum(file.stat().st_size for file in shown) < 1_000_000


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_each_command_parses(command):
    """Catches an option that is gone. Its files are in the repository, or made by a command before it."""
    assert command[0] == "odonata"
    application().parse_args(command[1:], print_error=False, exit_on_error=False)
    if command[1] != "plot":
        assert (ROOT / command[2]).is_file()


def test_each_picture_is_drawn_by_its_last_command_from_what_was_run():
    for picture in PICTURES:
        *before, last = picture.commands
        assert last[1] == "plot"
        assert last[last.index("-o") + 1] == Path(picture.file).name
        assert last[2] in [command[command.index("-o") + 1] for command in before]
