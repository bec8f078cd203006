local catalogue = require("catalogue")
local fixtures = require("fixtures")
local placeholders = require("placeholders")
local templates = require("templates")
local roles = require("roles")
local tls = require("tls")

local files = fixtures.files()
local made = fixtures.made(files)
local function resolve(version, role, changed, its_made)
  local here = changed and fixtures.files(changed) or files
  return templates.resolve(here.text, its_made or fixtures.made(here), version, role)
end

test("every release of the shipped catalogue has a file for every role, without looking into latest", function()
  local absent = {}
  for _, version in ipairs(made.versions) do
    for role in pairs(roles) do
      local found = templates.resolve(files.text, made, version, role)
      expect_true(found.how == "own" or found.how == "inherited" or found.how == "absent", version .. " " .. role .. ": " .. found.how)
      if found.how == "absent" then absent[#absent + 1] = version .. " " .. role end
    end
  end
  local expected = {}
  for _, v in ipairs({ "v0.10.0", "v0.10.1", "v0.11.0", "v0.12.0", "v0.13.0", "v0.14.0" }) do expected[#expected + 1] = v .. " gpu-policy" end
  for _, v in ipairs({ "v0.18.0", "v0.19.0", "v0.20.0", "v0.21.0", "v0.22.0", "latest" }) do expected[#expected + 1] = v .. " tdx-config" end
  expect_equal(absent, expected)
end)

test("a version with only extends and no folder has its parent's files, byte for byte and without a warning", function()
  for role in pairs(roles) do
    local parent, child = resolve("v0.10.0", role), resolve("v0.10.1", role)
    expect_equal(child.text, parent.text, role)
    if child.text then expect_equal(child.how, "inherited") end
  end
end)

test("what a folder lacks comes from latest of the same layout, with a warning", function()
  local text = fixtures.catalogue({ "v0.30.0", "latest" })
  local found = resolve("v0.30.0", "reference-values", { ["versions.json"] = text })
  expect_equal({ found.how, found.path, found.searched }, { "latest", "latest/rvps-reference-values.json", { "v0.30.0", "latest" } })
end)

test("what another layout, grammar or dialect was written for is not used", function()
  local text = fixtures.catalogue({ "v0.18.5", "v0.20.5", "latest" })
  local changed = { ["versions.json"] = text }
  local found = resolve("v0.18.5", "reference-values", changed)
  expect_equal(found.how, "incompatible")
  expect_true(found.why:find("that of latest has another layout", 1, true), found.why)
  expect_true(resolve("v0.20.5", "kbs-permissive", changed).why:find("another grammar", 1, true))
  expect_equal(resolve("v0.20.5", "cpu-policy", changed).how, "latest")
  local bent = fixtures.catalogue({ "v0.17.0", "v0.20.0", "latest" }, { ["v0.20.0"] = { extends = "v0.17.0", layout = "fs" } })
  local inherited = resolve("v0.20.0", "cpu-policy", { ["versions.json"] = bent, ["v0.20.0/x"] = "" })
  expect_equal(inherited.how, "incompatible")
  expect_true(inherited.why:find("the file of v0.17.0 has another dialect than v0.20.0", 1, true), inherited.why)
end)

test("a token without submodules has no resource policy in common with others", function()
  local row = made.rows
  expect_equal(templates.difference("resource-restricted", row["v0.10.0"], row["v0.11.0"]), "token")
  expect_equal(templates.difference("resource-restricted", row["v0.11.0"], row["v0.18.0"]), nil)
  expect_equal(templates.difference("resource-ibm", row["v0.11.0"], row["v0.14.0"]), "token")
  expect_equal(templates.difference("kbs-restricted", row["v0.20.0"], row["v0.21.0"]), "grammar")
end)

test("a file that is nowhere is missing, with the folders that were searched", function()
  local found = resolve("v0.21.0", "cpu-policy", { ["latest/ear_default_attestation_policy_cpu.rego"] = false })
  expect_equal({ found.how, found.searched }, { "missing", { "v0.21.0", "latest" } })
  expect_equal(found.why, "cpu-policy of v0.21.0: no file in v0.21.0, latest")
end)

test("what seven files a release leave out is what is shipped for the nearest release that is like it", function()
  local seven = { ["versions.json"] = fixtures.catalogue({ "v0.10.0", "v0.13.5", "v0.15.3", "v0.17.4", "latest" }) }
  for path in pairs(files.text) do
    local role = templates.role_of(path)
    if role == "gpu-policy" or role == "resource-ibm" then seven[path] = false end
  end
  local said = {}
  for _, version in ipairs({ "v0.10.0", "v0.13.5", "v0.15.3", "v0.17.4", "latest" }) do
    local gpu, ibm = resolve(version, "gpu-policy", seven), resolve(version, "resource-ibm", seven)
    said[#said + 1] = version .. " " .. gpu.how .. " " .. (gpu.from or "-") .. " " .. ibm.how .. " " .. (ibm.from or "-")
  end
  expect_equal(said, { "v0.10.0 absent - shipped v0.10.0", "v0.13.5 absent - shipped v0.11.0", "v0.15.3 shipped v0.15.0 shipped v0.14.0",
    "v0.17.4 shipped v0.17.0 shipped v0.14.0", "latest shipped latest shipped latest" })
  expect_equal(resolve("latest", "gpu-policy", seven).path, "shipped/latest/ear_default_attestation_policy_gpu.rego")
end)

test("what is shipped for another layout, grammar or dialect is not used either", function()
  local none = { ["versions.json"] = fixtures.catalogue({ "v0.21.0", "latest" }, { ["v0.21.0"] = { layout = "fs" } }),
    ["latest/resource-policy-ibm.rego"] = false }
  expect_equal(resolve("v0.21.0", "resource-ibm", none).how, "missing")
  for _, role in ipairs({ "cpu-policy", "kbs-permissive", "reference-values" }) do
    expect_equal(resolve("v0.10.0", role, { ["v0.10.0/" .. roles[role][1]] = false }).how, "incompatible", role)
  end
end)

test("a release that omits what no instance can do without has a missing file", function()
  for _, role in ipairs({ "kbs-permissive", "kbs-restricted", "resource-permissive", "resource-restricted" }) do
    local found = resolve("latest", role, { ["versions.json"] = fixtures.catalogue({ "latest" }, { latest = { omit = { role } } }),
      ["latest/" .. roles[role][1]] = false })
    expect_equal({ found.how, found.why }, { "missing", role .. " of latest: latest omits it, and no instance can do without" })
  end
end)

test("a configuration that is no TOML, and values that are no JSON, are named with file and reason", function()
  local function problem(changed)
    local here = fixtures.files(changed)
    return templates.problem(here.text, fixtures.made(here)) or "none"
  end
  expect_equal(problem({}), "none")
  expect_true(problem({ ["v0.18.0/kbs-config-permissive.toml"] = "[http_server" }):find("^v0.18.0/kbs%-config%-permissive.toml: it is no TOML: "))
  expect_true(problem({ ["latest/kbs-config-restricted.toml"] = "a = {{TlsProfile}}\nb" }):find("it is no TOML", 1, true))
  expect_true(problem({ ["latest/kbs-config-restricted.toml"] = "a = {{Nonsense}}" }):find("there is no placeholder", 1, true))
  expect_true(problem({ ["v0.10.0/rvps-reference-values.json"] = "[" }):find("^v0.10.0/rvps%-reference%-values.json: it is no JSON: "))
  expect_true(problem({ ["v0.10.0/tdx-config.json"] = "{," }):find("it is no JSON", 1, true))
  expect_equal(problem({ ["v9.9.9/kbs-config-permissive.toml"] = "[", ["kbs-config-permissive.toml"] = "[" }), "none")
  local flat = { ["kbs-config-permissive.toml"] = "[" }
  expect_true(templates.problem(flat, (catalogue.of(flat))):find("^kbs%-config%-permissive.toml: it is no TOML"))
end)

test("omit ends the way along extends", function()
  local text = fixtures.catalogue({ "v0.21.0", "v0.22.0", "latest" }, { ["v0.21.0"] = { extends = "latest", omit = { "gpu-policy" } },
    ["v0.22.0"] = { extends = "v0.21.0" } })
  for _, v in ipairs({ "v0.21.0", "v0.22.0" }) do expect_equal(resolve(v, "gpu-policy", { ["versions.json"] = text }).how, "absent") end
end)

test("both names of the cpu policy are taken, the one in use now first", function()
  local old, now = "v0.10.0/attestation-policy.rego", "v0.10.0/ear_default_attestation_policy_cpu.rego"
  expect_equal(resolve("v0.10.0", "cpu-policy", { [now] = false, [old] = "package policy" }).path, old)
  expect_equal(resolve("v0.10.0", "cpu-policy", { [old] = "package policy" }).path, now)
  expect_equal(templates.role_of(old), "cpu-policy")
end)

test("flat files are those of latest", function()
  local flat = { ["kbs-config-permissive.toml"] = "a = 1" }
  local its = catalogue.of(flat)
  expect_equal(templates.resolve(flat, its, "latest", "kbs-permissive").text, "a = 1")
  expect_equal(templates.resolve(flat, its, "latest", "kbs-restricted").searched, { "." })
end)

-- ---------------------------------------------------------------- placeholders

local values = { TlsProfile = "modern", TlsMinVersion = "", TlsMaxVersion = 'a"b\\\n', TlsCiphers = "", TlsGroups = "" }
test("a placeholder becomes a TOML string, and an empty one takes its line along", function()
  expect_equal(placeholders.render("# keep\na = {{TlsProfile}} # x\nb = {{TlsMinVersion}}\nc = {{TlsMaxVersion}}", values, "f"),
    '# keep\na = "modern" # x\nc = "a\\"b\\\\\\u000A"')
end)

test("a comment above lines that all go goes with them", function()
  expect_equal(placeholders.render("# keep\n# goes\nb = {{TlsCiphers}}\nc = {{TlsGroups}}\nd = 1\n", values, "f"), "# keep\nd = 1\n")
  expect_equal(placeholders.render("# stays\nb = {{TlsCiphers}}\nc = {{TlsProfile}}\n", values, "f"), '# stays\nc = "modern"\n')
end)

test("unknown, unterminated and quoted placeholders are named with file and line", function()
  local odd = { ["a = 1\nb = {{Tls}}"] = "f: line 2: there is no placeholder 'Tls'; known are TlsCiphers",
    ["\n\nb = {{TlsProfile\n}}"] = "f: line 3: {{ without its }}", ['b = "{{TlsProfile}}"'] = "f: line 1: {{TlsProfile}} stands in quotes" }
  for text, expected in pairs(odd) do
    local none, why = placeholders.render(text, values, "f")
    expect_true(none == nil and why:find(expected, 1, true), why)
  end
end)

test("only the restricted configuration is looked through for placeholders", function()
  for role in pairs(roles) do
    local found = { text = "<se.tag> {{Nonsense}}", path = "f" }
    local text = templates.render(found, role, made.rows.latest)
    if role:find("policy") or role:find("^resource") then expect_equal(text, found.text) else expect_equal(text, nil, role) end
  end
end)

-- ---------------------------------------------------------------- TLS

test("ciphers get the names that OpenSSL has for them", function()
  local names = { TLS_AES_128_GCM_SHA256 = "TLS_AES_128_GCM_SHA256", TLS_CHACHA20_POLY1305_SHA256 = "TLS_CHACHA20_POLY1305_SHA256",
    TLS_RSA_WITH_AES_256_GCM_SHA384 = "AES256-GCM-SHA384", TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 = "ECDHE-RSA-AES128-GCM-SHA256",
    TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA384 = "ECDHE-ECDSA-AES256-CBC-SHA384", TLS_RSA_WITH_3DES_EDE_CBC_SHA = "DES-CBC3-SHA",
    TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256 = "ECDHE-RSA-CHACHA20-POLY1305", ["AES256-SHA"] = "AES256-SHA", ["MY-OWN"] = "MY-OWN" }
  for from, to in pairs(names) do expect_equal(tls.cipher(from), to) end
end)

test("only the profile custom has more than a profile", function()
  expect_equal(tls.values({}).TlsProfile, "intermediate")
  expect_equal(tls.values({ profile = "modern", minVersion = "1.2" }).TlsMinVersion, "")
  local custom = tls.values({ profile = "custom", minVersion = "1.2", ciphers = { "TLS_RSA_WITH_AES_128_CBC_SHA", "X" }, groups = { "x25519", "secp256r1" } })
  expect_equal({ custom.TlsMinVersion, custom.TlsMaxVersion, custom.TlsCiphers, custom.TlsGroups }, { "1.2", "", "AES128-SHA:X", "x25519:secp256r1" })
end)

test("versions of TLS that Trustee does not take, and a range that is none, are refused", function()
  expect_equal(tls.problem(nil), nil)
  expect_equal(tls.problem({ profile = "custom", minVersion = "1.2", maxVersion = "1.3" }), nil)
  local odd = { { { minVersion = "1.0" }, "minVersion: Trustee takes 1.2 and 1.3, not 1.0" }, { { maxVersion = "1.1" }, "maxVersion" },
    { { minVersion = "1.3", maxVersion = "1.2" }, "minVersion 1.3 is above tlsConfig.maxVersion 1.2" }, { { maxVersion = "2" }, "no version" } }
  for _, case in ipairs(odd) do
    local reason, why = tls.problem(case[1])
    expect_equal(reason, "TlsVersionUnsupported")
    expect_true(why:find(case[2], 1, true), why)
  end
  expect_equal((tls.problem({ profile = "newest" })), "TlsProfileUnknown")
end)

local function restricted(config) return (fixtures.rendered(files, "latest", "kbs-restricted", config)) end
local custom = { profile = "custom", minVersion = "1.2", maxVersion = "1.3", ciphers = { "TLS_AES_128_GCM_SHA256", "TLS_RSA_WITH_AES_128_GCM_SHA256" },
  groups = { "x25519", "secp256r1" } }

test("the TLS lines of a file follow and nothing else in it", function()
  local theirs = restricted():gsub("worker_count = 4", "worker_count = 9 # mine"):gsub("%[admin%]", "# about admin\n[admin]")
  local now = tls.merge(theirs, restricted(custom))
  expect_true(now:find('tls_profile = "custom"\ntls_min_version = "1.2"\ntls_max_version = "1.3"\n'
    .. 'tls_ciphers = "TLS_AES_128_GCM_SHA256:AES128-GCM-SHA256"\ntls_groups = "x25519:secp256r1"\n', 1, true), now)
  expect_true(now:find("worker_count = 9 # mine\n", 1, true) and now:find("# about admin\n[admin]", 1, true))
  expect_equal(tls.merge(now, restricted(custom)), now)
  expect_equal(tls.merge(now, restricted()), theirs)
end)

test("a file without TLS lines gets them behind the last line of its section", function()
  local plain_file = '[http_server]\nsockets = []\n\n[admin]\ntype = "x"\n'
  local now = tls.merge(plain_file, restricted())
  expect_equal(now, '[http_server]\nsockets = []\n# TLS configuration\ntls_profile = "intermediate"\n\n[admin]\ntype = "x"\n')
  expect_equal(tls.merge(now, restricted()), now)
  expect_equal(tls.merge("[http_server]\na = 1", restricted()), '[http_server]\na = 1\n# TLS configuration\ntls_profile = "intermediate"\n')
  expect_equal(tls.merge("[http_server]", restricted()), '[http_server]\n# TLS configuration\ntls_profile = "intermediate"\n')
end)

test("line ends stay what they are", function()
  local dos = '[http_server]\r\na = 1\r\n'
  expect_equal(tls.merge(dos, restricted()), '[http_server]\r\na = 1\r\n# TLS configuration\r\ntls_profile = "intermediate"\r\n')
end)

test("a file without [http_server], or that is no TOML, is left alone", function()
  expect_equal({ tls.merge("a = 1\n", restricted()) }, { nil, "it has no [http_server]" })
  expect_equal({ tls.merge("[http_server\n", restricted()) }, { nil, "it is no TOML" })
end)

test("a rendering without TLS lines leaves a file untouched", function()
  local permissive = fixtures.rendered(files, "latest", "kbs-permissive")
  expect_equal(tls.merge(restricted(), permissive), restricted())
end)
