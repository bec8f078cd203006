#!/usr/bin/env python3
"""`windlass brake on` in another terminal while `windlass demo` rolls: how long after each landing the last act came, that nothing begins while it is on, and
that `off` goes on where it was, until the demo is done.

    tests/live/brake_demo.py BUILD_FOLDER

Needs no cluster. Ends with one JSON line: {"live", "landings", "last_act_s", "moved", "nodes"}.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

sys.dont_write_bytecode = True
from waits import check, until

WINDLASS = pathlib.Path(sys.argv[1]).resolve() / "windlass"
CLUSTERS, NODES, LANDINGS = 6, 12, 6
NODE_KIND, BRAKE = "/apis/node.bootc.dev/v1alpha1/bootcnodes", "/api/v1/namespaces/default/configmaps"


def follow(server, path, take):
    """Calls `take` with each object that a watch shows, in a thread of its own."""
    def run():
        version = ""
        while True:
            try:
                with urllib.request.urlopen(f"{server}{path}?watch=1{version}") as events:
                    for line in events:
                        take(time.monotonic(), json.loads(line)["object"])
            except OSError:
                time.sleep(0.2)  # the kind is not there yet, or the demo has ended

    threading.Thread(target=run, daemon=True).start()


class Acts:
    """What was begun on all clusters, and when it was seen: an image that is asked for, a slot, an order to boot."""

    def __init__(self, servers):
        self.known, self.images, self.last, self.count, self.what = {}, {}, 0.0, 0, ""
        for server in servers:
            follow(server, NODE_KIND, lambda at, o, of=server: self.take(at, of, o))

    def take(self, at, server, o):
        spec, key = o.get("spec", {}), (server, o["metadata"]["name"])
        now = (spec.get("desiredImage"), "bootc.dev/in-reboot-slot" in o["metadata"].get("annotations", {}), spec.get("desiredImageState") == "Booted")
        was = self.known.get(key, (None, False, False))
        self.known[key] = now
        self.images[key] = o.get("status", {}).get("booted", {}).get("image", "")
        # What ends is no act: a slot that is given back, an order that is withdrawn.
        if now[0] != was[0] or (now[1] and not was[1]) or (now[2] and not was[2]):
            self.last, self.count, self.what = at, self.count + 1, f"{o['metadata']['name']} of {server}: {was} → {now}"


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        demo = subprocess.Popen([WINDLASS, "demo", "--keep", "--clusters", str(CLUSTERS), "--nodes", str(NODES), "--speed", "4", "--dir", folder],
                                stdin=subprocess.DEVNULL, stdout=open(folder / "out", "w"), stderr=subprocess.STDOUT)
        try:
            config = folder / "kubeconfig"
            until(config.exists, "the demo serves")
            text = config.read_text()
            home = re.search(r'current-context"?: *"?([^"\n,]+)', text)[1].strip()
            servers = sorted(set(re.findall(r'server"?: *"?(http[^"\n,}]+)', text)))

            def brake(*arguments):
                done = subprocess.run([WINDLASS, "brake", *arguments, "--kubeconfig", config, "--context", home, "--namespace", "default"], capture_output=True, text=True,
                                      timeout=30)
                check(done.returncode == 0, f"brake {arguments}: {done.stdout}{done.stderr}")

            acts, landed = Acts(servers), []
            for server in servers:
                follow(server, BRAKE, lambda at, o: landed.append(at) if o["metadata"]["name"] == "windlass-brake" and o.get("data", {}).get("state") == "on" else None)
            until(lambda: len(acts.known) == CLUSTERS * NODES, "every node is seen", 60)
            worst = 0.0
            for landing in range(LANDINGS):
                before = acts.count
                until(lambda before=before: acts.count > before + 8, "the rollout is under way", 60)
                seen = len(landed)
                brake("on", "--why", "a test")
                until(lambda seen=seen: len(landed) > seen, "the brake is seen")
                time.sleep(4)
                late = acts.last - landed[seen]
                worst = max(worst, late)
                check(late <= 1, f"landing {landing}: an act {late:.2f} s after it: {acts.what}")
                stood = acts.count
                time.sleep(2)
                check(acts.count == stood, f"landing {landing}: something began while it was on")
                brake("off")
                print(f"landing {landing}: the last act was seen {late:.2f} s after it, {acts.count} so far", flush=True)
            # Two nodes of a demo stay where they are: a budget that allows no eviction, an image that does not boot.
            until(lambda: "done after" in (folder / "out").read_text(), "off goes on where it was", 120)
            moved = max(list(acts.images.values()).count(i) for i in set(acts.images.values()))
            check(moved >= CLUSTERS * NODES - 2, f"{moved} of {CLUSTERS * NODES} nodes run the new image")
            print(json.dumps({"live": "brake_demo", "landings": LANDINGS, "last_act_s": round(worst, 3), "moved": moved, "nodes": len(acts.images)}))
        except RuntimeError:
            print((folder / "out").read_text()[-2000:])
            raise
        finally:
            demo.terminate()
            demo.wait(timeout=20)


main()
