"""What the live tests wait for and insist on."""
import socket
import time


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def check(true, what):
    if not true:
        raise RuntimeError(what)


def until(true, what, limit=20):
    """What `true` answers as soon as that counts as true; at most so many seconds."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        if found := true():
            return found
        time.sleep(0.1)
    raise RuntimeError(f"not within {limit} s: {what}")
