"""record.py REFERENCE DATA: asks the reference a seeded part of the generated questions and keeps the answers as plain data.

Answers that depend on chance, the clock, addresses or the order of a map are left out.
"""
import json
import os
import random
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
VARYING = re.compile(r"\b(ago|now|rand\w+|uuidv4|shuffle|encryptAES|htpasswd|bcrypt|gen\w+|keys|values|toToml \.|\.Capabilities\b(?!\.KubeVersion)|HelmVersion)\b")


def generate(*arguments):
    return subprocess.run([sys.executable, HERE + "/generate.py", *arguments], capture_output=True, check=True).stdout.decode().split("\n")[:-1]


def keep(question):
    # Such a key overflows the reference's comparison of digits, whose order is then not one: it changes from run to run.
    if '"12345678901234567890":' in question.get("values", ""):
        return False
    files = question.get("files", {})
    text = files.get("x.yaml", "")
    if VARYING.search(text) or re.search(r"date\w* [\"(.]|htmlDate", text):
        return False
    # The whole context holds pointers.
    return not re.search(r"(?<![\w.$)\"])\.(?![\w])|\.Chart\b(?!\.)|\.Capabilities\b(?!\.)|\.Subcharts", text) or question["kind"] != "template"


def record(reference, name, questions, count, seed, short=False):
    r = random.Random(seed)
    parsed = [json.loads(q) for q in questions]
    parsed = [q for q in parsed if keep(q)]
    if short:
        groups = {}
        for q in parsed:
            called = re.search(r"\| (\w+)", q["files"]["x.yaml"]) or re.search(r"nope }}{{ (\w+)", q["files"]["x.yaml"])
            groups.setdefault(called.group(1) if called else "", []).append(q)
        chosen = []
        for key in sorted(groups):
            some = groups[key]
            r.shuffle(some)
            chosen += some[:count]
    else:
        chosen = parsed if len(parsed) <= count else r.sample(parsed, count)
    asked = "\n".join(json.dumps(q) for q in chosen) + "\n"
    ask = lambda: subprocess.run([reference], input=asked.encode(), capture_output=True).stdout.decode().split("\n")[:-1]
    answers = ask()
    again = [ask() for _ in range(8)] if name == "schemas.jsonl" else []  # reasons come in the order of a map
    with open(sys.argv[2] + "/" + name, "w") as out:
        for i, (q, a) in enumerate(zip(chosen, answers)):
            if any(other[i] != a for other in again):
                continue
            a = json.loads(a)
            if "0xc0" in a["out"] + a["err"] or "failing loading" in a["err"]:  # ours reads no other document
                continue
            if short:
                q = {"template": q["files"]["x.yaml"]}
            row = dict(q, out=a["out"]) if not a["err"] else dict(q, err=a["err"])
            out.write(json.dumps(row, ensure_ascii=False) + "\n")


def record_damaged(reference, count):
    """Of every kind of answer to what is empty, cut short or wrong some rows: alike is what differs in names, numbers and places alone."""
    asked = []
    for arguments in (("merge",), ("json", "400", "1"), ("toml", "1500", "1")):
        made = subprocess.run([sys.executable, HERE + "/generate_damaged.py", *arguments], capture_output=True, check=True).stdout.decode().split("\n")[:-1]
        asked += [(arguments[0], json.loads(q)) for q in made]
    answers = subprocess.run([reference], input="".join(json.dumps(q) + "\n" for _, q in asked).encode(), capture_output=True).stdout.decode().split("\n")[:-1]
    groups = {}
    for (kind, q), a in zip(asked, answers):
        a = json.loads(a)
        text = q.get("files", {}).get("x.yaml", "")
        shape = (kind, q["kind"], re.sub(r"\d+", "0", re.sub(r'"[^"]*"|\'[^\']*\'', "x", a["out"] + a["err"])))
        if kind == "merge":  # every pair of kinds, by one of the functions and one of the forms
            shape = (kind, re.sub(r"\b(must)?[mM]erge(Overwrite)?\b|must|[dD]eepCopy| \"o\" 1", "", text))
        if "0xc0" not in a["out"] + a["err"]:
            groups.setdefault(shape, []).append((q, a))
    r = random.Random(9)
    with open(sys.argv[2] + "/damaged.jsonl", "w") as out:
        for shape in sorted(groups):
            some = groups[shape]
            r.shuffle(some)
            for q, a in some[:1 if shape[0] == "merge" else count]:
                if shape[0] == "merge":
                    q = {"template": q["files"]["x.yaml"]}
                row = dict(q, out=a["out"]) if not a["err"] else dict(q, err=a["err"])
                out.write(json.dumps(row, ensure_ascii=False) + "\n")


reference = sys.argv[1]
record_damaged(reference, 2)
record(reference, "functions.jsonl", generate("functions"), 28, 1, short=True)
record(reference, "templates.jsonl", generate("templates", "1500", "11"), 700, 2)
record(reference, "yaml.jsonl", generate("yaml", "800", "12"), 500, 3)
record(reference, "set.jsonl", generate("set", "900", "13"), 700, 4)
record(reference, "sort.jsonl", generate("sort", "300", "14"), 200, 5)
record(reference, "numbers.jsonl", generate("numbers"), 100, 7)
record(reference, "schemas.jsonl", generate("schema", "400", "15"), 300, 8)
record(reference, "constraints.jsonl", generate("constraint"), 1500, 6)
record(reference, "edges.jsonl", generate("edges"), 1000, 9, short=True)
