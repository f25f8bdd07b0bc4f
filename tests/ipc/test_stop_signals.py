"""The end of a worker by a signal."""

import subprocess
import sys

#: a stop signal that another thread receives while the main thread is in a call of C, in which
#: Python runs no handler: exits with 0 when the wait for requests would have ended at once
PROGRAM = """
import ctypes, select, signal, sys, threading, time
from ipc.service import _stop_signals

stop, wake = _stop_signals()
woken = []

def receive():
    time.sleep(0.2)  # until the main thread waits
    signal.pthread_kill(threading.get_ident(), signal.{signal})
    woken.append(bool(select.select([wake], [], [], 2.0)[0]) and not stop.is_set())

thread = threading.Thread(target=receive)
library = ctypes.CDLL(None)
wait = lambda: library.usleep(900_000)
thread.start()
wait()
thread.join()
sys.exit(not (woken[0] and stop.is_set()))
"""


def test_a_stop_signal_ends_a_wait_whose_handler_has_not_run_yet():
    for name in ("SIGTERM", "SIGINT"):
        ended = subprocess.run(
            [sys.executable, "-c", PROGRAM.format(signal=name)],
            capture_output=True,
            timeout=60,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        assert ended.returncode == 0, (name, ended.stderr)
