"""record_objects.py REFERENCE DATA: keeps answers to a seeded part of generate_objects.py as DATA/objects.jsonl.

With several things wrong in an object the reference names any of them, as Go visits maps in random order; such rows are
left out.
"""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT = {"strategic": 300, "json": 60, "error": 40}


def ask(questions):
    done = subprocess.run([sys.argv[1]], input=b"".join(questions), capture_output=True, check=True)
    return [json.loads(line) for line in done.stdout.decode().split("\n")[:-1]]


questions = subprocess.run([sys.executable, HERE + "/generate_objects.py", "4000", "21"], capture_output=True, check=True).stdout.splitlines(keepends=True)
answers = [ask(questions) for _ in range(20)]
kept = dict.fromkeys(LIMIT, 0)
with open(sys.argv[2] + "/objects.jsonl", "w") as out:
    for i, line in enumerate(questions):
        q, a = json.loads(line), answers[0][i]
        group = "error" if a["err"] else q["kind"]
        # A question without changes teaches little, a long one is hard to read.
        dull = '"patch":{}' in a["out"] or '"two":{}' in a["out"]
        if dull or len(line) > 1500 or kept[group] >= LIMIT[group] or any(other[i] != a for other in answers):
            continue
        kept[group] += 1
        out.write(json.dumps(dict(q, out=a["out"], err=a["err"]), ensure_ascii=False) + "\n")
print(kept)
