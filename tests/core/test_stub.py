"""The typed stub says what the built module has."""

import subprocess
import sys


def test_stub_and_module_agree(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "odonata._core"], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stdout + done.stderr
