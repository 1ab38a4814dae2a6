"""Runs the tour on a terminal and presses Ctrl-C once it has said all: it must end with 0, its processes with it, its ports free.

    terminal.py tests/demo/stack.sh build/demo-stack [SECONDS]
"""
import os
import pty
import re
import select
import signal
import socket
import subprocess
import sys
import time

program, state = sys.argv[1], os.path.realpath(sys.argv[2])
limit = float(sys.argv[3]) if len(sys.argv) > 3 else 150
pid, terminal = pty.fork()
if pid == 0:
    os.environ["TERM"] = "xterm"
    os.execv(program, [program])
said, pressed, until = b"", False, time.monotonic() + limit
while time.monotonic() < until:
    if not select.select([terminal], [], [], 1)[0]:
        continue
    try:
        some = os.read(terminal, 65536)
    except OSError:  # its other end is closed
        break
    said += some
    if not pressed and b"Ctrl-C ends all of it" in said:
        pressed = True
        os.write(terminal, b"\x03")
if not pressed:
    os.kill(pid, signal.SIGTERM)
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
text = said.decode(errors="replace")
faults = []
if not pressed or status != 0:
    faults.append(f"it ended with {status} {'after' if pressed else 'before'} Ctrl-C")
left = subprocess.run(["pgrep", "-af", f"{state}/"], capture_output=True, text=True).stdout.splitlines()
left = [line for line in left if "terminal.py" not in line]
if left:
    faults.append(f"processes are left: {left}")
if os.path.exists(state):
    faults.append(f"{state} is left")
for port in set(re.findall(r"http://127\.0\.0\.1:(\d+)  ", text)):
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", int(port))) == 0:
            faults.append(f"port {port} is taken still")
if faults:
    print("\n".join(faults))
    print(text[-2000:])
    sys.exit(1)
