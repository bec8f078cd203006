-- releases/default: what the image of a Release is called, and what a step from one Release to the next means.
--
-- The rules are tables: providers.lua says what images are called, tables.lua what is checked and how much it matters.
-- To change one, copy the folder and edit:
--
--     windlass release map aws 34.5.0 --dir releases --policies my-policies
--
-- A policy says what it finds; what is decided of it (deny on an error, approval on a warning that blocks) is the core's.
local findings = require("findings")
local image = require("image")

-- map(question): what is the image of each pool called?
--   question   release (name, file, folder, state, components, apps, …), pools (name, kind, architecture, channel, suffix,
--              image, running), catalogue (names of images that were built; may be nil), values (of the chart)
--   answer     provider, chart, explained, findings, images: one a pool with pool, image, rule, segments, length, limit,
--              and where the rule has them image_version, tags, ref
local function map(question)
  local list, add = findings.new()
  findings.take_problems(question.release.problems, add)
  local out = image.map(question.release, question.pools, question.catalogue, question.values, add)
  return { provider = out.provider, chart = out.chart, explained = out.explained, images = out.images, findings = list }
end

return {
  name = "releases/default",
  version = "1",
  order = 1000,
  release = { map = map },
}
