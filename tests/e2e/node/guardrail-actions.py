"""An action that says what it may do where it runs. Its text decides; None lets pass."""
import os
import re
import socket
import ssl  # noqa: F401 — as users' actions import it
import sqlite3  # noqa: F401

from nemoguardrails.actions import action


def status(name):
    with open("/proc/self/status", encoding="utf-8") as file:
        return re.search(rf"^{name}:\s*(\d+)", file.read(), re.M)[1]


def failure(function):
    try:
        function()
    except BaseException as error:
        return type(error).__name__
    return "it worked"


def write(path, size):
    with open(path, "wb") as file:
        file.write(b"x" * size)


@action(name="look_around")
async def look_around(text: str):
    if text == "who are you":
        rights = "no new rights" if status("NoNewPrivs") == "1" else "may gain rights"
        return f"user {os.getuid()}, {rights}, {'filtered' if status('Seccomp') == '2' else 'not filtered'}"
    if match := re.fullmatch(r"connect to (\S+) (\d+)", text):
        return failure(lambda: socket.create_connection((match[1], int(match[2])), 2))
    if text == "write":
        return f"{failure(lambda: write('/tmp/large', 2 << 20))} {failure(lambda: write('/here', 1))}"
    if text == "take memory":
        return failure(lambda: bytearray(1 << 30))
    if text == "find the key":
        return "a key" if "endpoint-key" in str(dict(os.environ)) else "no key"
    if text == "raise it":
        raise ValueError(text)
    return None
