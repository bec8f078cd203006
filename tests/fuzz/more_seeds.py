#!/usr/bin/env python3
"""Makes seeds for a fuzz target out of what tests read anyway, one file each: more_seeds.py TARGET FOLDER.

The rows of tests/helm/data, and the tar inside a packed chart. A target that has none starts from corpus/<target>."""
import gzip
import json
import pathlib
import sys

fuzz_folder = pathlib.Path(__file__).resolve().parent
rows_folder = fuzz_folder.parent / "helm" / "data"


def rows(name):
    with open(rows_folder / name, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def templates():
    for row in rows("functions.jsonl"):
        yield row["template"]
    for name in ("templates.jsonl", "numbers.jsonl"):
        for row in rows(name):
            yield from row["files"].values()


def values():
    for row in rows("yaml.jsonl"):
        yield row["values"]


def documents():
    yield from values()
    for row in rows("sort.jsonl"):
        yield from row["files"].values()


def set_lines():
    kinds = {"--set": "\0", "--set-string": "\1", "--set-json": "\2", "--set-file": "\3", "--set-literal": "\4"}
    for row in rows("set.jsonl"):
        for flag, line in zip(row["lines"][::2], row["lines"][1::2]):
            yield kinds[flag] + line


def versions():
    for row in rows("constraints.jsonl"):
        yield row["constraint"] + "\n" + row["version"] + "\n" + row.get("out", "1.2.3").split(" ")[0]


def tars():
    yield gzip.decompress((fuzz_folder / "corpus" / "helm_archive" / "parent.tgz").read_bytes())


makers = {"helm_template": templates, "helm_values": values, "helm_yaml": documents, "helm_set": set_lines,
          "helm_semver": versions, "helm_archive": tars}


def main():
    target, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    for number, seed in enumerate(makers.get(target, list)()):
        data = seed if isinstance(seed, bytes) else seed.encode("utf-8", "surrogatepass")
        (folder / f"seed{number}").write_bytes(data)


main()
