#!/usr/bin/env python3
"""Takes out one clause after the other of the Trustee pack: images, resolution of files, what is kept. Its own tests must notice each.

    tests/trustee/mutants.py build/release [FILE]
"""
import pathlib, shutil, subprocess, sys, tempfile

root = pathlib.Path(__file__).resolve().parent.parent.parent
windlass = pathlib.Path(sys.argv[1]).resolve() / "windlass"

# file, its text, what stands there instead, the tests that shall notice
MUTANTS = [
    # which image
    ("images.lua", 'if told ~= "" then return told,', 'if told ~= "" and noted == "" then return told,', "a variable wins"),
    ("images.lua", 'environment[rule.variable] or ""', 'environment[rule.variable] or "x"', "no variable"),
    ("images.lua", 'if noted ~= "" then return noted, nil, false end', "", "an annotation wins over the constant"),
    ("images.lua", "not split and its.kbs_all_in_one_image or its.kbs_image", "its.kbs_image", "the image with its services"),
    ("images.lua", 'its.kbs_all_in_one_image or its.kbs_image or ""', 'its.kbs_all_in_one_image or ""', "else the plain one"),
    ("images.lua", 'variable = "KBS_IMAGE_NAME_MICROSERVICES"', 'variable = "KBS_IMAGE_NAME"', "of microservices"),
    ("images.lua", 'noted ~= "" and noted ~= told and rule.variable or nil', "nil", "an override is told"),
    ("images.lua", 'return told ~= "" and told or nil', 'return told', "no image of the init container"),
    ("server.lua", 'if row.layout ~= "fs" and not converter_of', "if not converter_of", "only where there is one"),
    ("server.lua", 'if c.name == "secret-converter" then image', "if false then image", "the init container's image stays"),
    ("instance.lua", 'annotations[key] = image\n', "annotations[key] = kbs and kbs.annotations[key] or image\n", "an edited annotation is restored"),
    ("images.lua", "if row.bare or (", "if (", "the catalogue that is built in has constants"),
    ("images.lua", 'if out[container] == "" and theirs[container] ~= "" then', "if false then", "the shipped image of a release without a mapping"),
    ("instance.lua", 'elseif release_images.kbs == "" then', "elseif false then", "a release without any image is a condition"),
    ("server.lua", 'if text(runs[container]) ~= "" then return', "if false then return", "an image that runs is kept"),
    ("server.lua", "by_hand and running and running", "running and running", "an instance keeps no image"),
    ("server.lua", 'if built_in and not split and of_release ~= "" then', "if false then", "an image that can read its file"),
    ("server.lua", "told.notes = notes_of(parent, related, made, told)", "told.notes = parent.annotations", "pods that are taken over start once"),
    # which release
    ("catalogue.lua", 'if wanted == "" then\n', 'if wanted == "?" then\n', "no version"),
    ("catalogue.lua", 'if running == "" or running == "latest" then', "if true then", "what runs stays"),
    ("catalogue.lua", "return unknown(made.rows[running] and running or nil,", "return unknown(running,", "a release that is gone"),
    ("catalogue.lua", 'if running == "" and strict then return', "if false then return", "strict"),
    ("catalogue.lua", "if not releases.is_version(wanted) then", "if false then", "what is no version"),
    ("catalogue.lua", "if f.level == \"error\" then return nil, findings end", "", "a broken catalogue is none"),
    ("catalogue.lua", "      if v ~= nil then return v end\n      at = there and there.extends", "      if v ~= nil then return v end\n      at = nil", "facts come along extends"),
    ("catalogue.lua", 'known.policies or "policies/opa"', '"policies/opa"', "v0.10 has a folder of its own"),
    ("instance.lua", '" " .. resolved.message .. "."', '""', "a release in place of the wanted one is told where it is ready"),
    ("templates.lua", '(from.token == "tcb-status") ~= (to.token == "tcb-status")', "false", "a token without submodules"),
    ("instance.lua", "local in_force = loaded.ok and", "local in_force = loaded.ok and files.problem == \"\" and", "the last good catalogue is in force"),
    ("policy.lua", "settings.of(files).problem or", "", "broken settings are refused"),
    # which file
    ("templates.lua", "if there.omit[role] then\n", "if false then\n", "omit"),
    ("templates.lua", "local differs = templates.difference(role, there, row)\n", "local differs = nil\n", "an inherited file fits"),
    ("templates.lua", "if path and differs then", "if false then", "a file of latest fits"),
    ("templates.lua", "    at = there.extends\n", "    at = nil\n", "extends"),
    ("templates.lua", 'if path then return { how = "latest"', 'if false then return { how = "latest"', "latest is the last resort"),
    ("templates.lua", 'if searched[#searched] ~= "latest" and not made.flat then', "if true then", "latest is searched once"),
    ("templates.lua", '["kbs-restricted"] = { "grammar", "layout" }', '["kbs-restricted"] = { "layout" }', "grammar"),
    ("templates.lua", '["cpu-policy"] = { "layout", "dialect" }', '["cpu-policy"] = { "layout" }', "dialect"),
    ("templates.lua", '["reference-values"] = { "layout" }', '["reference-values"] = {}', "layout"),
    ("templates.lua", 'if role == "tdx-config" and row.features.dcap_verifier then', "if false then", "no file where the verifier is told"),
    ("templates.lua", 'if role == "kbs-restricted" then\n    text, why', "if true then\n    text, why", "one role has placeholders"),
    ("templates.lua", "or not beyond_seven[role] then return found end", "then return found end", "seven files are enough"),
    ("templates.lua", "if not found.text or templates.difference(role, made.rows[nearest], row) then return nil end", "if not found.text then return nil end", "a shipped file fits"),
    ("templates.lua", "if needed[role] then", "if false then", "what no instance can do without"),
    ("templates.lua", "why = why or flaw(role, text, found.path)", "", "no TOML and no JSON"),
    ("instance.lua", 'out.warn("TemplateFallback"', 'out.tell("Other"', "a fallback is told"),
    ("instance.lua", "  if problem then\n    out.condition(\"InputsValid\"", "  if false then\n    out.condition(\"InputsValid\"", "nothing is written without every file"),
    # what is kept
    ("maps.lua", 'context.policy == "ReplaceIfUnmodified" and', "true and", "Preserve"),
    ("maps.lua", "if unmodified and not added_is_theirs then", "if not added_is_theirs then", "an edited one is kept"),
    ("maps.lua", 'result[old_key .. ".previous"] = there[old_key]', "", "the old text is kept"),
    ("maps.lua", "if key and result[key] == nil then result[key] = text end", "", "the new layout's key is added"),
    ("maps.lua", "if unmodified then annotations[mark.digest] = digest.of(merged) end", "", "following TLS is no edit"),
    ("maps.lua", "and not other_role and not out.replaced", "and not out.replaced", "a profile writes into no kept file"),
    ("maps.lua", "out.mismatch = differs ~= nil or (other_role or false)", "out.mismatch = false", "a mismatch is told"),
    ("maps.lua", 'way = unchanged and "create" or "own"', 'way = "create"', "a change is written"),
    ("maps.lua", "found.text == data[key] then return v, found.path end", "false then return v, found.path end", "an unmarked one is marked"),
    ("instance.lua", 'if has and has ~= now and has ~= there.annotations[note] then child.way = "create" end', "", "an edited copy is kept"),
    ("instance.lua", "if replicas == nil or replicas == before.replicas then", "if true then", "a user's replicas"),
    ("instance.lua", "if seen[name] == nil or seen[name] == before.environment[name] or seen[name] == value then", "if true then", "a user's environment"),
    ("instance.lua", "if not has(before, name) or has(now, name) then", "if has(now, name) then", "a user's Secrets"),
    ("instance.lua", 'if claim == "" or claim == before.claim or claim == generated.claim then', "if true then", "a user's claim"),
    ("instance.lua", 'if not is_restricted(spec) then environment.RUST_LOG = "debug" end', 'environment.RUST_LOG = "debug"', "what was ours goes"),
    ("instance.lua", "    keep_the_rest(children, list)\n", "", "what is no longer asked for stays"),
    ("instance.lua", "if not in_force and kbs then return answer() end", "", "a broken catalogue touches nothing"),
    ("instance.lua", 'if children["Secret/attestation-status"] or not related["Secret/attestation-status"] then', "if true then", "the Secret of the namespace"),
    ("server.lua", "existing and plain.copy(existing.spec.selector) or", "", "a legacy selector stays"),
    ("server.lua", "if not (running and running.ready and", "if not (running and", "no Service that selects nothing"),
    ("instance.lua", "local there = kbs or related", "local there = kbs or false and related", "a KbsConfig that is given away"),
    ("server.lua", "if holder then\n", "if false then\n", "the older has the node port"),
    ("server.lua", "if running.ready and is >= 1 and lacks then", "if false then", "not ready without its Service"),
    ("server.lua", "if was and not ready then", "if not ready then", "no longer ready"),
    ("server.lua", "if running then list[#list + 1] = kept(running) end", "", "a Deployment whose inputs are missing stays"),
]


def survives(name, old, new):
    with tempfile.TemporaryDirectory() as folder:
        pack = pathlib.Path(folder) / "trustee"
        shutil.copytree(root / "policies/trustee", pack)
        text = (pack / name).read_text()
        if text.count(old) != 1:
            return f"its text is there {text.count(old)} times"
        (pack / name).write_text(text.replace(old, new))
        done = subprocess.run([windlass, "policy", "test", "--fail-fast", pack], capture_output=True, text=True)
    if done.returncode == 0:
        return "no test notices"
    return None if "FAIL" in done.stdout else "it does not load: " + done.stdout[:200]


chosen = [m for m in MUTANTS if len(sys.argv) < 3 or m[0] == sys.argv[2]]
left = 0
for name, old, new, what in chosen:
    if why := survives(name, old, new):
        left += 1
        print(f"trustee mutants: {name}: {what}: {why}", flush=True)
print(f"## trustee mutants: {len(chosen) - left} of {len(chosen)} caught")
sys.exit(1 if left else 0)
