#!/usr/bin/env python3
"""`windlass demo --charts --keep` as a person uses it: told to its end, then `windlass chart`, `status` and `kubectl`-like reads beside it.

    tests/live/charts_demo.py BUILD_FOLDER

Needs no cluster. Ends with one JSON line: {"live", "seconds", "clusters", "revisions"}.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.dont_write_bytecode = True
from waits import check, until

WINDLASS = pathlib.Path(sys.argv[1]).resolve() / "windlass"
CLUSTERS = 20


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        began = time.monotonic()
        demo = subprocess.Popen([WINDLASS, "demo", "--charts", "--keep", "--clusters", str(CLUSTERS), "--dir", folder],
                                stdin=subprocess.DEVNULL, stdout=open(folder / "out", "w"), stderr=subprocess.STDOUT)
        try:
            config = folder / "kubeconfig"

            def windlass(*arguments):
                done = subprocess.run([WINDLASS, *arguments, "--kubeconfig", config, "-o", "json"], capture_output=True, text=True, timeout=120)
                check(done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}")
                return json.loads(done.stdout)

            until(lambda: "halted: " in (folder / "out").read_text(), "the canaries fail and the others wait", 240)
            until(lambda: "done after" in (folder / "out").read_text(), "it is undone and told", 240)
            seconds = time.monotonic() - began
            lines = (folder / "out").read_text().splitlines()
            check(all(len(line) <= 80 for line in lines if str(folder) not in line), "lines of at most 80 columns: " + max(lines, key=len))
            chart = windlass("chart", "status", "storefront")["fleetCharts"][0]
            check(chart["state"] == "Ready" and len(chart["clusters"]) == CLUSTERS, f"{chart['state']}, {len(chart['clusters'])} clusters")
            check(chart["chart"].endswith("/storefront:1.0.0"), chart["chart"])
            history = windlass("chart", "history", "storefront")["history"]
            check([r["outcome"] for r in history].count("Complete") >= 1, str(history))
            row = windlass("status")["clusters"]
            check(any(api == "fleetcharts" for c in row for api in c["apis"]), "`windlass status` knows it")
            # As kubectl asks: each cluster has the former version.
            text = config.read_text()
            servers = sorted(s for s in set(re.findall(r'server: "(http[^"]+)"', text)) if not s.endswith("/home"))
            check(len(servers) == CLUSTERS, f"{len(servers)} servers")
            for server in servers:
                with urllib.request.urlopen(server + "/api/v1/namespaces/shop/configmaps/storefront") as answer:
                    check(json.load(answer)["data"]["version"] == "1.0.0", server)
            demo.terminate()
            check(demo.wait(timeout=60) == 0, f"exit {demo.returncode}")
            check("no invariant was broken" in (folder / "out").read_text(), "the judge")
            print(json.dumps({"live": "charts_demo", "seconds": round(seconds, 1), "clusters": CLUSTERS, "revisions": len(history)}))
        except RuntimeError:
            print((folder / "out").read_text()[-3000:])
            raise
        finally:
            if demo.poll() is None:
                demo.terminate()
                demo.wait(timeout=60)


main()
