"""Claims as the verifiers of each Trustee release hand them to the attestation policy, and what they are worth there.

policies/trustee/SOURCES.md names the line of each shape. A table row is (path, value, claim, worth): the claim of the evidence at that
path becomes that value, and the claim of the trust vector with that index gets that worth; value None: the claim is taken away.
"""
import copy

EXECUTABLES, HARDWARE, CONFIGURATION = 0, 1, 2
NOTHING = (33, 97, 36)


def number(version):
    """The release as a number; latest is newer than any."""
    return 1000 if version == "latest" else int(version.split(".")[1])


def text_of(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def texts(claims):
    return {key: text_of(value) for key, value in claims.items()}


def changed(given, path, value):
    out = copy.deepcopy(given)
    at, steps = out, path.split(".")
    for step in steps[:-1]:
        at = at[int(step) if isinstance(at, list) else step]
    if value is None:
        del at[steps[-1]]
    else:
        at[steps[-1]] = value
    return out


PCRS = {f"pcr{n:02}": f"{n:064x}" for n in range(24)}
MEASURED = ("03", "08", "09", "11", "12")
SNP = {"policy_abi_major": 0, "policy_abi_minor": 31, "policy_smt_allowed": True, "policy_migrate_ma": False, "policy_debug_allowed": False,
       "policy_single_socket": False, "reported_tcb_bootloader": 3, "reported_tcb_tee": 0, "reported_tcb_snp": 22, "reported_tcb_microcode": 209,
       "platform_tsme_enabled": False, "platform_smt_enabled": True}
TDX_BODY = {"tcb_svn": "06010300000000000000000000000000", "mr_seam": "49b66f" + "0" * 90, "mrsigner_seam": "0" * 96, "seam_attributes": "0" * 16,
            "td_attributes": "0000001000000000", "xfam": "e702060000000000", "mr_td": "705ee9" + "0" * 90, "mr_config_id": "0" * 96, "mr_owner": "0" * 96,
            "mr_owner_config": "0" * 96, "rtmr_0": "1c" + "0" * 94, "rtmr_1": "559cfc" + "0" * 90, "rtmr_2": "26d0aa" + "0" * 90, "rtmr_3": "0" * 96,
            "report_data": "7c71fe" + "0" * 122}
TDX_HEADER = {"version": "0400", "att_key_type": "0200", "tee_type": "81000000", "reserved": "00000000", "vendor_id": "939a7233f79c4ca9940a0db3957f0607",
              "user_data": "d099bfec0a477aa85a605dceabf2b10800000000"}
EVENTS = [{"index": 1, "type_name": "EV_EFI_BOOT_SERVICES_APPLICATION", "details": {"device_paths": ["File(kernel)"]},
           "digests": [{"alg": "SHA-384", "digest": "kernel"}]},
          {"index": 2, "type_name": "EV_EVENT_TAG", "details": {"string": "LOADED_IMAGE::LoadOptions"}, "digests": [{"alg": "SHA-384", "digest": "parameters"}]}]


def sample(n):
    claims, rows, worth = {"svn": "1"}, [("svn", "9", HARDWARE, 97)], [33, 2, 36]
    if n >= 12:
        claims["launch_digest"] = "abcde"
        rows.append(("launch_digest", "x", EXECUTABLES, 33))
        worth[EXECUTABLES] = 3
    if n >= 14:
        claims["platform_version"] = {"major": 1, "minor": 4}
        rows += [("platform_version.major", 2, HARDWARE, 97), ("platform_version.minor", 3, HARDWARE, 97)]
    if n >= 15:
        claims["debug"] = False
        rows.append(("debug", True, CONFIGURATION, 36))
        worth[CONFIGURATION] = 2
    return claims, worth, rows


def snp(n):
    claims = {**SNP, "measurement": "bWVhc3VyZW1lbnQ=" if n < 18 else "6d6561737572656d656e74"}
    rows = [("measurement", "x", EXECUTABLES, 33), *[(f"reported_tcb_{part}", 99, HARDWARE, 97) for part in ("bootloader", "tee", "snp", "microcode")],
            ("policy_debug_allowed", True, CONFIGURATION, 36), ("policy_migrate_ma", True, CONFIGURATION, 36)]
    rows += [(key, value, CONFIGURATION, 3) for key, value in (("platform_smt_enabled", False), ("platform_tsme_enabled", True), ("policy_abi_major", 9),
             ("policy_abi_minor", 9), ("policy_single_socket", True), ("policy_smt_allowed", False))]
    if n >= 22:
        claims["chip_id"] = "00" * 64
    if n < 14:
        claims, rows = texts(claims), [(path, text_of(value), index, cost) for path, value, index, cost in rows]
    return claims, [3, 2, 2], rows


def quoted(n):
    claims = {"quote": {"header": dict(TDX_HEADER), "body": dict(TDX_BODY)}}
    rows = [("quote.header.tee_type", "00000000", HARDWARE, 97), ("quote.header.vendor_id", "x", HARDWARE, 97), ("quote.body.mr_td", "x", HARDWARE, 97),
            ("quote.body.xfam", "x", CONFIGURATION, 36)]
    if n < 19:
        rows += [("quote.body.mr_seam", "x", HARDWARE, 97), ("quote.body.tcb_svn", "x", HARDWARE, 97)]
    if n >= 12:
        claims |= {"td_attributes": {"debug": False, "septve_disable": True, "perfmon": False}, "tcb_status": "OK" if n < 15 else "UpToDate",
                   "collateral_expiration_status": "0", "advisory_ids": []}
        rows += [("tcb_status", "OutOfDate", HARDWARE, 97), ("tcb_status", "UpToDate" if n < 15 else "OK", HARDWARE, 97),
                 ("td_attributes.debug", True, CONFIGURATION, 36)]
    return claims, [3, 2, 2], rows


def tdx(n):
    claims, worth, rows = quoted(n)
    rows += [("quote.body.rtmr_1", "x", EXECUTABLES, 33), ("quote.body.rtmr_2", "x", EXECUTABLES, 33)]
    if n < 12:
        rows.append(("quote.body.td_attributes", "0100001000000000", CONFIGURATION, 36))
    else:
        rows.append(("collateral_expiration_status", "1", HARDWARE, 97))
    if n < 14:
        claims["ccel"] = {"kernel": "5b7aa6", "kernel_parameters": {"console": "hvc0", "rw": None}}
    else:
        claims["uefi_event_logs"] = copy.deepcopy(EVENTS)
        rows += [("uefi_event_logs", [], EXECUTABLES, 4), ("uefi_event_logs.0.type_name", "x", EXECUTABLES, 4),
                 ("uefi_event_logs.0.details.device_paths", ["x"], EXECUTABLES, 4), ("uefi_event_logs.0.digests.0.digest", "x", EXECUTABLES, 4),
                 ("uefi_event_logs.1.details.string", "x", EXECUTABLES, 4), ("uefi_event_logs.1.digests.0.digest", "x", EXECUTABLES, 4)]
    return claims, worth, rows


def azure_snp(n):
    claims = {**texts({**SNP, "measurement": "bWVhc3VyZW1lbnQ="}), "tpm": dict(PCRS)}
    rows = [("measurement", "x", EXECUTABLES, 33), *[(f"tpm.pcr{pcr}", "x", EXECUTABLES, 33) for pcr in MEASURED],
            *[(f"reported_tcb_{part}", "99", HARDWARE, 97) for part in ("bootloader", "tee", "snp", "microcode")],
            ("policy_debug_allowed", "true", CONFIGURATION, 36)]
    rows += [(key, "x", CONFIGURATION, 36) for key in ("platform_smt_enabled", "platform_tsme_enabled", "policy_abi_major", "policy_abi_minor",
             "policy_single_socket", "policy_smt_allowed")]
    return claims, [3, 2, 2], rows


def azure_tdx(n):
    claims, worth, rows = quoted(n)
    if n < 14:
        claims["ccel"] = {}
    claims["tpm"] = dict(PCRS)
    return claims, worth, rows + [(f"tpm.pcr{pcr}", "x", EXECUTABLES, 33) for pcr in MEASURED]


def tpm(n):
    claims, rows = dict(PCRS), [("pcr11", "x", EXECUTABLES, 33)]
    if n >= 20:
        claims["ak_public"] = "b4d3"
        rows.append(("ak_public", "x", EXECUTABLES, 33))
    return claims, [3, 2, 0], rows


def se(n):
    return {"cuid": "0x" + "a" * 32, "user_data" if n < 14 else "report_data": "", "version": 256, "image_phkh": "0xab", "attestation_phkh": "0xcd",
            "tag": "0xef"}, [3, 2, 2], []


def unjudged(claims):
    return lambda n: (claims, list(NOTHING), [])


FLAT_BODY = {"mr_enclave": "8f", "mr_signer": "1c", "attributes.flags": "0700000000000000", "isv_svn": "0000", "report_data": "74657374"}
# Trustee's own policies have no rules for these in any release, so no client with them is affirmed. Hygon's DCU is of a class of its own, for
# which Trustee has no policy at all.
sgx = unjudged({"header": {"version": "0300", "vendor_id": "939a7233f79c4ca9940a0db3957f0607"}, "body": FLAT_BODY})
cca = unjudged({"realm": {"cca-realm-initial-measurement": "aa"}, "platform": {"cca-platform-lifecycle": 12291}})
csv = unjudged({"version": "2", "policy": {"nodbg": 1, "noks": 1}, "measure": "aa", "vm_id": "bb"})

NV = "x-nvidia-gpu-"
RIM = [f"{NV}{part}-rim-{flag}" for part in ("driver", "vbios")
       for flag in ("fetched", "measurements-available", "schema-validated", "signature-verified", "version-match")]
CHAIN = {"x-nvidia-cert-ocsp-status": "good", "x-nvidia-cert-status": "valid"}


def nvidia_remote(n):
    claims = {f"{NV}attestation-report-cert-chain": dict(CHAIN), f"{NV}attestation-report-cert-chain-fwid-match": True,
              f"{NV}attestation-report-parsed": True, f"{NV}attestation-report-signature-verified": True, f"{NV}attestation-report-nonce-match": True,
              f"{NV}arch-check": True, "secboot": True, "dbgstat": "disabled", f"{NV}vbios-version": "96.00.9F.00.01", f"{NV}driver-version": "570.1",
              f"{NV}vbios-rim-cert-chain": dict(CHAIN), "measres": "success", "x-nvidia-overall-att-result": True, **{flag: True for flag in RIM}}
    rows = [*[(f"{NV}attestation-report-cert-chain.{key}", "x", HARDWARE, 97) for key in CHAIN],
            *[(f"{NV}attestation-report-{key}", False, HARDWARE, 97) for key in ("cert-chain-fwid-match", "parsed", "signature-verified")],
            (f"{NV}arch-check", False, HARDWARE, 97), ("secboot", False, CONFIGURATION, 36), ("dbgstat", "enabled", CONFIGURATION, 36),
            (f"{NV}vbios-version", "x", CONFIGURATION, 3), (f"{NV}driver-version", "x", CONFIGURATION, 3),
            *[(f"{NV}vbios-rim-cert-chain.{key}", "x", EXECUTABLES, 33) for key in CHAIN],
            *[(flag, False, EXECUTABLES, 33) for flag in RIM], ("measres", "fail", EXECUTABLES, 33)]
    return claims, [3, 2, 2], rows


nvidia_local = unjudged({"arch": "hopper", "uuid": "GPU-1", "measurements": {"1": "aa"}, "config": {"driver_version": "570.1"}})


def sample_device(n):
    return {"svn": "2"}, [33, 2, 36], [("svn", "9", HARDWARE, 97)]


def cpus(version):
    """The kinds of evidence of class cpu that the release has a verifier for, by the name of the claims."""
    n = number(version)
    dashes = n >= 16
    out = {"sample": sample, "snp": snp, "tdx": tdx, "az-snp-vtpm" if dashes else "azsnpvtpm": azure_snp,
           "az-tdx-vtpm" if dashes else "aztdxvtpm": azure_tdx, "se": se, "sgx": sgx, "cca": cca, "csv": csv}
    if n >= 16:
        out["tpm"] = tpm
    return {kind: make(n) for kind, make in out.items()}


def devices(version):
    """The same of class gpu, each with a name of its own: NVIDIA's claims are one of two kinds."""
    n = number(version)
    if n < 15:
        return {}
    out = {"sampledevice": sample_device(n), "nvidia": nvidia_local(n)}
    if n >= 16:
        out["nvidia by its remote service"] = nvidia_remote(n)
    return out


def reference_values(version):
    """Everything above as registered values, by the names that the policies ask for; lists of texts before v0.14."""
    n = number(version)
    values = {"svn": ["1"], "launch_digest": ["abcde"], "major_version": 1, "minimum_minor_version": 4,
              "snp_launch_measurement": [snp(n)[0]["measurement"]], "snp_bootloader": [3], "snp_microcode": [209], "snp_snp_svn": [22], "snp_tee_svn": [0],
              "snp_smt_enabled": True, "snp_tsme_enabled": False, "snp_guest_abi_major": 0, "snp_guest_abi_minor": 31, "snp_single_socket": False,
              "snp_smt_allowed": True, **{name: [TDX_BODY[name]] for name in ("rtmr_1", "rtmr_2", "mr_td", "xfam", "mr_seam", "tcb_svn")},
              "tdvfkernel": ["kernel"], "tdvfkernelparams": "parameters", "measurement": ["bWVhc3VyZW1lbnQ="],
              **{f"tcb_{part}": [text_of(SNP[f"reported_tcb_{part}"])] for part in ("bootloader", "microcode", "snp", "tee")},
              **{name: [text_of(SNP[key])] for name, key in (("smt_enabled", "platform_smt_enabled"), ("tsme_enabled", "platform_tsme_enabled"),
                 ("abi_major", "policy_abi_major"), ("abi_minor", "policy_abi_minor"), ("single_socket", "policy_single_socket"),
                 ("smt_allowed", "policy_smt_allowed"))},
              **{f"{kind}_pcr{pcr}": [PCRS[f"pcr{pcr}"]] for kind in ("snp", "tdx", "tpm") for pcr in MEASURED}, "trusted_aks": ["b4d3"],
              "device_svn": ["2"], "allowed_vbios_versions": ["96.00.9F.00.01"], "allowed_driver_versions": ["570.1"]}
    if n < 14:
        values = {name: [text_of(v) for v in (value if isinstance(value, list) else [value])] for name, value in values.items()}
    return values


def flattened(kind, claims):
    """v0.10 joins names by dots; report_data and init_data keep theirs, and are there when no verifier has them."""
    out = {"report_data": "", "init_data": ""}

    def walk(prefix, value):
        if isinstance(value, dict):
            for key, member in value.items():
                walk(f"{prefix}.{key}", member)
        else:
            out[prefix] = value
    walk(kind, claims)
    return out


def sent(version, kind, claims):
    """What the policy gets as its input."""
    if number(version) == 10:
        return flattened(kind, claims)
    return {kind.split(" ")[0]: claims, "report_data": "AAAA", "runtime_data_claims": {"tee-pubkey": {}}}


def status(trust):
    """The EAR status of a trust vector: its worst claim."""
    worst = max(trust)
    return "contraindicated" if worst >= 96 else "warning" if worst >= 32 else "affirming" if worst >= 2 else "none"


def token(version, kind, given, trust):
    """What the resource policy gets of a client with that evidence; None: no token is issued."""
    n = number(version)
    if n == 10:
        return {"tee": kind, "evaluation-reports": [{"policy-id": "default", "policy-hash": "aa"}], "tcb-status": given} if trust else None
    return {"submods": {"cpu" if n < 14 else "cpu0": {"ear.status": status(trust), "ear.veraison.annotated-evidence": given}}}
