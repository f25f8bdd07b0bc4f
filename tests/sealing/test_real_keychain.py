"""A real keychain: GNOME's Secret Service on a separate bus."""

import os
import shutil
import subprocess
import sys
import tempfile

import pytest

PROGRAMS = ("dbus-run-session", "gnome-keyring-daemon", "sh")
pytestmark = pytest.mark.skipif(
    not all(map(shutil.which, PROGRAMS)),
    reason="dbus-run-session and gnome-keyring-daemon are not installed (apt install dbus-daemon gnome-keyring)",
)
pytest.importorskip("secretstorage")

#: unlocks a keyring by a password, then queries it; it ends before its bus does
UNLOCKED = """
printf geheim | gnome-keyring-daemon --unlock --components=secrets --foreground >/dev/null 2>&1 &
"$@"
code=$?
kill $!
exit $code
"""
ASKS = """
import os, sys, time
from pathlib import Path
import secretstorage
from cortex.sealing import master_key
from cortex.sealing.keys import master_place, project_key, rotate
from cortex.system.errors import Unavailable
bus, until = secretstorage.dbus_init(), time.monotonic() + 30
while time.monotonic() < until:
    try:
        default = secretstorage.get_default_collection(bus)
        if not default.is_locked():
            break
    except secretstorage.exceptions.SecretStorageException:
        pass
    time.sleep(0.05)
base = Path(sys.argv[1])
key = project_key(base / "a", "")
assert master_place(base)[0] == master_key.KEYCHAIN
assert rotate(base, "") == (1, [])
assert project_key(base / "a", "") == key
default.lock()
for store in ("a", "new"):
    try:
        project_key(base / store, "")
    except Unavailable as error:
        print(error)
    else:
        sys.exit("a locked keychain gave a key")
assert not (base / "new" / "KEY").exists()
"""


def test_a_real_keychain_stores_the_key_and_a_locked_keychain_returns_and_creates_none(tmp_path):
    with tempfile.TemporaryDirectory(prefix="k") as home:  # its sockets need a short path
        environment = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        environment |= {"HOME": home, "XDG_RUNTIME_DIR": home}
        command = ["dbus-run-session", "--", "sh", "-c", UNLOCKED, "sh", sys.executable, "-P", "-c", ASKS]
        done = subprocess.run(
            [*command, str(tmp_path / "sealed")],
            env=environment,
            capture_output=True,
            text=True,
            timeout=150,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("unlock it, and try again; no other key is made") == 2
