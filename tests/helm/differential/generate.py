"""Writes questions for both engines, one JSON object per line: seeded, from a grammar.

generate.py functions          every function with every kind of argument, direct and piped
generate.py templates N SEED   random templates of nested actions
generate.py yaml N SEED        random values through toYaml and back
generate.py set N SEED         --set lines
generate.py sort N SEED        rendered files to split and sort
generate.py schema N SEED      random schemas of all drafts, with formats and references
generate.py numbers            imaginary literals and numbers with underscores
generate.py constraint         version constraints against versions
"""
import json
import random
import sys

import edges

VALUES = """
s: hello
e: ""
sp: "a b,c"
ml: "x\\ny: 1\\n"
num: "12"
i: 3
f: 2.5
z: 0
big: 12345678
neg: -7
t: true
fa: false
n: null
l: [1, two, null, [a], {k: v}]
ls: [b, a, c]
el: []
m: {b: 1, a: {c: x}, n: null}
em: {}
deep: {x: {y: {z: end}}}
"""

# (parameter kinds, variadic kind or None) by function; s string, i int, a any, l list, m map, f float, b bool.
SIGNATURES = {
    "not": "a", "eq": "aa", "ne": "aa", "lt": "aa", "le": "aa", "gt": "aa", "ge": "aa", "len": "a", "index": "aa", "print": "aa", "println": "aa",
    "printf": "saa", "html": "a", "js": "a", "urlquery": "a", "and": "aa", "or": "aa", "call": "a",
    "trim": "s", "trimAll": "ss", "trimall": "ss", "trimSuffix": "ss", "trimPrefix": "ss", "upper": "s", "lower": "s", "title": "s", "untitle": "s",
    "swapcase": "s", "substr": "iis", "repeat": "is", "indent": "is", "nindent": "is", "replace": "sss", "contains": "ss", "hasPrefix": "ss",
    "hasSuffix": "ss", "plural": "ssi", "trunc": "is", "quote": "aa", "squote": "aa", "cat": "aa", "join": "sa", "toStrings": "a", "sortAlpha": "a",
    "toString": "a", "split": "ss", "splitn": "sis", "splitList": "ss", "nospace": "s", "initials": "s", "abbrev": "is", "abbrevboth": "iis",
    "wrap": "is", "wrapWith": "iss", "camelcase": "s", "snakecase": "s", "kebabcase": "s", "hello": "", "atoi": "s",
    "list": "aa", "tuple": "aa", "append": "aa", "mustAppend": "aa", "push": "aa", "mustPush": "aa", "prepend": "aa", "mustPrepend": "aa",
    "first": "a", "mustFirst": "a", "last": "a", "mustLast": "a", "rest": "a", "mustRest": "a", "initial": "a", "mustInitial": "a", "reverse": "a",
    "mustReverse": "a", "compact": "a", "mustCompact": "a", "uniq": "a", "mustUniq": "a", "without": "aa", "mustWithout": "aa", "has": "aa",
    "mustHas": "aa", "slice": "aaa", "mustSlice": "aaa", "concat": "aa", "chunk": "ia", "mustChunk": "ia", "until": "i", "untilStep": "iii", "seq": "ii",
    "dict": "aa", "get": "ms", "set": "msa", "unset": "ms", "hasKey": "ms", "pluck": "sm", "pick": "ms", "omit": "ms", "dig": "ssam",
    "merge": "mm", "mustMerge": "mm", "mergeOverwrite": "mm", "mustMergeOverwrite": "mm", "deepCopy": "a", "mustDeepCopy": "a", "deepEqual": "aa",
    "int": "a", "int64": "a", "float64": "a", "toDecimal": "a", "add": "aa", "add1": "a", "sub": "aa", "mul": "aa", "div": "aa", "mod": "aa",
    "max": "aa", "biggest": "aa", "min": "aa", "maxf": "aa", "minf": "aa", "floor": "a", "ceil": "a", "round": "ai", "addf": "aa", "add1f": "a",
    "subf": "aa", "mulf": "aa", "divf": "aa", "default": "aa", "empty": "a", "coalesce": "aa", "all": "aa", "any": "aa", "ternary": "aab",
    "typeOf": "a", "typeIs": "sa", "typeIsLike": "sa", "kindOf": "a", "kindIs": "sa",
    "toYaml": "a", "toYamlPretty": "a", "fromYaml": "s", "fromYamlArray": "s", "toJson": "a", "mustToJson": "a", "toPrettyJson": "a",
    "mustToPrettyJson": "a", "toRawJson": "a", "mustToRawJson": "a", "fromJson": "s", "fromJsonArray": "s", "mustFromJson": "s", "toToml": "a",
    "fromToml": "s", "b64enc": "s", "b64dec": "s", "b32enc": "s", "b32dec": "s",
    "regexMatch": "ss", "mustRegexMatch": "ss", "regexFind": "ss", "mustRegexFind": "ss", "regexFindAll": "ssi", "mustRegexFindAll": "ssi",
    "regexReplaceAll": "sss", "mustRegexReplaceAll": "sss", "regexReplaceAllLiteral": "sss", "mustRegexReplaceAllLiteral": "sss", "regexSplit": "ssi",
    "mustRegexSplit": "ssi", "regexQuoteMeta": "s",
    "sha1sum": "s", "sha256sum": "s", "sha512sum": "s", "adler32sum": "s", "derivePassword": "issss", "encryptAES": "ss", "decryptAES": "ss",
    "buildCustomCert": "ss", "htpasswd": "ss", "genCA": "si", "genSelfSignedCert": "slli", "genSignedCert": "sllia",
    "date": "sa", "dateInZone": "sas", "date_in_zone": "sas", "htmlDate": "a", "htmlDateInZone": "as", "dateModify": "st", "date_modify": "st",
    "mustDateModify": "st", "must_date_modify": "st", "toDate": "ss", "mustToDate": "ss", "duration": "a", "durationRound": "a", "unixEpoch": "t", "ago": "a",
    "include": "sa", "tpl": "sa", "required": "sa", "fail": "s", "lookup": "ssss", "getHostByName": "s", "semver": "s", "semverCompare": "ss",
    "base": "s", "dir": "s", "clean": "s", "ext": "s", "isAbs": "s", "osBase": "s", "osDir": "s", "osClean": "s", "osExt": "s", "osIsAbs": "s",
    "urlParse": "s", "urlJoin": "m", "randInt": "ii", "values": "m", "keys": "m",
}

ANY = [".Values.s", ".Values.e", ".Values.i", ".Values.f", ".Values.z", ".Values.big", ".Values.neg", ".Values.t", ".Values.fa", ".Values.n", ".Values.nope",
       ".Values.l", ".Values.ls", ".Values.el", ".Values.m", ".Values.em", ".Values.num", ".Values.ml", "nil", "true", "3", "-2", "2.5", "3.0", "\"lit\"", "\"\"", "`r\"w`",
       "'a'", "0x1F", "(int .Values.i)", "(int64 7)", "(list 1 \"x\" nil)", "(list)", "(dict \"k\" 1)", "(dict)", "(until 3)", "(splitList \",\" .Values.sp)",
       "(rest (list))", "(.Values.nope)", "(.Values.n)", "$v", "$none", ".", ".Values", ".Chart", ".Chart.Annotations", ".Chart.Keywords", ".Release", ".Release.Revision",
       ".Capabilities.KubeVersion", ".Capabilities.KubeVersion.Version", ".Files", "(.Files.GetBytes \"conf/a.txt\")", "(.Files.Get \"conf/a.txt\")", "(.Files.Lines \"conf/a.txt\")",
       "(semver \"1.2.3-beta.1\")", "(split \",\" \"a,b\")", "(chunk 2 (list 1 2 3))", ".Values.deep.x", ".Values.deep.x.y.z", ".Template.Name", ".Subcharts",
       "(len .Values.s)", "(index .Values.s 0)", "(toDate \"2006-01-02\" \"2024-02-29\")", "1e3", "1000000.0", "(float64 1e20)", "(ternary 1 2 true)", ".Values.m.n"]
BY_KIND = {
    "s": ["\"lit\"", ".Values.s", ".Values.sp", ".Values.num", "\"a-b_c D\"", ".Values.ml"],
    "i": ["3", "0", "-1", "(int .Values.i)", "7"],
    "m": [".Values.m", "(dict \"k\" 1 \"b\" 9)", ".Values", ".Values.em", ".Values.deep"],
    "l": [".Values.ls", "(list \"a\" \"b\")", "nil"],
    "b": ["true", ".Values.t", "false"],
    "f": ["0.5", ".Values.f"],
    "t": ["(toDate \"2006-01-02T15:04:05Z07:00\" \"2024-02-29T13:14:15Z\")"],
    "a": [".Values.s", ".Values.l", "3", ".Values.m"],
}
FIXED = {  # what makes a call meaningful
    "printf": ["\"%s|%v|%d\""], "regexMatch": ["\"^h.l+\""], "include": ["\"named\""], "tpl": ["\"{{ . }}|x\""], "fromYaml": [".Values.ml"], "fromJson": ["`{\"a\":[1]}`"],
    "semver": ["\"v1.2\""], "semverCompare": ["\"^1.2.0\"", "\"1.4\""], "date": ["\"2006-01-02\""], "dateModify": ["\"-1.5h\""], "lookup": ["\"v1\""],
    "derivePassword": ["1", "\"long\""], "kindIs": ["\"map\""], "typeIs": ["\"string\""], "toDate": ["\"2006-01-02\"", "\"2024-02-29\""], "urlParse": ["\"http://u:p@h:1/p?q#f\""],
}
CHANGING = {"set", "merge", "mustMerge", "mergeOverwrite", "mustMergeOverwrite"}
NAMED = "{{ define \"named\" }}<{{ . }}>{{ end }}"
VERBS = [f + v for f in ("", "+", "#", "8", "-8", "08", ".2", "8.3", " ") for v in "vTtdboOxXcqUeEfFgGsp"]


def template(text):
    return {"kind": "template", "files": {"x.yaml": text, "_h.tpl": NAMED}, "values": VALUES}


def calls():
    for name, kinds in sorted(SIGNATURES.items()):
        base = [FIXED.get(name, [])[i] if i < len(FIXED.get(name, [])) else BY_KIND[k][0] for i, k in enumerate(kinds)]
        yield f"{{{{ {name} {' '.join(base)} }}}}"
        yield f"{{{{ {name} }}}}"
        yield f"{{{{ {name} {' '.join(base)} 1 2 3 4 5 }}}}"
        if name in ("genCA", "genSelfSignedCert", "genSignedCert", "htpasswd"):
            continue
        for i, k in enumerate(kinds):
            for arg in ANY:
                if arg in (".", ".Values", ".Subcharts") and (name in CHANGING or "eepCopy" in name):
                    continue  # a map put into itself
                args = list(base)
                args[i] = arg
                yield f"{{{{ {name} {' '.join(args)} }}}}"
                if i == len(kinds) - 1 and arg != "nil":
                    yield f"{{{{ {arg} | {name} {' '.join(args[:-1])} }}}}"
            for arg in BY_KIND.get(k, []):
                args = list(base)
                args[i] = arg
                yield f"{{{{ {name} {' '.join(args)} | toJson }}}}"
    for verb in VERBS:
        for arg in ANY:
            if verb.endswith("p") or ("toDate" in arg and (verb[-1] not in "vsqT" or "#" in verb)):
                continue  # addresses, which a time has inside
            yield f"{{{{ printf \"%{verb}|\" {arg} }}}}"
    for arg in ANY:
        for form in ("{{{{ {0} }}}}", "{{{{ if {0} }}}}y{{{{ else }}}}n{{{{ end }}}}", "{{{{ with {0} }}}}{{{{ . }}}}{{{{ else }}}}n{{{{ end }}}}",
                     "{{{{ range {0} }}}}[{{{{ . }}}}]{{{{ else }}}}e{{{{ end }}}}", "{{{{ range $i, $e := {0} }}}}{{{{ $i }}}}={{{{ $e }}}};{{{{ end }}}}",
                     "{{{{ ({0}).x }}}}", "{{{{ {0} | kindOf }}}}/{{{{ typeOf {0} }}}}", "{{{{ $q := {0} }}}}{{{{ $q }}}}{{{{ $q = 1 }}}}{{{{ $q }}}}",
                     "{{{{ {0} 1 }}}}", "{{{{ {0}.a.b }}}}", "{{{{ toYaml {0} | indent 2 }}}}", "{{{{ eq {0} {0} }}}}", "{{{{ template \"named\" {0} }}}}"):
            yield form.format(arg)


class Grammar:
    def __init__(self, seed):
        self.r = random.Random(seed)

    def pick(self, xs):
        return xs[self.r.randrange(len(xs))]

    def expression(self, depth):
        if depth <= 0 or self.r.random() < 0.35:
            return self.pick(ANY)
        name = self.pick(NAMES)
        kinds = SIGNATURES[name]
        args = []
        for i, k in enumerate(kinds):
            fixed = FIXED.get(name, [])
            if i < len(fixed) and self.r.random() < 0.8:
                args.append(fixed[i])
            elif self.r.random() < 0.75:
                args.append(self.pick(BY_KIND[k]) if self.r.random() < 0.6 else "(" + self.expression(depth - 1) + ")")
            else:
                args.append("(" + self.expression(depth - 1) + ")" if self.r.random() < 0.5 else self.pick(ANY))
        if args and self.r.random() < 0.4:
            last = args.pop()
            return f"{last} | {name} {' '.join(args)}"
        return f"{name} {' '.join(args)}"

    def body(self, depth):
        return "".join(self.action(depth) for _ in range(self.r.randrange(1, 4)))

    def action(self, depth):
        r = self.r.random()
        trim = self.pick(["{{", "{{", "{{- "]), self.pick(["}}", "}}", " -}}"])
        e = self.expression(2)
        if depth <= 0 or r < 0.45:
            return f"{trim[0]} {e} {trim[1]}" + self.pick(["", "\n", " text\n"])
        if r < 0.6:
            return f"{trim[0]} if {e} {trim[1]}{self.body(depth - 1)}{{{{ else }}}}{self.body(depth - 1)}{{{{ end }}}}\n"
        if r < 0.7:
            return f"{{{{ with {e} {trim[1]}{self.body(depth - 1)}{{{{ else with .Values.m }}}}{self.body(depth - 1)}{{{{ end }}}}"
        if r < 0.85:
            decl = self.pick(["", "$v := ", "$i, $v := ", "$v = "])
            return f"{{{{ range {decl}{e} }}}}{self.body(depth - 1)}{self.pick(['', '{{ break }}', '{{ continue }}', '{{ if .x }}{{ break }}{{ end }}'])}{{{{ else }}}}none{{{{ end }}}}"
        if r < 0.93:
            return f"{{{{ $v {self.pick([':=', '='])} {e} }}}}"
        if r < 0.97:
            return f"{{{{ include \"named\" ({e}) }}}}"
        return f"{{{{ {e}" + self.pick(["}}", ")}}", " | }}", ".x}}", "", " $zz }}", "\n}}"])

    def template(self):
        return "{{ $v := 1 }}{{ $none := .Values.nope }}" + self.body(2)


RANDOM_FUNCTIONS = {"ago", "encryptAES", "htpasswd", "genCA", "genSelfSignedCert", "genSignedCert", "randInt", "values", "keys", "set", "unset", "merge", "mustMerge",
                    "mergeOverwrite", "mustMergeOverwrite", "date", "dateInZone", "date_in_zone", "htmlDate", "htmlDateInZone", "derivePassword"}
NAMES = sorted(set(SIGNATURES) - RANDOM_FUNCTIONS)

WORDS = ["a", "true", "no", "null", "~", "12", "0x1f", "0o17", "017", "08", "1e3", "1_000", "12:30", "2024-01-02", "2024-01-02T03:04:05Z", "a: b", "a:", "#c", "a #b", "- a", "-", "?", "? x",
         "@x", "`x`", "'q'", "\"d\"", "{x}", "[x]", "*x", "&x", "!x", "|", ">", "%x", "", " lead", "trail ", "line1\nline2", "line\n", "line\n\n", "\nlead", "a\n  b\n", "tab\there",
         "a\r\nb", "é", "日本", "emoji 😀", "\u0085x", "\u00a0", "\u2028", "\ufeff", "{{ x }}", "---", "...", "--- a", "<<", "=", ".5", "1.", "+1", "-.inf", ".nan", "y", "N", "on",
         "http://x:80/y", "a,b", "x]", "word " * 25, "'" + "quoted word " * 12, "long" * 40, "a  b " * 20, "x\ny " * 3, " \n", "a\tb\nc", "\x07", "\x7f", "1.5", "1e400", "0b11", "-0", "+.inf", "12345678901234567890"]
NUMBERS = [0, 1, -1, 3.5, 1e6, 1234567.5, 1e20, 1e21, 1e-5, -0.0, 123456789012, 9007199254740993, 0.1, 1e300, 18446744073709551615]


def random_value(r, depth):
    x = r.random()
    if depth <= 0 or x < 0.4:
        return r.choice(WORDS) if r.random() < 0.7 else " ".join(r.choice(WORDS) for _ in range(r.randrange(1, 8)))
    if x < 0.5:
        return r.choice(NUMBERS)
    if x < 0.56:
        return r.choice([True, False, None])
    if x < 0.75:
        return [random_value(r, depth - 1) for _ in range(r.randrange(0, 4))]
    keys = WORDS + ["k1", "k10", "k2", "K", "a1b", "a01", "x-y", "x_y", "x.y"]
    return {r.choice(keys): random_value(r, depth - 1) for _ in range(r.randrange(0, 5))}


def set_line(r):
    key = ["a", "b", "c", "a.b", "a.b.c", "l[0]", "l[1]", "l[0].x", "l[2][1]", "a\\.b", "", "x y", "m.n[3]", "l[-1]", "l[99999]", "l[x]", "a.", ".a", "é"]
    val = ["1", "0", "true", "FALSE", "null", "1.5", "007", "x", "", "{a,b}", "{1,2,{3}}", "{}", "{a", "a\\,b", "12345678901234567890", "-5", "x=y", "[1]", "a b ", "{x,y}z", "\\{a\\}", "nil"]
    json_val = ["1", "\"x\"", "{\"a\":1}", "[1,2]", "null", "", "tru", "{\"a\":", " 5 "]
    out = []
    for _ in range(r.randrange(1, 4)):
        kind = r.choice(["--set", "--set", "--set", "--set-string", "--set-json", "--set-literal"])
        parts = []
        for _ in range(r.randrange(1, 4)):
            parts.append(r.choice(key) + r.choice(["=", "=", "=", "=", "", ","]) + r.choice(json_val if kind == "--set-json" else val))
        out += [kind, ",".join(parts)]
    return out


def documents(r):
    kinds = ["ConfigMap", "Secret", "Service", "Deployment", "Pod", "Widget", "Gadget", "Job", "Namespace", "", "List"]
    seps = ["\n---\n", "---\n", "\n--- # c\n", "\n---\n---\n", "\n\n---\n  \n", "\n----\n"]
    files = {}
    for i in range(r.randrange(1, 4)):
        text = r.choice(["", "---\n", "# top\n"])
        for j in range(r.randrange(0, 4)):
            hook = r.choice(["", "", "", "    helm.sh/hook: pre-install\n", "    helm.sh/hook: post-install, Pre-Upgrade\n    helm.sh/hook-weight: \"5\"\n",
                             "    helm.sh/hook: test-success\n    helm.sh/hook-weight: -3\n    helm.sh/hook-delete-policy: hook-succeeded,hook-failed\n", "    helm.sh/hook: nope\n", "    x: 1\n"])
            body = f"apiVersion: v1\nkind: {r.choice(kinds)}\nmetadata:\n  name: n{r.randrange(9)}\n" + (f"  annotations:\n{hook}" if hook else "")
            text += r.choice([body, body, body, body, "# only a comment\n", "- a\n", "text\n", "a: b: c\n", "  kind: Pod\n"]) + r.choice(seps)
        files[f"c/templates/{r.choice(['a', 'b', 'sub/c', '_p'])}{i}.yaml"] = text
    return files


FORMATS = {
    "email": ["a@b.c", "a@b", "@b", "a b@c", ".a@b", "a.@b", "a..b@c", "a@[1.2.3.4]", "a@[1.2.3]", "a@[IPv6:::1]", "a@-b", "\"x y\"@c", "x"],
    "hostname": ["a.b", "a_b", "-a", "a-", "", "a..b", "A.b.", "x" * 64],
    "ipv4": ["1.2.3.4", "1.2.3", "01.2.3.4", "256.1.1.1", "a.b.c.d", "1.2.3.-4", ""],
    "ipv6": ["::1", "1.2.3.4", "fe80::1%eth0", "2001:db8::1"],
    "uri": ["http://a.b/c", "/x", "http://[::1]/", "http://a:b", "x y", "%zz", "urn:x:y", "http://a b/", "", "1:2", "http://x/{y}"],
    "uri-reference": ["/x", "a\\b", "http://x", ":"], "iri": ["http://\u00e9.de/"], "uri-template": ["http://x/{a}", "http://x/{a", "http://x/{{a}}"],
    "date": ["2024-02-29", "2023-02-29", "2024-2-1", "x", "2024-13-01"],
    "time": ["10:00:00Z", "10:00:00", "25:00:00Z", "10:00:00.5+01:00", "23:59:60Z", "10:00:60Z", "10-00:00Z", "aa:bb:ccZ", "10:00:00+0100", "10:00:00x01:00", "10:00:00.Z"],
    "date-time": ["2024-02-29T10:00:00Z", "2024-02-29 10:00:00Z", "2024-02-30T10:00:00Z", "2024-02-29T10:00:99Z", "short"],
    "duration": ["P1D", "P", "1D", "PT", "PT1H", "P1W", "PW", "P1D1Y", "P1X", "P1", "PT1HT1M", "PD", "P1Y2M3DT4H5M6S", "PxW"],
    "period": ["P1D/2024-02-29T10:00:00Z", "2024-02-29T10:00:00Z/P1D", "x", "x/y", "P1D/x", "2024-02-29T10:00:00Z/PX"],
    "uuid": ["2eb8aa08-aa98-11ea-b4aa-73b441d16380", "2eb8aa08", "2eb8aa0-aa98-11ea-b4aa-73b441d16380", "2eb8aa0g-aa98-11ea-b4aa-73b441d16380"],
    "json-pointer": ["", "/a/b", "a", "/~", "/~2", "/~0"], "relative-json-pointer": ["0", "1/a", "01", "a", "0#", "-1"],
    "semver": ["1.2.3", "1.2", "01.2.3", "1.2.3-a.01", "1.2.3+", "1.2.x", "1.2.3-", "1.2.3+a_b", "..", "1.2.3-a..b"],
    "regex": ["a+", "("], "unknown": ["x"],
}
DRAFTS = ["", "http://json-schema.org/draft-04/schema#", "http://json-schema.org/draft-06/schema#", "http://json-schema.org/draft-07/schema#",
          "https://json-schema.org/draft/2019-09/schema", "https://json-schema.org/draft/2020-12/schema"]


def sub_schema(r, depth, draft):
    if depth and not r.randrange(4):
        return other_schema(r, depth, draft)
    kind = r.randrange(17 if depth else 11)
    if kind == 0:
        return {"type": r.choice(["string", "integer", "number", "boolean", "object", "array", "null", ["string", "null"], ["integer", "string"]])}
    if kind == 1:
        return {"enum": r.sample([1, "a", None, True, 2.5, "b"], 2)}
    if kind == 2:
        return {"const": r.choice([1, "a", None, [1], {"a": 1}])}
    if kind == 3:
        exclusive = [] if "draft-04" in draft else ["exclusiveMinimum", "exclusiveMaximum"]  # flags there
        return {r.choice(["minimum", "maximum", "multipleOf"] + exclusive): r.choice([1, 2, 1000, 2.5])}
    if kind == 4:
        return {r.choice(["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"]): r.randrange(4)}
    if kind == 5:
        return {"pattern": r.choice(["^a", "b$", "[0-9]+"])}
    if kind in (6, 7):
        name = r.choice(sorted(FORMATS))
        return {"type": "string", "format": name}
    if kind == 8:
        return {"$ref": r.choice(["#/definitions/d", "#/$defs/d", "#", "#/definitions/e", "#/$defs/e"])}
    if kind == 9:
        return {"uniqueItems": True}
    if kind == 10:
        return {"required": r.sample(["a", "b", "c"], 2)}
    if kind == 11:
        return {"properties": {k: sub_schema(r, depth - 1, draft) for k in r.sample("abc", 2)}, "additionalProperties": r.choice([True, False, sub_schema(r, depth - 1, draft)])}
    if kind == 12:
        return {"items": sub_schema(r, depth - 1, draft)}
    if kind in (13, 14):
        return {r.choice(["allOf", "anyOf", "oneOf"]): [sub_schema(r, depth - 1, draft) for _ in range(2)]}
    if kind == 15:
        return {"not": sub_schema(r, depth - 1, draft)}
    return {"if": sub_schema(r, depth - 1, draft), "then": sub_schema(r, depth - 1, draft), "else": sub_schema(r, depth - 1, draft)}


def other_schema(r, depth, draft):
    """The keywords that came with later drafts, or are rare; an earlier draft passes over them."""
    def sub():
        return sub_schema(r, depth - 1, draft)
    return r.choice([
        lambda: {"contains": sub(), **({"minContains": r.randrange(3)} if r.randrange(2) else {}), **({"maxContains": r.randrange(3)} if r.randrange(2) else {})},
        lambda: {"prefixItems": [sub(), sub()], "items": sub()},
        lambda: {"items": [sub()], "additionalItems": r.choice([False, sub()])} if "2020" not in draft and draft else {"prefixItems": [sub()], "items": False},
        lambda: {"patternProperties": {"^[ab]$": sub(), "z": sub()}, "additionalProperties": sub()},
        lambda: {"propertyNames": sub()},
        lambda: {"dependencies": {"a": ["b", "c"], "b": sub()}},
        lambda: {"dependentRequired": {"a": ["b"], "z": ["a", "c"]}},
        lambda: {"dependentSchemas": {"a": sub()}},
        lambda: {"allOf": [{"properties": {"a": sub()}}], "unevaluatedProperties": r.choice([False, sub()])},
        lambda: {"anyOf": [{"prefixItems": [sub()]}, {"contains": sub()}], "unevaluatedItems": r.choice([False, sub()])},
        lambda: {"$ref": r.choice(["file:///nowhere/tree", "tree", "#named", "file:///nowhere/other#inner", "other#/definitions/x", "urn:a:b",
                                   "http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema", "#/properties/a"])},
        lambda: {"$dynamicRef": r.choice(["#node", "tree#node", "#named", "#/$defs/d"])},
        lambda: {"$recursiveRef": "#"},
        lambda: {"$ref": "#/$defs/strict"},
    ])()


ADDRESSED = {
    "tree": {"$id": "file:///nowhere/tree", "$dynamicAnchor": "node", "$recursiveAnchor": True, "type": "object",
             "properties": {"a": {"$dynamicRef": "#node"}, "b": {"$recursiveRef": "#"}, "z": {"type": "string"}}},
    "strict": {"$id": "file:///nowhere/strict", "$dynamicAnchor": "node", "$recursiveAnchor": True, "$ref": "tree", "unevaluatedProperties": False},
    "other": {"$id": "file:///nowhere/other", "definitions": {"x": {"$anchor": "inner", "$id": "#inner", "minimum": 2}}},
    "named": {"$anchor": "named", "$id": "#named", "maxLength": 2},
    "old": {"$id": "file:///nowhere/old", "$schema": "http://json-schema.org/draft-04/schema#", "id": "file:///nowhere/old", "minimum": 1, "exclusiveMinimum": True},
}
KEYWORDS = ["type", "enum", "const", "minimum", "exclusiveMaximum", "multipleOf", "minLength", "maxItems", "pattern", "required", "properties", "patternProperties",
            "additionalProperties", "items", "additionalItems", "prefixItems", "contains", "minContains", "uniqueItems", "allOf", "anyOf", "oneOf", "not", "if", "then",
            "$ref", "$id", "id", "$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveRef", "$recursiveAnchor", "$schema", "$comment", "$vocabulary", "definitions", "$defs",
            "dependencies", "dependentRequired", "dependentSchemas", "propertyNames", "unevaluatedItems", "format", "title", "examples", "readOnly", "contentSchema"]
JUNK = [None, True, False, 0, -1, 1.5, "", "a", "[", "(?=x)", "#", "#/a", "#/nope", "#nope", "::", "%zz", "%", "/a~5", "#/properties/a~1b", [], [1], ["a"], ["a", "a"], [{}], [True, {}], {},
        {"a": 1}, {"a": {}}, {"a": ["b", 1]}, {"[": {}}, {"a": []}]


def every_schema(schema):
    yield schema
    for v in schema.values():
        for item in (v if isinstance(v, list) else v.values() if isinstance(v, dict) else []):
            if isinstance(item, dict):
                yield from every_schema(item)
        if isinstance(v, dict):
            yield from every_schema(v)


def schema_question(r):
    used = r.choice(DRAFTS)
    schema = {"type": "object", "properties": {k: sub_schema(r, 2, used) for k in "abc"}, "definitions": {"d": {"type": "string"}, "e": {"minimum": 2}},
              "$defs": {"d": {"type": "string"}, "e": {"minimum": 2}}}
    if used:
        schema["$schema"] = used
    if r.randrange(2):
        schema["definitions" if r.randrange(4) == 0 else "$defs"].update({k: json.loads(json.dumps(v)) for k, v in ADDRESSED.items()})
        schema.setdefault("$id", "file:///nowhere/root")
    for _ in range(r.choice([0, 0, 0, 1, 1, 2])):
        r.choice(list(every_schema(schema)))[r.choice(KEYWORDS)] = json.loads(json.dumps(r.choice(JUNK)))
    pick = [None, 1, 0, 2.5, 3000, "a", "abc", "", "b1", True, [], [1, 1], ["a"], {}, {"a": 1}, {"a": "x", "z": 1}, {"a": {"b": {"a": 1}}, "z": 2}, [{"a": 1}, 2], ["x", 3, None]]
    values = {}
    for k in "abc":
        if r.randrange(6):
            sub = schema["properties"].get(k) if isinstance(schema["properties"], dict) else None
            name = sub.get("format") if isinstance(sub, dict) else None
            values[k] = r.choice(FORMATS[name]) if isinstance(name, str) and name in FORMATS and r.randrange(5) else r.choice(pick)
    return {"kind": "schema", "schema": json.dumps(schema), "values": json.dumps(values)}


NUMBER_TEMPLATES = [
    '{{ 1i | toYamlPretty }}',
    '{{ dict "a" 1i | toYaml }}|{{ list 1i | toJson }}|{{ mustToJson (list 1i) }}',
    '{{ list 1i | toToml }}',
    '{{ dict "a" (list 1i) | toToml }}',
    '{{ 1e3i }} {{ 1_0i}} {{-1i }} {{ +1i}} {{ 1-2i}} {{ 1e+2+3i }} {{1.5-0i}}',
    '{{ until 3+0i }}{{ 3+0i }}',
    '{{ lt 1i 1i }}',
    '{{ lt 1 1i }}',
    '{{ eq 1i 2i 1i }}{{ ne 1i 2i }}',
    '{{ 1i 2 }}',
    '{{ 2 | 1i }}',
    '{{ (1i) 3 }}',
    '{{ index . 1i }}',
    '{{ 1+i }}',
    '{{ 1i2 }}',
    '{{ 0x1p4i }}',
    '{{ 0b1i }} {{ 0o7i }}',
    '{{ 1e400i }}',
    '{{ .x1i }}',
    '{{ printf "%8.2f|%-20v|%+.1e|% v|%#v|%T" 1i 2i 1-2i 3i 4i 5i }}',
    '{{ printf "%q %c %U %p %w" 1i 1i 1i 1i 1i }}',
    '{{ typeIs "complex128" 1i }}{{ kindIs "complex128" 1i }}',
    '{{ add1 2i }} {{ max 3i 1 }} {{ floor 2i }} {{ toDecimal 1i }} {{ int64 1i }}',
    '{{ deepCopy 1i }} {{ mustUniq (list 1i 2i 1i) }} {{ coalesce 0i 2i }} {{ any 0i 0 }} {{ all 1i }}',
    '{{ sortAlpha (list 2i 1i) }} {{ toStrings (list 1i) }} {{ first (list 1i) }} {{ without (list 1i 2i) 1i }}',
    '{{ 1i }}',
    '{{ printf "%v %f %d %s %T" 1i 2.5i 1i 3i 1i }}',
    '{{ 1+2i }}',
    '{{ eq 1i 1i }}',
    '{{ if 0i }}a{{ else }}b{{ end }}',
    '{{ 1i | toJson }}',
    '{{ 1i | toYaml }}',
    '{{ kindOf 1i }} {{ typeOf 1i}} {{ add 1i 2 }} {{ quote 1i }} {{ int 1i }} {{ float64 1i}} {{ default 3 1i }} {{ default 3 0i }}',
    '{{ index (list 1 2) 1i }}',
    '{{ lt 1i 2i }}',
    '{{ eq 1i 1 }}',
    '{{ until 1i }}',
    '{{ list 1i 2i }}',
    '{{ 1e3i }} {{ 0x10i }} {{ 1_0i}} {{-1i }} {{ +1i}} {{ 1-2i}}',
    '{{ 1+2 }}',
    '{{ 1+2i3 }}',
    '{{ range 1i }}x{{ end }}',
    '{{ range $i := 1i }}x{{ end }}',
    '{{ not 1i }}{{ empty 0i }}{{ ternary 1i 2 true }}',
    '{{ deepEqual 1i 1i }} {{ list 1i 1i | uniq }} {{ toString 1i }} {{ print 1i 2i }} {{ dict "a" 1i | toToml }}',
    '{{ 1i.x }}',
    '{{ (1i).x }}',
    '{{ printf "%.2f|%8.1e|%+v|%08.3f|%x|%#v|%q|%t" 1.5i 2i 3i 4.25i 1i 2i 3i 1i }}',
    '{{ round 1i 1 }} {{ atoi 1i }}',
    '{{ 0i }} {{ 1.i }} {{ .5i }}',
    '{{ len 1i }}',
    '{{ html 1i }} {{ join "," (list 1i 2) }} {{ cat 1i 2 }} {{ has 1i (list 1i) }} {{ max 1i 2 }}',
    '{{ print (0i) }} {{ int64 "3" }} {{ $x := 1i }}{{ $x }} {{ toDecimal 1i }}',
    '{{ include "named" 1i }}',
    '{{ 3i | printf "%v" }}',
    '{{ float64 "1_0" }} {{ float64 "1_000.5" }} {{ 1_0.5 }} {{ float64 "0x1p4" }} {{ float64 "0x_1p4" }} {{float64 "1__0"}} {{ float64 "_1" }} {{ float64 "1_" }} {{ 1_0 }} {{ atoi "1_0" }} {{ int "1_0" }} {{ float64 "1_.5" }} {{ float64 "1._5" }} {{ float64 "1e1_0" }} {{ toDecimal "7_7"}}',
    '{{ float64 "0_1" }} {{ float64 "0b1_0" }} {{ float64 "-1_0.2_5" }} {{ float64 ".5_0" }} {{ float64 "0_x1p4" }} {{ float64 "1_0e_1" }} {{ float64 "1_0e1_" }} {{ 1_0e1 }} {{ float64 "1_e1" }} {{ float64 "1_0_" }} {{ "a: 1_0.5\\nb: .5_0\\nc: 1_0\\nd: 0x1_0\\ne: ._5" | fromYaml | toJson }} {{ float64 "00_1" }} {{ "a = 1_0.5_0" | fromToml | toJson }} {{ "1_0.5" | fromJson }}',
]


def main():
    what = sys.argv[1]
    n = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    r = random.Random(seed)
    out = []
    if what == "functions":
        out = [template("{{ $v := .Values.f }}{{ $none := .Values.nope }}" + c) for c in calls()]
    elif what == "templates":
        g = Grammar(seed)
        out = [template(g.template()) for _ in range(n)]
    elif what == "yaml":
        for _ in range(n):
            v = random_value(r, 3)
            out.append({"kind": "template", "files": {"x.yaml": "{{ .Values.v | toYaml }}\n=={{ .Values.v | toYaml | fromYaml | toJson }}\n=={{ .Values.v | toYamlPretty }}\n=={{ .Values.v | toJson }}"},
                        "values": json.dumps({"v": v})})
    elif what == "set":
        out = [{"kind": "set", "lines": set_line(r), "values": r.choice(["", "a: {b: 1}\nl: [1, {x: 2}]\n", "a: 5\n"])} for _ in range(n)]
    elif what == "sort":
        out = [{"kind": "sort", "files": documents(r)} for _ in range(n)]
    elif what == "schema":
        out = [schema_question(r) for _ in range(n)]
    elif what == "numbers":
        out = [template(t) for t in NUMBER_TEMPLATES]
    elif what == "edges":
        out = [template("{{ %s | quote }}" % c) for c in edges.CALLS]
    elif what == "constraint":
        ops = ["", "=", "!=", ">", "<", ">=", "=>", "<=", "=<", "~", "~>", "^"]
        parts = ["1", "1.2", "1.2.3", "0", "0.0", "0.0.3", "0.2.3", "1.x", "*", "x", "1.2.3-beta.1", "v1.2", "1.2.*", "2", "1.2.3-0", "01.2"]
        cons = [o + p for o in ops for p in parts] + ["1.2 - 1.4", ">=1.2, <2", ">=1.2 <2.0-0", "1.2 || 3", "", "a", ">=", "1.2.3 , 2", "~1.2 ||^3", ">1.2.3-alpha, <2"]
        vers = ["1", "1.2", "1.2.3", "v1.2.4", "1.3.0", "2.0.0", "0.0.3", "0.2.9", "0", "1.2.3-beta.1", "1.2.3-beta.2", "1.20.3-gke.100", "1.2.3+meta", "x", "1.2.3-01", "", "1.2.3.4", "99999999999999999999"]
        out = [{"kind": "constraint", "constraint": c, "version": v} for c in cons for v in vers]
    for q in out:
        print(json.dumps(q))


main()
