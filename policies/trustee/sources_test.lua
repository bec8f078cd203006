-- Every fact of the shipped catalogue names the line of Trustee's sources that it is from.
local catalogue = require("catalogue")

-- Rows of the tables of SOURCES.md: {fact, value, lines}.
local function rows_of(text)
  local out = {}
  for fact, value, lines in text:gmatch("\n| ([^|\n]+) | ([^|\n]+) | ([^|\n]+) |") do out[#out + 1] = { fact, value, lines } end
  return out
end

-- The value that the lines of a release stand for, or nil.
local function value_of(rows, fact, version)
  for _, row in ipairs(rows) do
    if row[1] == fact and row[3]:find(version:gsub("%.", "%%.") .. " `[%w_/.-]+:%d+`") then return row[2] end
  end
  return nil
end

local rows = rows_of(file("SOURCES.md"))
local made = catalogue.read(file("data/versions.json"))

test("every fact of every release names its line in that release's sources, and says what the catalogue says", function()
  for _, version in ipairs(made.versions) do
    local row = made.rows[version]
    if version ~= "latest" then
      for _, fact in ipairs({ "layout", "grammar", "dialect", "token", "file_id" }) do
        expect_equal(value_of(rows, fact, version), row[fact], version .. " " .. fact)
      end
      expect_equal(value_of(rows, "policies", version), row.layout == "fs" and row.policies or nil, version .. " policies")
      expect_equal(value_of(rows, "kbs_protocol", version), row.protocol, version .. " kbs_protocol")
      for name, on in pairs(row.features) do expect_equal(value_of(rows, name, version), on and "true" or nil, version .. " " .. name) end
      local prefix = value_of(rows, "images", version)
      expect_true(prefix and row.images.kbs_all_in_one_image:find(":" .. prefix .. version, 1, true), version .. " images")
    end
  end
end)

test("the claims of every kind of evidence name their line in every release that has it", function()
  local first = { key = 10, ["reference values"] = 10, ["reference value item"] = 10, sample = 10, snp = 10, tdx = 10, ["az-snp-vtpm"] = 10,
    ["az-tdx-vtpm"] = 10, sgx = 10, cca = 10, csv = 10, se = 10, sampledevice = 14, hygondcu = 14, nvidia = 15, tpm = 16,
    ["nvidia by its remote service"] = 16 }
  for _, version in ipairs(made.versions) do
    local number = tonumber(version:match("^v0%.(%d+)%."))
    for of, from in pairs(first) do
      if number then expect_equal(value_of(rows, of, version) ~= nil, number >= from, version .. " " .. of) end
    end
  end
end)

test("a fact without a line is noticed", function()
  local few = rows_of("\n| layout | fs | v0.10.0 `a/b.rs:1`, v0.11.0 `a/b.rs` |\n")
  expect_equal({ value_of(few, "layout", "v0.10.0"), value_of(few, "layout", "v0.11.0") == nil, value_of(few, "layout", "v0110.0") == nil },
    { "fs", true, true })
end)
