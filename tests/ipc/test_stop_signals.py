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


#: a lifeline that ends while this process already leaves its loop
LEAVING = """
import threading
from ipc.service import _stop_signals

stop, wake = _stop_signals()
wake.close()
print("left", flush=True)
stop.wait(60)
next(thread for thread in threading.enumerate() if thread.name == "life-line").join(0.3)
"""


def test_a_lifeline_that_ends_after_the_loop_writes_no_traceback():
    process = subprocess.Popen(
        [sys.executable, "-c", LEAVING],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "left\n"
    assert process.communicate(timeout=60) == ("", "")
