"""compare.py QUESTIONS OURS REFERENCE: asks both programs every question and reports the answers that differ.

An error text that differs while both failed counts apart from an output that differs. `-v N` prints the first N of each.
"""
import json
import re
import subprocess
import sys
import time


def ask(program, questions):
    """The answers; a question that ends the program (Go dies on a map that holds itself) is answered with "died"."""
    lines = questions.splitlines(keepends=True)
    answers = []
    while len(answers) < len(lines):
        done = subprocess.run([program], input=b"".join(lines[len(answers):]), capture_output=True)
        got = done.stdout.decode("utf-8", "surrogateescape").split("\n")[:-1]
        answers += [json.loads(line) for line in got]
        if len(answers) < len(lines):
            sys.stderr.write(f"{program} ended with {done.returncode} at question {len(answers) + 1}: {done.stderr.decode(errors='replace')[:300]}\n")
            answers.append({"out": "died", "err": "died"})
    return answers


def mask(text):
    # Go prints addresses of pointers and, without one, the order of a map. Megabytes of blanks are no place to search for padding.
    if "go1.26" in text:
        text = re.sub(r"[ 0]*go1\.26(\.\d+)?[ ]*", "GO", text)
    if "0x" in text:
        text = re.sub(r"0x[0-9a-f]{9,}", "ADDRESS", text)
    # Ours reads no other document, so its reason is another one.
    return re.sub(r'(failing loading "[^"]*"): .*', r"\1", text)


def same_reasons(q, a, b):
    """A schema's reasons come in the order of a map: as sets of lines."""
    return q["kind"] == "schema" and sorted(mask(a["err"]).split("\n")) == sorted(mask(b["err"]).split("\n"))


def differences(questions, our_program, their_program):
    """How many were asked, the answers whose outputs differ, those where only error texts do, and how many errors the reference gave."""
    asked = [json.loads(line) for line in questions.splitlines()]
    ours, theirs = ask(our_program, questions), ask(their_program, questions)
    wrong, texts = [], []
    for q, a, b in zip(asked, ours, theirs):
        if b["err"] == "died" and a["err"] != "died":
            continue
        if a == b or mask(a["out"]) == mask(b["out"]) and (mask(a["err"]) == mask(b["err"]) or same_reasons(q, a, b)):
            continue
        (texts if a["err"] and b["err"] else wrong).append((q, a, b))
    for _ in range(24):
        # What the reference itself answers differently when asked again (times, addresses as numbers, digits that overflow in its
        # order of keys, reasons in the order of a map) cannot be compared.
        if wrong or texts:
            time.sleep(0.4)
        wrong, texts = settled(wrong, their_program), settled(texts, their_program)
    return len(asked), wrong, texts, sum(1 for b in theirs if b["err"])


def settled(found, program, times=16):
    """Those that the program answers the same, each asked that many times: Go begins a map of two keys with the second
    one once in eight times only, so one question more would often not show that the order is nobody's."""
    if not found:
        return found
    again = ask(program, "".join((json.dumps(q) + "\n") * times for q, _, _ in found).encode())
    return [(q, a, b) for i, (q, a, b) in enumerate(found) if all(b == c for c in again[i * times:(i + 1) * times])]


def show(title, found, limit):
    for q, a, b in found[:limit]:
        what = q.get("files") or q.get("lines") or q
        print(f"--- {title} differ\n{json.dumps(what)}\n{q.get('values', '') if len(q.get('values', '')) < 200 else ''}\nours:      {json.dumps(a)}\nreference: {json.dumps(b)}")


def main():
    shown = int(sys.argv[sys.argv.index("-v") + 1]) if "-v" in sys.argv else 5
    asked, wrong, texts, failing = differences(open(sys.argv[1], "rb").read(), sys.argv[2], sys.argv[3])
    show("outputs", wrong, shown)
    show("error texts", texts, shown)
    print(f"compared {asked}, of them {failing} errors: {len(wrong)} outputs differ, {len(texts)} error texts differ")


if __name__ == "__main__":
    main()
