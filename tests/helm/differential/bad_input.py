"""bad_input.py OURS HELM: charts, values and schemas that nobody should write, given to both programs.

OURS is a program that takes "helm template" (windlass). Where Helm refuses a thing both must print the same text and end with the same
code; where Helm has no bound (it would fill the memory or run for minutes) only OURS runs and must say what is expected here. OURS has
SECONDS and MEGABYTES for each.
"""
import gzip
import io
import json
import os
import re
import resource
import subprocess
import sys
import tarfile
import tempfile

SECONDS, MEGABYTES = 20, 2500
CHART = "apiVersion: v2\nname: c\nversion: 1.0.0\n"
MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\n"


def entry(name, data=b"", kind=tarfile.REGTYPE, link="", size=None):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    data = data.encode() if isinstance(data, str) else data
    info.size = len(data) if size is None else size
    return info, data


def tar(*entries, form=tarfile.USTAR_FORMAT):
    out = io.BytesIO()
    for info, data in entries:
        out.write(info.tobuf(form))
        out.write(data + b"\0" * (-len(data) % 512))
    return out.getvalue() + b"\0" * 1024


def packed(*entries, form=tarfile.USTAR_FORMAT, level=6):
    return gzip.compress(tar(*entries, form=form), level, mtime=0)


def whole(*more, form=tarfile.USTAR_FORMAT):
    """A packed chart that would work, with these entries as well."""
    return packed(entry("c/Chart.yaml", CHART), entry("c/templates/a.yaml", MAP), *more, form=form)


def archives():
    """name, bytes of the .tgz"""
    yield "traversal", whole(entry("c/../../x", "x"))
    yield "traversal in the middle", whole(entry("c/templates/../../x.yaml", MAP))
    yield "traversal that stays inside", whole(entry("c/templates/../b.txt", "x"))
    yield "traversal by backslashes", whole(entry("c\\..\\..\\x", "x"))
    yield "two dots as a name", whole(entry("c/..", "x"))
    yield "name that begins with two dots", whole(entry("c/..data/x", "x"))
    yield "absolute", whole(entry("/c/x", "x"))
    yield "absolute behind the first part", whole(entry("c//etc/passwd", "x"))
    yield "drive letter", whole(entry("c/C:/x", "x"))
    yield "a file with the chart's name", whole(entry("c", "x"))
    yield "Chart.yaml at the top", packed(entry("Chart.yaml", CHART))
    yield "dot as the folder", packed(entry("./Chart.yaml", CHART))
    yield "dot as the folder, twice", packed(entry("././Chart.yaml", CHART))
    yield "no folder", packed(entry("templates", "x"), entry("Chart.yaml", CHART))
    yield "two folders", packed(entry("c/Chart.yaml", CHART), entry("d/templates/a.yaml", MAP))
    yield "symbolic link", whole(entry("c/templates/l.yaml", kind=tarfile.SYMTYPE, link="/etc/passwd"))
    yield "hard link", whole(entry("c/templates/l.yaml", kind=tarfile.LNKTYPE, link="c/Chart.yaml"))
    yield "Chart.yaml as a link", packed(entry("c/Chart.yaml", kind=tarfile.SYMTYPE, link="x"))
    yield "character device", whole(entry("c/templates/zero", kind=tarfile.CHRTYPE))
    yield "block device", whole(entry("c/templates/disk", kind=tarfile.BLKTYPE))
    yield "pipe", whole(entry("c/templates/pipe", kind=tarfile.FIFOTYPE))
    yield "contiguous file", whole(entry("c/templates/b.yaml", MAP, kind=tarfile.CONTTYPE))
    yield "unknown kind of entry", whole(entry("c/templates/b.yaml", MAP, kind=b"Z"))
    yield "the same template twice", whole(entry("c/templates/a.yaml", MAP.replace("x", "y")))
    yield "Chart.yaml twice", whole(entry("c/Chart.yaml", CHART.replace("1.0.0", "2.0.0")))
    yield "values.yaml twice", whole(entry("c/values.yaml", "a: 1"), entry("c/values.yaml", "a: 2\nb: 1"))
    for name in (".", "..", "a/b", "", "a b", "é"):
        yield f"chart named {name!r}", packed(entry("c/Chart.yaml", CHART.replace("name: c", f"name: '{name}'")), entry("c/templates/a.yaml", MAP))
    yield "directories", whole(entry("c/", kind=tarfile.DIRTYPE), entry("c/templates/", kind=tarfile.DIRTYPE))
    yield "only directories", packed(entry("c/", kind=tarfile.DIRTYPE))
    yield "nothing", packed()
    yield "zeros, 1000:1", whole(entry("c/zeros", b"\0" * (20 << 20)))
    yield "one byte over the file limit", whole(entry("c/x", b"\0" * ((5 << 20) + 1)))
    yield "at the file limit", whole(entry("c/x", b"\0" * (5 << 20)))
    yield "over 100 MiB in all", whole(*[entry(f"c/x{i}", b"\0" * (5 << 20)) for i in range(21)])
    yield "a size of 8 EiB", whole(entry("c/x", b"", size=0o77777777777))
    yield "long name (GNU)", whole(entry("c/" + "n" * 200 + ".txt", "x"), form=tarfile.GNU_FORMAT)
    yield "traversal in a long name (GNU)", whole(entry("c/" + "n/../" * 60 + "../../x", "x"), form=tarfile.GNU_FORMAT)
    yield "traversal in a long name (pax)", whole(entry("c/" + "n/../" * 60 + "../../x", "x"), form=tarfile.PAX_FORMAT)
    yield "long name (pax)", whole(entry("c/" + "é" * 120 + ".txt", "x"), form=tarfile.PAX_FORMAT)
    good = whole()
    for cut in (5, 12, len(good) // 2, len(good) - 9, len(good) - 4, len(good) - 1):
        yield f"cut after {cut} bytes", good[:cut]
    yield "wrong checksum of the compression", good[:-8] + b"\1\2\3\4" + good[-4:]
    yield "wrong length of the compression", good[:-4] + b"\1\2\3\4"
    yield "bytes behind the compression", good + b"more"
    yield "zeros behind the compression", good + b"\0" * 600
    yield "two members", gzip.compress(tar(entry("c/Chart.yaml", CHART))[:-1024], mtime=0) + gzip.compress(tar(entry("c/templates/a.yaml", MAP)), mtime=0)
    yield "no end of the tar", gzip.compress(tar(entry("c/Chart.yaml", CHART), entry("c/templates/a.yaml", MAP))[:-1024], mtime=0)
    yield "tar cut in a header", gzip.compress(tar(entry("c/Chart.yaml", CHART), entry("c/templates/a.yaml", MAP))[:1200], mtime=0)
    yield "tar cut in a file", gzip.compress(tar(entry("c/Chart.yaml", CHART), entry("c/templates/a.yaml", MAP))[:1600], mtime=0)
    yield "tar with a wrong checksum", gzip.compress(tar(entry("c/Chart.yaml", CHART)).replace(b"ustar", b"vstar"), mtime=0)
    yield "not a tar", gzip.compress(b"hello\n" * 300, mtime=0)
    yield "a short text, packed", gzip.compress(b"hello", mtime=0)
    yield "empty", b""
    yield "a text", b"apiVersion: v2\n" * 40
    yield "a zip", b"PK\3\4" + b"\0" * 600
    yield "packed subchart", whole(entry("c/charts/d.tgz", packed(entry("d/Chart.yaml", CHART.replace("name: c", "name: d")), entry("d/templates/a.yaml", MAP))))
    yield "subchart that is no archive", whole(entry("c/charts/d.tgz", "hello"))
    yield "subchart that is cut", whole(entry("c/charts/d.tgz", good[:80]))
    yield "subchart without Chart.yaml", whole(entry("c/charts/d/values.yaml", "a: 1"))
    yield "file among the subcharts", whole(entry("c/charts/README.md", "text"))
    yield "hidden file among the subcharts", whole(entry("c/charts/.hidden", "text"), entry("c/charts/_x/y", "text"))
    yield "subchart that leaves its folder", whole(entry("c/charts/d.tgz", packed(entry("d/../../x", "x"))))
    yield "subchart named dot", whole(entry("c/charts/d/Chart.yaml", CHART.replace("name: c", "name: .")))
    yield "subchart with a bad template", whole(entry("c/charts/d/Chart.yaml", CHART.replace("name: c", "name: d")), entry("c/charts/d/templates/a.yaml", "{{ nope }}"))
    yield "Chart.yaml with invalid UTF-8", packed(entry("c/Chart.yaml", CHART.encode() + b"description: \xff\xfe\n"))
    yield "template with invalid UTF-8", whole(entry("c/templates/b.yaml", MAP.encode() + b"data:\n  a: \xff\xfe\n"))
    yield "byte order mark", packed(entry("c/Chart.yaml", "\ufeff" + CHART), entry("c/templates/a.yaml", "\ufeff" + MAP))
    yield "values.yaml that is a list", whole(entry("c/values.yaml", "- a\n"))
    yield "schema that is no JSON", whole(entry("c/values.schema.json", "{"))
    yield "an endless crds folder name", whole(entry("c/crds/" + "/".join("d" * 10 for _ in range(8)) + "/x.yaml", MAP))


def values():
    """name, text of a values file"""
    yield "alias bomb", "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 10)}]\n" for i in range(9))
    yield "map alias bomb", "a: &a {x: 1}\n" + "".join(f"{chr(98 + i)}: &{chr(98 + i)} {{{','.join(f'k{j}: *{chr(97 + i)}' for j in range(10))}}}\n" for i in range(9))
    yield "merge bomb", "a: &a {x: 1}\n" + "".join(f"{chr(98 + i)}: &{chr(98 + i)}\n  <<: [{','.join(['*' + chr(97 + i)] * 10)}]\n" for i in range(9))
    yield "alias of itself", "a: &a [*a]\n"
    yield "alias of its map", "a: &a\n  b: *a\n"
    yield "unknown alias", "a: *b\n"
    yield "lists 10,000 deep", "a: " + "[" * 10000 + "]" * 10000
    yield "lists 10,001 deep", "a: " + "[" * 10001 + "]" * 10001
    yield "maps 9,000 deep", "{a: " * 9000 + "1" + "}" * 9000
    yield "lists 200,000 deep, never closed", "a: " + "[" * 200000
    yield "blocks 3,000 deep", "".join(" " * i + "a:\n" for i in range(3000))
    yield "dashes 11,000 deep", "a:\n" + "- " * 11000 + "x"
    yield "duplicate keys", "a: 1\na: 2\nb: {c: 1, c: 2}\n"
    yield "10 MB in one scalar", "a: " + "x" * 10_000_000
    yield "1 MB in one key", "x" * 1_000_000 + ": 1\n"
    yield "1 MB in a quoted key", '"' + "x" * 1_000_000 + '": 1\n'
    yield "invalid UTF-8", b"a: \xff\xfe\n"
    yield "UTF-8 cut at the end", b"a: caf\xc3"
    yield "overlong UTF-8", b"a: \xc0\xaf\n"
    yield "a surrogate", b"a: \xed\xa0\x80\n"
    yield "UTF-16", "a: 1\n".encode("utf-16")
    yield "byte order mark", "\ufeffa: 1\n"
    yield "zero byte", "a: x\0y\n"
    yield "zero byte alone", "\0"
    yield "delete character", "a: x\x7fy\n"
    yield "bell", "a: \a\n"
    yield "tab as indentation", "a:\n\tb: 1\n"
    yield "tab after the colon", "a:\t1\n"
    yield "tab in a list", "a:\n  -\t1\n  - \t2\n"
    yield "only a tab", "\t"
    yield "map and list", "a: 1\n- b\n"
    yield "unclosed quote", 'a: "x\n'
    yield "unclosed brace", "a: {b: 1\n"
    yield "bad escape", 'a: "\\q"\n'
    yield "bad indentation", "a: 1\n  b: 2\n"
    yield "colon in a plain scalar", "a: b: c\n"
    yield "list at the top", "- 1\n- 2\n"
    yield "scalar at the top", "hello\n"
    yield "number at the top", "12\n"
    yield "null at the top", "null\n"
    yield "two documents", "a: 1\n---\nb: 2\n"
    yield "a broken second document", "a: 1\n---\nb: [\n"
    yield "only a comment", "# nothing\n"
    yield "keys that are maps", "{a: 1}: 2\n"
    yield "keys that are lists", "? [a, b]\n: 2\n"
    yield "null as a key", "null: 1\n~: 2\n"
    yield "numbers as keys", "1: a\n1.5: b\n0x1F: c\n1e3: d\ntrue: e\non: f\n"
    yield "huge numbers", "a: 1e400\nb: 123456789012345678901234567890\nc: -0\nd: 0x1FFFFFFFFFFFFFFFF\n"
    yield "not a number", "a: .nan\n"
    yield "infinity", "a: -.inf\n"
    yield "binary", "a: !!binary aGVsbG8=\nb: !!binary '***'\n"
    yield "own tag", "a: !foo bar\n"
    yield "wrong tag", "a: !!int x\n"
    yield "tag of a map on a scalar", "a: !!map x\n"
    yield "unknown directive", "%FOO bar\n---\na: 1\n"
    yield "wrong version", "%YAML 3.0\n---\na: 1\n"
    yield "merge of a scalar", "a:\n  <<: x\n"
    yield "merge of a list of scalars", "a:\n  <<: [1, 2]\n"
    yield "60,000 keys", "".join(f"k{i}: {i}\n" for i in range(60000))


def schemas():
    """name, schema, values that go with it"""
    yield "no JSON", "{", ""
    yield "a number", "12", ""
    yield "false", "false", "a: 1"
    yield "unknown type", '{"type": "nope"}', "a: 1"
    yield "type of a wrong kind", '{"type": 5}', "a: 1"
    yield "properties that are a list", '{"properties": []}', "a: 1"
    yield "required of a wrong kind", '{"required": "a"}', "a: 1"
    yield "negative minLength", '{"properties": {"a": {"minLength": -1}}}', "a: x"
    yield "a bad pattern", '{"properties": {"a": {"pattern": "["}}}', "a: x"
    yield "a pattern with a look-ahead", '{"properties": {"a": {"pattern": "^(?=x)"}}}', "a: x"
    yield "reference to nothing", '{"properties": {"a": {"$ref": "#/definitions/nope"}}}', "a: x"
    yield "reference that is a bad pointer", '{"properties": {"a": {"$ref": "#/a~5"}}}', "a: x"
    yield "reference to an anchor that is not there", '{"properties": {"a": {"$ref": "#nope"}}}', "a: x"
    yield "reference to itself", '{"$ref": "#"}', "a: 1"
    yield "two that refer to each other", '{"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}', "a: 1"
    yield "recursive, as it should be", '{"$ref": "#/$defs/n", "$defs": {"n": {"type": "object", "additionalProperties": {"$ref": "#/$defs/n"}}}}', "a: {b: {c: {d: 1}}}"
    yield "reference to a file that is not there", '{"$ref": "file:///nope/x.json"}', "a: 1"
    yield "unknown draft", '{"$schema": "http://example.com/draft"}', "a: 1"
    yield "$schema of a wrong kind", '{"$schema": 5}', "a: 1"
    yield "$id that is no address", '{"$id": "::"}', "a: 1"
    yield "enum that is empty", '{"properties": {"a": {"enum": []}}}', "a: 1"
    yield "allOf that is empty", '{"allOf": []}', "a: 1"
    yield "multipleOf zero", '{"properties": {"a": {"multipleOf": 0}}}', "a: 1"


def templates():
    """name, text of a template"""
    yield "include of itself", '{{ define "a" }}{{ include "a" . }}{{ end }}{{ include "a" . }}'
    yield "includes of one another", '{{ define "a" }}{{ include "b" . }}{{ end }}{{ define "b" }}{{ include "a" . }}{{ end }}{{ include "a" . }}'
    yield "template that calls itself with fewer", '{{ define "a" }}{{ if . }}{{ template "a" (rest .) }}{{ end }}{{ end }}{{ template "a" (until 500) }}'
    yield "unclosed action", "a: {{ .Values.x"
    yield "unclosed block", "{{ if true }}"
    yield "unclosed comment", "{{/* x"
    yield "unclosed string", '{{ "x }}'
    yield "10,000 parentheses", "{{ " + "(" * 10000 + "1" + ")" * 10000 + " }}"
    yield "unknown function", "{{ nope }}"
    yield "unknown template", '{{ template "nope" }}'
    yield "regular expression that does not parse", '{{ regexMatch "(" "x" }}'
    yield "mustRegexMatch that does not parse", '{{ mustRegexMatch "(" "x" }}'
    yield "expression that would go back for hours", '{{ regexMatch "^(a+)+$" (repeat 5000 "a" | printf "%sb") }}'
    yield "repeat of less than nothing", '{{ repeat -1 "x" }}'
    yield "index out of range", "{{ index (list 1) 5 }}"
    yield "slice out of range", "{{ slice (list 1) 3 9 }}"
    yield "division by zero", "{{ div 1 0 }}"
    yield "remainder of zero", "{{ mod 1 0 }}"
    yield "zero byte", "a: \0b\n"


def bombs():
    """name, file and text in the chart, and what OURS says where Helm would fill the memory or run for minutes"""
    template = "c/templates/a.yaml"
    yield "tpl of itself", template, '{{ $s := "{{ tpl .x . }}" }}{{ tpl $s (dict "x" $s "Template" .Template) }}', "tpl is nested more than 1000 deep"
    yield "endless output", template, '{{ range until 2000000000 }}x{{ end }}', "the templates made more than"
    yield "repeat a billion times", template, '{{ repeat 2000000000 "x" }}', "the templates made more than"
    yield "indent by two billion", template, '{{ indent 2000000000 "x" }}', "the templates made more than"
    yield "doubling", template, '{{ $s := "x" }}{{ range until 60 }}{{ $s = print $s $s }}{{ end }}{{ len $s }}', "the templates made more than"
    yield "nested maps", template, '{{ $d := dict }}{{ range until 60 }}{{ $d = dict "x" $d "y" $d }}{{ end }}{{ toJson $d }}', "a value has more than 268435456 bytes as text"
    yield "loops in loops", template, "{{ range until 100000 }}{{ range until 100000 }}{{ end }}{{ end }}", "the templates made more than"
    yield "keys in a loop", template, '{{ range until 100000 }}{{ $_ := genPrivateKey "ecdsa" }}{{ end }}', "the templates ran more than"
    doubled = {f"s{i}": {"allOf": [{"$ref": f"#/$defs/s{i + 1}"}] * 2} for i in range(60)}
    yield "schema that doubles", "c/values.schema.json", json.dumps({"$ref": "#/$defs/s0", "$defs": {**doubled, "s60": {"type": "object"}}}), "the schema refers to itself too often to be checked"


def same(a, b):
    def plain(text):
        text = re.sub(rb"(?m)^(level=\S+ msg=.*|\d{4}/\d\d/\d\d \d\d:\d\d:\d\d )", b"", text)  # the time of a log line
        # A schema of a chart reads nothing here; Helm asks the network.
        return re.sub(rb'(failing loading "[^"]*"): .*', b"\\1", text)
    return a[0] == b[0] and a[1] == b[1] and plain(a[2]) == plain(b[2])


def run(command, folder, bounded):
    def bounds():
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
        resource.setrlimit(resource.RLIMIT_AS, (MEGABYTES << 20, MEGABYTES << 20))

    done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, cwd=folder, preexec_fn=bounds if bounded else None)
    return done.returncode, done.stdout, done.stderr


def compare(ours, helm):
    """How many things were tried, and the differences."""
    ours, helm = os.path.abspath(ours), os.path.abspath(helm)
    flags = ["--kube-version", "v1.31.0"]
    differences, count = [], 0
    with tempfile.TemporaryDirectory() as folder:
        def put(path, content):
            path = os.path.join(folder, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as f:
                f.write(content if isinstance(content, bytes) else content.encode())

        def alike(kind, name, arguments):
            nonlocal count
            count += 1
            a = run([ours, "helm", "template", "r"] + arguments + flags, folder, True)
            b = run([helm, "template", "r"] + arguments + flags, folder, False)
            if not same(a, b):
                differences.append(f"{kind}, {name}:\n  ours {a[0]} {a[1][:150]!r} {a[2][:400]!r}\n  helm {b[0]} {b[1][:150]!r} {b[2][:400]!r}")

        def refused(name, chart, expected):
            nonlocal count
            count += 1
            code, out, err = run([ours, "helm", "template", "r", chart] + flags, folder, True)
            if code != 1 or expected.encode() not in err:
                differences.append(f"{name}:\n  ours {code} {out[:150]!r} {err[:400]!r}")

        for name, data in archives():
            put("c.tgz", data)
            alike("archive", name, ["c.tgz"])
        # Folders weigh nothing, so hundreds of thousands of them come to a megabyte.
        put("c.tgz", gzip.compress(tar(entry("c/", kind=tarfile.DIRTYPE))[:512] * 500000, 9))
        refused("500,000 folders", "c.tgz", "decompressed chart is larger than the maximum file size")

        put("c/Chart.yaml", CHART)
        put("c/templates/a.yaml", "{{ .Values | toJson | sha256sum }}: {{ keys .Values | len }}\n")
        for name, text in values():
            put("v.yaml", text)
            alike("values", name, ["c", "-f", "v.yaml"])
        for name, schema, text in schemas():
            put("c/values.schema.json", schema)
            put("v.yaml", text)
            alike("schema", name, ["c", "-f", "v.yaml"])
        put("c/values.schema.json", "{}")
        for name, text in templates():
            put("c/templates/a.yaml", text)
            alike("template", name, ["c"])
        put("c/templates/a.yaml", "a: b\n")
        for name, path, text, expected in bombs():
            put(path, text)
            refused(name, "c", expected)
            put(path, "a: b\n" if path.endswith(".yaml") else "{}")

        os.makedirs(os.path.join(folder, "folder"))
        for name, arguments in (("a folder as values", ["-f", "folder"]), ("a folder as a value", ["--set-file", "a=folder"]), ("no values", ["-f", "nope"])):
            alike("file", name, ["c"] + arguments)
        os.makedirs(os.path.join(folder, "c", ".helmignore"))
        alike("file", "a folder as .helmignore", ["c"])
    return count, differences


if __name__ == "__main__":
    tried, found = compare(*sys.argv[1:3])
    print(f"{tried} bad inputs, {len(found)} differ")
    print("\n".join(found))
    sys.exit(1 if found else 0)
