"""Writes questions about what is empty, cut short or wrong, one JSON object per line.

generate_damaged.py merge          what merge and deepCopy make of every pair of kinds
generate_damaged.py json N SEED    JSON texts that end after every byte, by every way in; N more with something wrong in them
generate_damaged.py toml N SEED    the same for TOML
"""
import json
import random
import sys

VALUES = """
n: null
l: [1, two, null, [a], {k: v}]
ls: [b, a, c]
el: []
m: {b: 1, a: {c: x}, n: null}
em: {}
"""
MERGED = ["nil", "true", "false", "0", "3", "0.0", "2.5", '""', '"x"', "(list)", '(list 1 "x")', "(rest (list))", "(list nil)", '(splitList "," "a,b")', "(dict)",
          '(dict "x" 1)', '(dict "x" nil "y" (list) "z" (dict))', '(dict "x" (dict "y" "") "z" 2)', ".Values.n", ".Values.el", ".Values.em", ".Values.ls", ".Values.m",
          '("[]" | fromYamlArray)', '("{}" | fromJson)', '("a:\\nb: []" | fromYaml)', "(until 0)", "(until 2)", ".Values.nope", ".Chart", ".Chart.Keywords", ".Chart.Annotations", ".Release",
          '(.Files.GetBytes "no")', '(.Files.GetBytes "conf/a.txt")', '(semver "1.2.3")', ".Capabilities.KubeVersion", '(split "," "a,b")', "(chunk 2 (list 1 2 3))", '(.Files.Lines "no")', ".Files"]
SHOWN = "{{ $r | toJson }}|{{ $d | toJson }}|{{ $s | toJson }}|{{ kindOf $r.k }}|{{ typeOf $r.k }}"


def merges():
    for name in ("merge", "mustMerge", "mergeOverwrite", "mustMergeOverwrite"):
        for a in MERGED:
            for b in MERGED:
                for into in (f'(dict "k" {a} "o" 1)', f'(dict "k" {a})'):
                    yield f'{{{{ $d := {into} }}}}{{{{ $s := dict "k" {b} }}}}{{{{ $r := {name} $d $s }}}}' + SHOWN
            yield f'{{{{ $d := dict "o" 1 }}}}{{{{ $s := dict "k" {a} }}}}{{{{ $r := {name} $d $s }}}}' + SHOWN
            yield f'{{{{ $d := dict }}}}{{{{ $s := dict "k" {a} }}}}{{{{ $r := {name} $d $s }}}}' + SHOWN
            yield f'{{{{ $d := dict "k" (dict "i" {a}) }}}}{{{{ $s := dict "k" (dict "i" nil "j" (list)) }}}}{{{{ $r := {name} $d $s }}}}' + SHOWN
            yield (f'{{{{ $d := dict "k" nil }}}}{{{{ $s := dict "k" {a} }}}}{{{{ $r := {name} $d $s (dict "k" (list)) (dict "k" nil) (dict "k" (dict "a" 1)) }}}}' + SHOWN)
            yield f'{{{{ {name} {a} (dict "k" 1) | toJson }}}}'
            yield f'{{{{ {name} (dict "k" 1) {a} | toJson }}}}'
        yield f"{{{{ {name} .Values.nope .Values.nope | toJson }}}}{{{{ {name} .Values.nope (dict) | toJson }}}}"
    for name in ("deepCopy", "mustDeepCopy"):
        for a in MERGED:
            yield f'{{{{ $d := dict "k" {a} }}}}{{{{ $r := {name} $d }}}}{{{{ $_ := set $r "new" 1 }}}}{{{{ $r | toJson }}}}|{{{{ $d | toJson }}}}|{{{{ kindOf $r.k }}}}|{{{{ typeOf $r.k }}}}'
            yield f'{{{{ $r := {name} {a} }}}}{{{{ $r | toJson }}}}|{{{{ kindOf $r }}}}|{{{{ typeOf $r }}}}'
            yield f'{{{{ $r := {name} (list {a} (dict "k" {a})) }}}}{{{{ $r | toJson }}}}|{{{{ typeOf $r }}}}'
            yield f'{{{{ $d := dict "k" {a} }}}}{{{{ $r := {name} $d }}}}{{{{ $s := mergeOverwrite $r (dict "k" (dict "q" 1)) }}}}{{{{ $s | toJson }}}}|{{{{ $d | toJson }}}}'


JSON_TEXTS = ["null", " nul", "true", "false ", "-12.50e+3", "0", "1E5", r'"a\u00e9\n\ud83d\ude00x"', "[]", '[1, "b", null, [true], {}]', "{}", '{"a": 1, "b": [false, -0.5], "c": {"d": "e"}} ',
              "[null,nul]", '{"a":tru}', r'"\\"', "[-]", "[1.]", '{"a":1e}', '"tab\there"', "\t\n ", '{"a":"é"}', "[01]", '{"a" 1}', "{1:2}", "[1,]", '{"a":1,}', "'a'", "\u2028", '{"a":1}}', "[1]]",
              "nullx", "1 2", "1e400", "-"]
JSON_WRONG = ["x", '"', "\\", "]", "}", ",", ":", "\x01", "é", "\ufeff", "-", ".", "e", "0", " ", "'", "\x7f", "\n"]
TOML_TEXTS = [
    "a = 1", 'a = "x"\nb = 2', "a = 'x'", 'a = """x\\\n  y"z""""', "a = '''\nx'y'''", "[a]\nb = 1\n[a.c]\nd = 2", "[[a]]\nb = 1\n[[a]]\nb = 2\n[a.c]\nd = 1", "a.b.c = 1\na.b.d = 2",
    'a = [1, 2.5, "x", [true], {b = 1}]', "a = [\n 1, # c\n 2,\n]", "a = {b = 1, c.d = 2, e = {}}", "a = {\n b = 1, # c\n}", "a = 2024-02-29T13:14:15Z", "a = 2024-02-29 13:14:15.123456",
    "a = 2024-02-29", "a = 13:14:15", "a = 13:14", "a = 2024-02-29T13:14:15+01:30", "a = 2024-02-29t13:14z", "a = 0x1F\nb = 0o17\nc = 0b101\nd = 1_000", "a = -1.5e-3\nb = +2\nc = 1e9\nd = -0.0",
    "a = true # comment\nb = false", "\"quoted key\" = 1\n'raw key' = 2", '"a.b" . c = 1', '"" = 1', r'a = "\u00e9\U0001F600\x41\e\t"', "# only\n", "\ufeffa = 1", "a = 1\r\nb = 2\r\n",
    ' \t a = 1\n\n\n[ x . "y" ]\nz = 1', "a = 1\na = 2", "[a]\n[a]", "[a]\nb = 1\n[a.b]", "a = [1]\n[[a]]", "[[a]]\n[a]", "a = {b = 1}\n[a.c]", "a = {b = 1, b = 2}", "a.b = 1\n[a]", "[a.b]\n[a]\nb = 1",
    "a = 1\na.b = 2", "[a]\nb.c = 1\n[a.b.d]", "a = {b.c = 1, b.d = 2}\na.b.e = 3", "[a.b.c]\nx = 1\n[a]\ny = 2\n[a.b]\nz = 3", "a = 01", "a = 1__0", "a = _1", "a = 1_", "a = 1.", "a = .5", "a = 1.e2",
    "a = +0x1", "a = 99999999999999999999", "a = 1e999", "a = 0x", "a = foo", "a = tru", "a = infx", "a = nano", "a = +i", "a = -na", "a = 2024-13-01", "a = 2024-02-30", "a = 2024-2-3", "a = 24:00:00",
    "a = 2024-02-29 ", r'a = "\ud800"', r'a = "\q"', r'a = "\u12"', r'a = """\ x"""', 'a = """a""""""', "a =", "a", "= 1", ".a = 1", "a. = 1", "a..b = 1", "[]", "[.a]", "[a.]", "[a", "[a]x", "[[a]",
    "[[a] ]", "a = [1,,2]", "a = [,1]", "a = [1 2]", "a = {,}", "a = {b = 1 c = 2}", "a = {b}", "a = 1 b = 2", 'a = "x', "a = 'x", 'a = """x', "a = '''x", 'a = "x\ny"', "a b = 1", "a = \n1", "a\n= 1",
    "a = 1\x00", "\x00a", 'a = "\x01"', "a = 1\rb = 2", "# x\x02", "fruit = []\n[[fruit]]", "[[a.b]]\nx = 1\n[a.b.c]\ny = 1\n[[a.b]]\nx = 2", '[x]\n"k k".z = [1\n', '[a."b c"]\nd = ',
    "m.n = {o.p = [1, {q = ]}", "a = 1979-05-27 07:32:00-08:00", "a = 1979-05-27T07:32:00.999999-07:00", "é = 1", "a = é", "a = 1é", '"é" = [}', "a = [[[[]]]]", "a = [{b = [{c = 'd'}]}]",
    "a = 9223372036854775807\nb = -9223372036854775808", "a = 1\n\n\n\nb = [1,\n2,\n\n", 'a = "multi"\n\nb = """\nx\ny\n', 'a = inf\nb = -nan', '"a\\"b" = x', "[a]\n\"\" = 1\n\"\" = 2"]
TOML_WRONG = ["x", '"', "\\", "]", "}", "[", "{", ",", "=", ".", "\x01", "é", "-", "_", "0", "9", " ", "'", "\n", "\r", "#", ":", "e", "T", "\x00"]


def damaged(texts, wrong, r, n):
    """Each text whole, cut after every character, and with each left out; then n with something else put in, or two texts in a row."""
    for t in texts:
        for cut in range(len(t) + 1):
            yield t[:cut]
    for t in texts:
        for i in range(len(t)):
            yield t[:i] + t[i + 1:]
    for _ in range(n):
        t = r.choice(texts) + r.choice(["", "", "\n" + r.choice(texts)])
        for _ in range(r.choice([1, 1, 2])):
            i = r.randrange(len(t) + 1)
            t = t[:i] + r.choice(wrong) + t[i + r.randrange(2):]
        yield t


def unique(texts):
    return list(dict.fromkeys(texts))


def template(text, values=VALUES):
    return {"kind": "template", "files": {"x.yaml": text}, "values": values}


def cut_json(n, r):
    for t in unique(damaged(JSON_TEXTS, JSON_WRONG, r, n)):
        values = json.dumps({"t": t})
        yield template("{{ .Values.t | fromJson | toJson }}|{{ .Values.t | fromJsonArray | toJson }}", values)
        yield template("{{ .Values.t | mustFromJson | toJson }}", values)
        yield {"kind": "set", "lines": ["--set-json", "k=" + t], "values": ""}
        yield {"kind": "set", "lines": ["--set-json", "k=" + t + ",m=1"], "values": ""}
        yield {"kind": "schema", "schema": t, "values": "a: 1"}


def cut_toml(n, r):
    for t in unique(damaged(TOML_TEXTS, TOML_WRONG, r, n)):
        yield template("{{ $t := .Values.t | fromToml }}{{ $t | toJson }}|{{ range $k, $v := $t }}{{ $k }} {{ typeOf $v }} {{ $v }}|{{ end }}{{ $t | toToml }}", json.dumps({"t": t}))


def main():
    what = sys.argv[1]
    n = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    r = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    made = {"merge": lambda: [template(t) for t in unique(merges())], "json": lambda: cut_json(n, r), "toml": lambda: cut_toml(n, r)}
    for q in made[what]():
        print(json.dumps(q))


main()
