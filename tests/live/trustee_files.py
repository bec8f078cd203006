#!/usr/bin/env python3
"""Every file of every Trustee release as the pack renders it, read by other people's readers.

    tests/live/trustee_files.py build/release

tomllib reads each configuration, json each set of reference values; OPA compiles each policy and judges evidence that fits and evidence
that fails one clause. The real KBS programs are not run. Without Go, or without OPA's module where there is no network, policies are skipped.
"""
import base64, copy, json, os, pathlib, shutil, subprocess, sys, tempfile, tomllib

here = pathlib.Path(__file__).resolve().parent
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
  for i = 1, pieces do
    test("dump", function()
      ready()
      local text, at = text_of(), (i - 1) * 1200 + 1
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

TDX = {"quote": {"header": {"tee_type": "81000000", "vendor_id": "939a7233f79c4ca9940a0db3957f0607"},
                 "body": {"rtmr_1": "r1", "rtmr_2": "r2", "mr_td": "m", "xfam": "x"}},
       "tcb_status": "UpToDate", "collateral_expiration_status": "0", "td_attributes": {"debug": False},
       "uefi_event_logs": [
           {"type_name": "EV_EFI_BOOT_SERVICES_APPLICATION", "details": {"device_paths": ["File(kernel)"]}, "digests": [{"digest": "k"}]},
           {"type_name": "EV_EVENT_TAG", "details": {"string": "LOADED_IMAGE::LoadOptions"}, "digests": [{"digest": "p"}]}]}
VALUES = {"launch_digest": ["d"], "svn": [1], "major_version": 1, "minimum_minor_version": 4,
          "snp_launch_measurement": ["s"], "snp_bootloader": [3], "snp_microcode": [72], "snp_snp_svn": [8], "snp_tee_svn": [0],
          "snp_smt_enabled": True, "snp_tsme_enabled": True, "snp_guest_abi_major": 0, "snp_guest_abi_minor": 31, "snp_single_socket": False,
          "snp_smt_allowed": True, "rtmr_1": ["r1"], "rtmr_2": ["r2"], "tdvfkernel": ["k"], "tdvfkernelparams": ["p"], "mr_td": ["m"], "xfam": ["x"],
          "tpm_pcr11": ["t"], "device_svn": ["2"], "allowed_vbios_versions": ["96"], "allowed_driver_versions": ["570"],
          **{f"{kind}_pcr{n}": [n] for kind in ("snp", "tdx") for n in ("03", "08", "09", "11", "12")}}
PCRS = {f"pcr{n}": n for n in ("03", "08", "09", "11", "12")}
NV = "x-nvidia-gpu-"
FLAGS = [f"{NV}{part}-rim-{flag}" for part in ("driver", "vbios")
         for flag in ("fetched", "measurements-available", "schema-validated", "signature-verified", "version-match")]
CHAIN = {"x-nvidia-cert-ocsp-status": "good", "x-nvidia-cert-status": "valid"}
NVIDIA = {f"{NV}attestation-report-cert-chain": dict(CHAIN), f"{NV}attestation-report-cert-chain-fwid-match": True,
          f"{NV}attestation-report-parsed": True, f"{NV}attestation-report-signature-verified": True, f"{NV}arch-check": True,
          "secboot": True, "dbgstat": "disabled", f"{NV}vbios-version": "96", f"{NV}driver-version": "570",
          f"{NV}vbios-rim-cert-chain": dict(CHAIN), "measres": "success", **{flag: True for flag in FLAGS}}
NONE = (33, 97, 36)
CLAIMS = ("executables", "hardware", "configuration")


def evidence(dialect):
    """What is sent, what it is worth, and what each clause that fails costs: (path, value, claim, worth)."""
    out = [
        ("sample", {"launch_digest": "d", "svn": 1, "platform_version": {"major": 1, "minor": 5}, "debug": False}, (3, 2, 2), [
            ("launch_digest", "x", 0, 33), ("svn", 9, 1, 97), ("platform_version.major", 2, 1, 97), ("platform_version.minor", 3, 1, 97),
            ("debug", True, 2, 36)]),
        ("snp", {"measurement": "s", "reported_tcb_bootloader": 3, "reported_tcb_microcode": 72, "reported_tcb_snp": 8, "reported_tcb_tee": 0,
                 "policy_debug_allowed": False, "policy_migrate_ma": False, "platform_smt_enabled": True, "platform_tsme_enabled": True,
                 "policy_abi_major": 0, "policy_abi_minor": 31, "policy_single_socket": False, "policy_smt_allowed": True}, (3, 2, 2), [
            ("measurement", "x", 0, 33), *[(f"reported_tcb_{n}", 99, 1, 97) for n in ("bootloader", "microcode", "snp", "tee")],
            ("policy_debug_allowed", True, 2, 36), ("policy_migrate_ma", True, 2, 36), ("platform_smt_enabled", False, 2, 3),
            ("platform_tsme_enabled", False, 2, 3), ("policy_abi_major", 9, 2, 3), ("policy_abi_minor", 9, 2, 3),
            ("policy_single_socket", True, 2, 3), ("policy_smt_allowed", False, 2, 3)]),
        ("tdx", TDX, (3, 2, 2), [
            ("quote.body.rtmr_1", "x", 0, 33), ("quote.body.rtmr_2", "x", 0, 33), ("uefi_event_logs", [], 0, 4),
            ("uefi_event_logs.0.type_name", "x", 0, 4), ("uefi_event_logs.0.details.device_paths", ["x"], 0, 4),
            ("uefi_event_logs.0.digests.0.digest", "x", 0, 4), ("uefi_event_logs.1.type_name", "x", 0, 4),
            ("uefi_event_logs.1.details.string", "x", 0, 4), ("uefi_event_logs.1.digests.0.digest", "x", 0, 4),
            ("quote.header.tee_type", "x", 1, 97), ("quote.header.vendor_id", "x", 1, 97), ("quote.body.mr_td", "x", 1, 97),
            ("tcb_status", "OutOfDate", 1, 97), ("collateral_expiration_status", "1", 1, 97), ("td_attributes.debug", True, 2, 36),
            ("quote.body.xfam", "y", 2, 36)]),
        ("tpm", {"pcr11": "t"}, (3, 2, 0), [("pcr11", "x", 0, 33)]),
        ("se", {"any": 1}, (3, 2, 2), [])]
    azure = {"data-azure": ("azsnpvtpm", "aztdxvtpm"), "query": ("az_snp_vtpm", "az_tdx_vtpm"), "query-claims": ("az_snp_vtpm", "az_tdx_vtpm"),
             "query-dashes": ("az-snp-vtpm", "az-tdx-vtpm")}.get(dialect)
    if azure:
        out.append((azure[0], {"tpm": PCRS}, (3, 2, 2), [(f"tpm.{p}", "x", 0, 33) for p in PCRS]))
        out.append((azure[1], {**TDX, "tpm": PCRS}, (3, 2, 2), [*[(f"tpm.{p}", "x", 0, 33) for p in PCRS], ("quote.header.tee_type", "x", 1, 97),
                    ("quote.header.vendor_id", "x", 1, 97), ("tcb_status", "x", 1, 97)]))
    return out


GPU = [("nvidia", NVIDIA, (3, 2, 2), [
    *[(f"{NV}attestation-report-cert-chain.{key}", "x", 1, 97) for key in CHAIN],
    *[(f"{NV}attestation-report-{key}", False, 1, 97) for key in ("cert-chain-fwid-match", "parsed", "signature-verified")],
    (f"{NV}arch-check", False, 1, 97), ("secboot", False, 2, 36), ("dbgstat", "enabled", 2, 36), (f"{NV}vbios-version", "x", 2, 3),
    (f"{NV}driver-version", "x", 2, 3), *[(f"{NV}vbios-rim-cert-chain.{key}", "x", 0, 33) for key in CHAIN],
    *[(flag, False, 0, 33) for flag in FLAGS], ("measres", "fail", 0, 33)]),
    ("sampledevice", {"svn": "2"}, (33, 2, 36), [("svn", "9", 1, 97)])]


def changed(given, path, value):
    out = copy.deepcopy(given)
    at, steps = out, path.split(".")
    for step in steps[:-1]:
        at = at[int(step) if isinstance(at, list) else step]
    at[steps[-1]] = value
    return out


cases, of_file = [], {}


def case(name, file, query, given, expect, data_there=None):
    cases.append({"name": f"{len(cases)} {name}", "file": str(file), "query": query, "input": given, "expect": expect,
                  "data": {"reference": VALUES, **(data_there or {})}, "values": VALUES})
    of_file.setdefault(str(file), []).append(cases[-1]["name"])


def judged(name, file, kinds):
    case(f"{name} nothing", file, "[" + ",".join(f"data.policy.{c}" for c in CLAIMS) + "]", {}, list(NONE))
    for kind, given, worth, clauses in kinds:
        case(f"{name} {kind}", file, "[" + ",".join(f"data.policy.{c}" for c in CLAIMS) + "]", {kind: given}, list(worth))
        for path, value, claim, costs in clauses:
            expect = list(worth)
            expect[claim] = costs
            case(f"{name} {kind} {path}", file, "[" + ",".join(f"data.policy.{c}" for c in CLAIMS) + "]", {kind: changed(given, path, value)}, expect)


seen = set()
for version, release in releases.items():
    for role, path in release["paths"].items():
        if (path, release["token"] if role.startswith("resource") else "") in seen:
            continue
        seen.add((path, release["token"] if role.startswith("resource") else ""))
        file, name = data / path, f"{version} {role}"
        fs, token = release["layout"] == "fs", release["token"]
        if role == "cpu-policy":
            judged(name, file, evidence(release["dialect"]))
            containers = [{"OCI": {"Annotations": {"io.kubernetes.cri.image-name": "i"}, "Process": {"User": {"UID": 7}}}}]
            for given, value in (({}, {}), ({"init_data_claims": {"agent_policy_claims": {"containers": containers}}}, {"container_images": ["i"], "container_uids": [7]})):
                case(f"{name} extensions", file, "data.policy.extensions", given, [{"name": "ear.trustee.identifiers", "key": -18, "value": {"validated": value}}])
            if token == "none":
                case(f"{name} allow", file, "data.policy.allow", {"se": {"a": 1}}, True)
                case(f"{name} allow nothing", file, "data.policy.allow", {}, False)
            if release["dialect"] in ("query-claims", "query-dashes"):
                case(f"{name} claims", file, "data.policy.trust_claims", {"se": {"a": 1}}, {
                    "executables": 3, "hardware": 2, "configuration": 2, "file-system": 0, "instance-identity": 0, "runtime-opaque": 0,
                    "storage-opaque": 0, "sourced-data": 0})
        elif role == "gpu-policy":
            judged(name, file, GPU)
        elif role == "resource-permissive":
            case(f"{name} resource", file, "data.policy.allow", {}, True, {"plugin": "resource"})
            case(f"{name} other plugin", file, "data.policy.allow", {}, fs, {"plugin": "other"})
        elif role == "resource-restricted":
            affirmed, warned = {"ear.status": "affirming"}, {"ear.status": "warning"}
            possible = token != "none"
            for given, expect in (({"submods": {"cpu0": affirmed, "gpu0": affirmed}}, possible), ({"submods": {"cpu0": affirmed, "gpu0": warned}}, False),
                                  ({"submods": {}}, False), ({}, False)):
                case(f"{name} {given}", file, "data.policy.allow", given, expect, {"plugin": "resource"})
        elif role == "resource-ibm":
            se = {"attestation_phkh": "<se.attestation_phkh>", "image_phkh": "<se.image_phkh>", "tag": "<se.tag>", "version": 256}
            part = token if token != "none" else "cpu0"
            def sent(claims): return {"submods": {part: {"ear.veraison.annotated-evidence": {"se": claims}}}}
            case(f"{name} fits", file, "data.policy.allow", sent(se), token != "none", {"plugin": "resource"})
            for key in se:
                case(f"{name} {key}", file, "data.policy.allow", sent({**se, key: "x"}), False, {"plugin": "resource"})
            case(f"{name} other plugin", file, "data.policy.allow", sent(se), token != "none" and fs, {"plugin": "other"})
            case(f"{name} nothing", file, "data.policy.allow", {}, False, {"plugin": "resource"})

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
