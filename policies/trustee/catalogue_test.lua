local catalogue = require("catalogue")
local fixtures = require("fixtures")
local releases = require("releases")
local json_text = require("json_text")

local function said(text)
  local made, findings = catalogue.read(text)
  local out = {}
  for i, f in ipairs(findings) do out[i] = f.level .. " " .. catalogue.text_of(f, "f") end
  return made, table.concat(out, "\n")
end

local function broken(text, expected, note)
  local made, all = said(text)
  expect_true(made == nil, (note or all) .. text)
  expect_true(all:find(expected, 1, true), "expected " .. expected .. ", found " .. all)
end

test("the shipped catalogue has v0.10 to v0.22 and latest last, without a finding", function()
  local made, all = said(file("data/versions.json"))
  expect_equal(all, "")
  expect_equal(#made.versions, 15)
  expect_equal({ made.versions[1], made.versions[14], made.versions[15] }, { "v0.10.0", "v0.22.0", "latest" })
  expect_equal(made.default, "latest")
end)

test("every shipped release has the four images that Trustee's release script publishes, and latest those of the newest", function()
  local made = catalogue.read(file("data/versions.json"))
  local registry = "ghcr.io/confidential-containers/"
  for i, v in ipairs(made.versions) do
    local tag = v == "latest" and made.versions[i - 1] or v
    expect_equal(made.rows[v].images, { kbs_image = registry .. "key-broker-service:" .. tag,
      kbs_all_in_one_image = registry .. "key-broker-service:built-in-as-" .. tag, as_image = registry .. "attestation-service:" .. tag,
      rvps_image = registry .. "reference-value-provider-service:" .. tag }, v)
  end
end)

test("what the shipped catalogue says of a release is what is known by its number", function()
  local made = catalogue.read(file("data/versions.json"))
  for _, v in ipairs(made.versions) do
    local row, known = made.rows[v], releases.of(v)
    expect_equal(row.layout, known.layout, v)
    expect_equal(row.grammar, known.grammar, v)
    for _, name in ipairs(releases.features) do expect_equal(row.features[name], known[name] or false, v .. " " .. name) end
  end
end)

test("a mapping with three images alone gets the rest from the number of its version", function()
  local made = catalogue.read(fixtures.catalogue({ "v0.10.0", "v0.11.0", "v0.18.0", "latest" },
    { ["v0.10.0"] = { kbs_image = "r/kbs:1", as_image = "r/as:1", rvps_image = "r/rvps:1" } }))
  expect_equal({ made.rows["v0.10.0"].layout, made.rows["v0.10.0"].grammar, made.rows["v0.18.0"].features.dcap_verifier }, { "fs", "G0", true })
  expect_equal({ made.rows.latest.layout, made.rows.latest.grammar, made.rows.latest.features.healthz }, { "kv", "G5", true })
  expect_equal(made.rows["v0.10.0"].mapped, true)
  expect_equal(made.rows["v0.11.0"].mapped, false)
end)

test("layout, grammar and features come along extends before the number is asked", function()
  local made = catalogue.read(fixtures.catalogue({ "v0.19.0", "v0.99.0", "latest" }, {
    ["v0.19.0"] = { layout = "fs", features = { healthz = false } }, ["v0.99.0"] = { extends = "v0.19.0", features = { tls_profiles = false } } }))
  local row = made.rows["v0.99.0"]
  expect_equal({ row.layout, row.features.healthz, row.features.tls_profiles }, { "fs", false, false })
end)

test("every rule that is broken is named with line and key", function()
  local v = '"supported_versions": ["latest"]'
  local d = '"default_version": "latest"'
  broken("{", "f: line 1: expected a name in quotes, it ends too early")
  broken("{\n " .. v .. ",\n " .. d .. "\n} x", "f: line 4: something stands behind the end: found 'x'")
  broken('{\n "a": 1,\n "a": 2}', "f: line 3: the name 'a' is there twice")
  broken("[]", "f: line 1: expected an object, found a list")
  broken("{\n" .. d .. "}", "f: line 1: supported_versions: it is missing")
  broken("{\n" .. d .. ',\n"supported_versions": "latest"}', "f: line 3: supported_versions: expected a list, found a text")
  broken("{\n" .. d .. ',\n"supported_versions": []}', "f: line 3: supported_versions: it is empty")
  broken("{\n" .. d .. ',\n"supported_versions": ["latest",\n"v1.2"]}', "f: line 4: supported_versions[2]: 'v1.2' is no version")
  broken("{\n" .. d .. ',\n"supported_versions": ["latest",\n"latest"]}', "f: line 4: supported_versions[2]: 'latest' is there twice")
  broken("{\n" .. d .. ',\n"supported_versions": ["latest",\n7]}', "f: line 4: supported_versions[2]: expected a text, found a number")
  broken("{\n" .. d .. ',\n"supported_versions": ["v1.2.3"]}', "supported_versions: 'latest' is missing")
  broken("{\n" .. v .. "}", "default_version: it is missing")
  broken("{\n" .. v .. ',\n"default_version": "v1.2.3"}', "f: line 3: default_version: 'v1.2.3' is not in supported_versions")
  broken("{\n" .. v .. ',\n"default_version": true}', "f: line 3: default_version: expected a text, found a boolean")
  broken("{\n" .. v .. ",\n" .. d .. ',\n"version_mappings": []}', "f: line 4: version_mappings: expected an object, found a list")
  broken("{\n" .. v .. ",\n" .. d .. ',\n"schema_version": 2}', "f: line 4: schema_version: 2 is newer than 1")
  broken("{\n" .. v .. ",\n" .. d .. ',\n"schema_version": 0}', "f: line 4: schema_version: expected a whole number")
  local function mapping(text, expected)
    broken("{\n" .. v .. ",\n" .. d .. ',\n"version_mappings": {"latest": ' .. text .. "}}", expected)
  end
  mapping("7", "f: line 4: version_mappings.latest: expected an object, found a number")
  mapping('{\n"kbs_image": 7}', "f: line 5: version_mappings.latest.kbs_image: expected a text")
  mapping('{\n"as_image": "kbs"}', "line 5: version_mappings.latest.as_image: 'kbs' is no full reference of an image")
  mapping('{\n"extends": "v1.2.3"}', "line 5: version_mappings.latest.extends: 'v1.2.3' is not in supported_versions")
  mapping('{\n"extends": ["latest"]}', "line 5: version_mappings.latest.extends: expected a text, found a list")
  mapping('{\n"omit": "gpu-policy"}', "line 5: version_mappings.latest.omit: expected a list")
  mapping('{\n"omit": ["gpu"]}', "line 5: version_mappings.latest.omit[1]: there is no template role 'gpu'")
  mapping('{\n"layout": "zfs"}', "line 5: version_mappings.latest.layout: there is no layout 'zfs'")
  mapping('{\n"grammar": "G6"}', "line 5: version_mappings.latest.grammar: there is no grammar 'G6'")
  mapping('{\n"features": {"healthz":\n"yes"}}', "line 6: version_mappings.latest.features.healthz: expected a boolean, found a text")
  mapping('{\n"features": 1}', "line 5: version_mappings.latest.features: expected an object")
  mapping('{\n"kbs_protocol": 1}', "line 5: version_mappings.latest.kbs_protocol: expected a text")
  mapping('{\n"deprecated": "no"}', "line 5: version_mappings.latest.deprecated: expected a boolean")
end)

test("a circle along extends is printed once", function()
  local text = fixtures.catalogue({ "v1.0.0", "v1.1.0", "v1.2.0", "latest" }, { ["v1.0.0"] = { extends = "v1.1.0" },
    ["v1.1.0"] = { extends = "v1.2.0" }, ["v1.2.0"] = { extends = "v1.1.0" } })
  local made, all = said(text)
  expect_true(made == nil)
  expect_equal(select(2, all:gsub("a circle", "")), 1)
  expect_true(all:find("a circle: v1.1.0 -> v1.2.0 -> v1.1.0", 1, true), all)
  broken(fixtures.catalogue({ "latest" }, { latest = { extends = "latest" } }), "a circle: latest -> latest")
end)

test("a mapping of a version that is not listed is ignored with a warning, unknown keys without", function()
  local made, all = said(fixtures.catalogue({ "latest" }, { ["v1.0.0"] = 7, latest = { colour = "red" } }, { more = 1 }))
  expect_true(made ~= nil)
  expect_equal(all, "warning f: line 1: version_mappings.v1.0.0: it is not in supported_versions, so it is ignored")
end)

test("JSON is read with the lines of its values, and refused with the line of what is wrong", function()
  local value, lines = json_text.read('{"a": [1, -2.5e1,\n "x\\n\\u0041\\"\\u20ac"], "b": {}, "c": true,\n"d": false}')
  expect_equal({ value.a[1], value.a[2], value.a[3], value.c, value.d }, { 1, -25, 'x\nA"?', true, false })
  expect_equal({ lines["a[3]"], lines.d, json_text.kind(value.a), json_text.kind(value.b) }, { 2, 3, "list", "object" })
  local odd = { ['"a'] = "a text without its closing", ['"a\nb"'] = "over the end of its line", ["nil"] = "expected a value",
    ["null"] = "null says nothing", ['{"a" 1}'] = "expected :", ["[1 2]"] = "expected , or ]", ['"\\x"'] = "unknown escape",
    ['"\\u12"'] = "four digits", ["[" .. ("["):rep(20)] = "nested more than", [""] = "it ends too early", ["[1,]"] = "expected a value" }
  for text, why in pairs(odd) do
    local none, wrong = json_text.read(text)
    expect_true(none == nil, text)
    expect_true(wrong.why:find(why, 1, true), text .. ": " .. wrong.why)
  end
  local none, wrong = json_text.read((" "):rep(70000))
  expect_true(none == nil and wrong.why:find("64 KiB", 1, true))
end)

test("without versions.json flat files are release latest", function()
  local made, _, said_of = catalogue.of({ ["kbs-config-permissive.toml"] = "x" })
  expect_equal({ made.flat, said_of.ok, #made.versions }, { true, true, 1 })
end)

test("without anything, and with something broken, the catalogue that is built in has latest alone", function()
  for _, files in ipairs({ {}, { ["latest/x"] = "" }, { ["versions.json"] = "{" } }) do
    local made, _, said_of = catalogue.of(files)
    expect_equal({ made.versions, said_of.ok, said_of.reason }, { { "latest" }, false, "CatalogueInvalid" })
    expect_true(said_of.message:find("versions.json", 1, true))
  end
end)

local function resolve(wanted, running, strict)
  local made = catalogue.read(file("data/versions.json"))
  local r = catalogue.resolve(made, wanted, running, strict)
  return { r.version or "none", r.reason, r.ok }
end

test("a version is resolved by the rules of its catalogue", function()
  expect_equal(resolve("", ""), { "latest", "DefaultUsed", true })
  expect_equal(resolve("v0.10.0", "v0.20.0"), { "v0.10.0", "Resolved", true })
  expect_equal(resolve("v9.9.9", ""), { "latest", "UnknownVersion", false })
  expect_equal(resolve("v9.9.9", "v0.18.0"), { "v0.18.0", "UnknownVersion", false })
  expect_equal(resolve("v9.9.9", "v9.9.8"), { "none", "UnknownVersion", false })
  expect_equal(resolve("v9.9.9", "", true), { "none", "UnknownVersion", false })
  for _, odd in ipairs({ "0.10.0", "v0.10", "Latest", "v1.2.3-rc1", "v1.2.3/..", "../latest" }) do
    expect_equal(resolve(odd, ""), { "none", "UnknownVersion", false }, odd)
  end
end)

test("versions are in the order of their numbers, latest last", function()
  local list = { "latest", "v0.9.0", "v0.10.0", "v0.2.1" }
  table.sort(list, releases.less)
  expect_equal(list, { "v0.2.1", "v0.9.0", "v0.10.0", "latest" })
end)
