"""Results that are kept by content: what nobody uses is removed, and what somebody uses is not."""

from __future__ import annotations

import os
import time

from odonata.impact.kept import FOLDER, UNUSED_DAYS, Kept


def test_what_nobody_used_is_removed(tmp_path):
    first = Kept(tmp_path)
    keys = [Kept.key(name) for name in ("used", "unused", "new")]
    for key in keys:
        first.add(key, {"value": 1})
    other = tmp_path / FOLDER / "somebody's.json"
    other.write_text("{}")
    long_ago = time.time() - (UNUSED_DAYS + 1) * 86_400
    for path in (*(tmp_path / FOLDER / f"{key}.json" for key in keys[:2]), other):
        os.utime(path, (long_ago, long_ago))
    again = Kept(tmp_path)
    assert again.get(keys[0]) == {"value": 1}
    again.remove_unused()
    left = {path.stem for path in (tmp_path / FOLDER).iterdir()}
    assert left == {keys[0], keys[2], "somebody's"}
    assert Kept(tmp_path).get(keys[1]) is None
