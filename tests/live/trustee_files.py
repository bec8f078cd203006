#!/usr/bin/env python3
"""Every file of every Trustee release as the pack renders it, read by other people's readers.

    tests/live/trustee_files.py build/release

tomllib reads each configuration, json each set of reference values; OPA compiles each policy and judges, for every release, claims as its
own verifiers emit them: those that fit the registered values, and those that differ in one. The real KBS programs are not run. Without Go,
or without OPA's module where there is no network, policies are skipped.
"""
import base64, json, os, pathlib, shutil, subprocess, sys, tempfile, tomllib

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here / "trustee"))
import claims  # noqa: E402
root = here.parent.parent
windlass = pathlib.Path(sys.argv[1]).resolve() / "windlass"

# What the pack renders comes out of it as the messages of tests that fail on purpose: no other program has its rules.
DUMP = r"""
local fixtures, roles = require("fixtures"), require("roles")
local templates = require("templates")
local files, made
local function ready()
  if not files then files = fixtures.files() end
  if not made then made = fixtures.made(files) end
end
local versions = require("catalogue").read(file("data/versions.json")).versions
local configs = { plain = {}, modern = { profile = "modern" }, custom = { profile = "custom", minVersion = "1.2", maxVersion = "1.3",
  ciphers = { "TLS_AES_128_GCM_SHA256", "TLS_RSA_WITH_AES_128_GCM_SHA256" }, groups = { "x25519", 'odd"\\name' } } }
local function say(name, pieces, text_of)
  local text
  for i = 1, pieces do
    test("dump", function()
      ready()
      text = text or text_of()
      local at = (i - 1) * 1200 + 1
      if i == pieces and #text >= at + 1200 then error(name .. " is too long", 0) end
      error("DUMP " .. json.encode({ name = name, text = base64.encode(text:sub(at, at + 1199)) }), 0)
    end)
  end
end
if PART == "paths" then
  say("paths", 24, function()
    local paths = {}
    for _, version in ipairs(made.versions) do
      local row, its = made.rows[version], {}
      for role in pairs(roles) do its[role] = templates.resolve(files.text, made, version, role).path end
      paths[version] = { paths = its, layout = row.layout, grammar = row.grammar, dialect = row.dialect, token = row.token }
    end
    return json.encode(paths)
  end)
else
  for _, version in ipairs(versions) do
    for _, profile in ipairs({ "permissive", "restricted" }) do
      say(version .. " " .. profile .. " " .. PART, 3, function() return (fixtures.rendered(files, version, "kbs-" .. profile, configs[PART])) end)
    end
  end
end
"""


def dump(part):
    with tempfile.TemporaryDirectory() as folder:
        pack = pathlib.Path(folder) / "trustee"
        shutil.copytree(root / "policies/trustee", pack, ignore=lambda _, names: [n for n in names if n.endswith("_test.lua")])
        (pack / "dump_test.lua").write_text(DUMP.replace("PART", json.dumps(part)))
        out = subprocess.run([windlass, "policy", "test", pack, "-o", "json"], capture_output=True, text=True)
    texts = {}
    try:
        packs = json.loads(out.stdout)["packs"]
        assert "refused" not in packs[0], packs[0]["refused"]
    except (ValueError, KeyError) as wrong:
        sys.exit(f"live trustee: {wrong}: {out.stdout[:500]}{out.stderr[:500]}")
    for one in packs[0]["tests"]:
        message = one["message"]
        assert "DUMP {" in message, message
        piece = json.loads(message[message.index("{"):])
        texts[piece["name"]] = texts.get(piece["name"], b"") + base64.b64decode(piece["text"])
    return {name: text.decode() for name, text in texts.items()}


failures = []


def check(fine, what):
    if not fine:
        failures.append(what)
    return bool(fine)


releases = json.loads(dump("paths")["paths"])
rendered = {}
for part in ("plain", "modern", "custom"):
    rendered.update(dump(part))
good = 0
for name, text in rendered.items():
    version, profile, config = name.split()
    try:
        read = tomllib.loads(text)
    except tomllib.TOMLDecodeError as wrong:
        check(False, f"{name}: {wrong}")
        continue
    server = read if releases[version]["grammar"] == "G0" else read["http_server"]
    tls = {key: value for key, value in server.items() if key.startswith("tls_")}
    expected = {}
    if releases[version]["grammar"] == "G5" and profile == "restricted":
        expected = {"plain": {"tls_profile": "intermediate"}, "modern": {"tls_profile": "modern"}, "custom": {
            "tls_profile": "custom", "tls_min_version": "1.2", "tls_max_version": "1.3",
            "tls_ciphers": "TLS_AES_128_GCM_SHA256:AES128-GCM-SHA256", "tls_groups": 'x25519:odd"\\name'}}[config]
    good += check(tls == expected and server["insecure_http"] == (profile == "permissive"), f"{name}: {tls}")
print(f"## live trustee: {len(releases)} releases, layouts " + " ".join(sorted({r['layout'] for r in releases.values()})))
print(f"## live trustee: toml {good} of {len(rendered)}")
data = root / "policies/trustee/data"
for version, release in releases.items():
    values = json.loads((data / release["paths"]["reference-values"]).read_text())
    check(values == ([] if release["layout"] == "fs" else {}), f"{version}: reference values {values}")

# ---------------------------------------------------------------- policies

cases, of_file = [], {}


def case(name, file, query, given, expect, reference=None, data_there=None):
    cases.append({"name": f"{len(cases)} {name}", "file": str(file), "query": query, "input": given, "expect": expect,
                  "data": {"reference": reference or {}, **(data_there or {})}, "values": reference or {}})
    of_file.setdefault(str(file), []).append(cases[-1]["name"])


OTHERS = ("file-system", "instance-identity", "runtime-opaque", "storage-opaque", "sourced-data")
VECTOR = ("executables", "hardware", "configuration")


def trust(version, role, worth):
    """What the release asks the policy, and its answer for evidence of that worth."""
    n = claims.number(version)
    if n < 16:
        asked = VECTOR if role == "cpu-policy" else ("hardware",)
        return "[" + ", ".join(f"data.policy.{claim}" for claim in asked) + "]", [worth[VECTOR.index(claim)] for claim in asked]
    return f"data.policy.{'result' if n == 16 else 'trust_claims'}", {**dict(zip(VECTOR, worth)), **dict.fromkeys(OTHERS, 0)}


def judge_resource(version, name, paths, given, worth):
    """A client with that evidence asks for a resource, in profile Permissive and in profile Restricted."""
    sent = claims.token(version, name.split(" ")[0], given, worth)
    if sent is None:
        return
    for role, expect in (("resource-permissive", True), ("resource-restricted", claims.status(worth) == "affirming")):
        if claims.number(version) == 10:
            expect = role == "resource-permissive" or sent["tee"] != "sample"
        case(f"{version} {role} {name}", data / paths[role], "data.policy.allow", sent, expect, data_there={"plugin": "resource"})


def judge_flat(version, paths, kind, fits, rows):
    """v0.10: a claim with registered values has to be one of them; every other claim passes."""
    file, given = data / paths["cpu-policy"], claims.sent(version, kind, fits)
    nothing = {name: [] for name in given}
    registered = {**nothing, **{name: [value, "other"] for name, value in given.items() if isinstance(value, str)}}
    case(f"{version} {kind}", file, "data.policy.allow", given, True, registered)
    vector = "[" + ", ".join(f"data.policy.{claim}" for claim in VECTOR) + "]"
    case(f"{version} {kind} vector", file, vector, given, [3, 2, 2], registered)
    case(f"{version} {kind} vector of another", file, vector, {name: 0 for name in given}, list(claims.NOTHING), registered)
    case(f"{version} {kind} no values", file, "data.policy.allow", given, True, nothing)
    for path, value, _, _ in rows:
        other = claims.sent(version, kind, claims.changed(fits, path, value))
        if isinstance(value, str):
            case(f"{version} {kind} {path} = {value}", file, "data.policy.allow", other, False, registered)
    judge_resource(version, kind, paths, given, [2])


for version, release in releases.items():
    paths, values = release["paths"], claims.reference_values(version)
    nothing = list(claims.NOTHING)
    for role, kinds in (("cpu-policy", claims.cpus(version)), ("gpu-policy", claims.devices(version))):
        if role not in paths:
            continue
        for kind, (fits, worth, rows) in kinds.items():
            if claims.number(version) == 10:
                judge_flat(version, paths, kind, fits, rows)
                continue
            for what, trusted, given, registered in (
                    ("fits", worth, fits, values), *((f"{path} = {value}", [cost if i == index else worth[i] for i in range(3)], claims.changed(fits, path, value), values)
                                                     for path, value, index, cost in rows)):
                given = claims.sent(version, kind, given)
                query, expect = trust(version, role, trusted)
                case(f"{version} {kind} {what}", data / paths[role], query, given, expect, registered)
                if role == "cpu-policy":
                    judge_resource(version, f"{kind} {what}", paths, given, trusted)
        if claims.number(version) > 10:
            query, expect = trust(version, role, nothing)
            case(f"{version} {role} no evidence", data / paths[role], query, {}, expect, values)
            case(f"{version} {role} evidence of another kind", data / paths[role], query, {"other": {"svn": "1"}}, expect, values)
    # What Trustee's own test of its policy says: which of svn and launch_digest are registered decides, and nothing else.
    file, n = data / paths["cpu-policy"], claims.number(version)
    for svn, digest, executables, hardware in (("1", "a", 3, 2), ("2", "a", 3, 97), ("1", "b", 33, 2), ("2", "b", 33, 97)):
        if n == 10:
            case(f"{version} upstream {svn}", file, "data.policy.allow", {"productId": "1", "svn": svn}, svn == "1", {"productId": ["1"], "svn": ["1"]})
            continue
        given = {"sample": {"svn": svn, "launch_digest": digest, "platform_version": {"major": 1, "minor": 4}}}
        known = {"svn": ["1"], "launch_digest": ["a"], "major_version": 1, "minimum_minor_version": 1}
        case(f"{version} upstream {svn} {digest}", file, "[data.policy.executables, data.policy.hardware]", given, [executables, hardware], known)
    # Evidence whose platform nobody registered anything for.
    if n > 10:
        for kind, (fits, worth, _) in claims.cpus(version).items():
            if kind in ("sample", "snp", "tdx", "tpm"):
                query, expect = trust(version, "cpu-policy", [33, 2 if kind == "tpm" else 97, {"snp": 3, "tpm": 0, "tdx": 36}.get(kind, worth[2])])
                case(f"{version} {kind} nothing registered", file, query, claims.sent(version, kind, fits), expect)
    if n >= 17:
        containers = [{"OCI": {"Annotations": {"io.kubernetes.cri.image-name": "i"}, "Process": {"User": {"UID": 7}}}}]
        for given, value in (({}, {}), ({"init_data_claims": {"agent_policy_claims": {"containers": containers}}}, {"container_images": ["i"], "container_uids": [7]})):
            case(f"{version} extensions", file, "data.policy.extensions", given, [{"name": "ear.trustee.identifiers", "key": -18, "value": {"validated": value}}])
    # Resource policies.
    kv, affirmed, warned = release["layout"] != "fs", {"ear.status": "affirming"}, {"ear.status": "warning"}
    case(f"{version} permissive, other plugin", data / paths["resource-permissive"], "data.policy.allow", {}, not kv, data_there={"plugin": "other"})
    for given, expect in (({"submods": {"cpu0": affirmed, "gpu0": affirmed}}, n > 10), ({"submods": {"cpu0": affirmed, "gpu0": warned}}, False),
                          ({"submods": {}}, False), ({}, False)):
        case(f"{version} restricted {given}", data / paths["resource-restricted"], "data.policy.allow", given, expect, data_there={"plugin": "resource"})
    secure = {"attestation_phkh": "<se.attestation_phkh>", "image_phkh": "<se.image_phkh>", "tag": "<se.tag>", "version": 256}
    for key in (None, *secure):
        given = claims.token(version, "se", claims.sent(version, "se", {**secure, key: "x"} if key else secure), [3, 2, 2])
        case(f"{version} IBM {key or 'fits'}", data / paths["resource-ibm"], "data.policy.allow", given, key is None, data_there={"plugin": "resource"})
        if not key:
            case(f"{version} IBM other plugin", data / paths["resource-ibm"], "data.policy.allow", given, not kv, data_there={"plugin": "other"})
    case(f"{version} IBM nothing", data / paths["resource-ibm"], "data.policy.allow", {}, False, data_there={"plugin": "resource"})

skipped = None
if not shutil.which("go"):
    skipped = "no go"
with tempfile.TemporaryDirectory() as folder:
    peer = os.path.join(folder, "peer")
    if not skipped:
        built = subprocess.run(["go", "build", "-o", peer, "."], cwd=here / "trustee/rego", capture_output=True, text=True)
        if built.returncode != 0:
            skipped = built.stderr.strip()[:300]
    if skipped:
        print("## live trustee: rego SKIPPED: " + skipped)
    else:
        lines = subprocess.run([peer], input="\n".join(json.dumps(c) for c in cases), capture_output=True, text=True, check=True).stdout.splitlines()
        assert len(lines) == len(cases), (len(lines), len(cases))
        failed = {line.split(":")[0].removeprefix("FAIL ") for line in lines if line.startswith("FAIL")}
        for line in lines:
            check(not line.startswith("FAIL"), line)
        files = sum(not any(name in failed for name in names) for names in of_file.values())
        print(f"## live trustee: rego {files} of {len(of_file)}")
        print(f"## live trustee: evidence and clauses {len(cases) - len(failed)} of {len(cases)}")
for one in failures[:30]:
    print("live trustee: " + one)
sys.exit(1 if failures else 0)
