"""Pages that are written when the site is built."""

import filecmp
import shutil
import subprocess
import tempfile
from pathlib import Path


def refresh(folder, write):
    """Lets `write` fill an empty folder, and puts its files to `folder`. Files that are as before keep their time of change, so that
    Sphinx does not read them again."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        write(Path(made))
        names = {path.name for path in Path(made).iterdir()}
        for old in folder.iterdir():
            if old.name not in names:
                old.unlink()
        for name in names:
            new, old = Path(made) / name, folder / name
            if not old.exists() or not filecmp.cmp(new, old, shallow=False):
                shutil.copyfile(new, old)


def output_of(*command):
    """Returns what a program prints; its errors end the build."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed: {' '.join(map(str, command))}")
    return done.stdout
