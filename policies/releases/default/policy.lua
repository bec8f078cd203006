-- releases/default: what the image of a Release is called, and what a step from one Release to the next means.
--
-- The rules are tables: providers.lua says what images are called, tables.lua what is checked and how much it matters.
-- To change one, copy the folder and edit:
--
--     windlass release map aws 34.5.0 --dir releases --policies my-policies
--
-- A policy says what it finds; what is decided of it (deny on an error, approval on a warning that blocks) is the core's.
local bump = require("bump")
local checks = require("checks")
local difference = require("difference")
local findings = require("findings")
local folder = require("folder")
local gate = require("gate")
local image = require("image")
local join = require("join")
local lifecycle = require("lifecycle")
local path = require("path")
local pin = require("pin")
local plain = require("plain")
local publish = require("publish")
local requests = require("requests")
local stages = require("stages")
local tables = require("tables")
local versions = require("versions")

-- map(question): what is the image of each pool called?
--   question   release (name, file, folder, state, components, apps, …), pools (name, kind, architecture, channel, suffix,
--              image, running), catalogue (names of images that were built; may be nil), values (of the chart), tools (name,
--              version: what is baked in, for names that carry its hash), known_tools (image, tools: those of other images)
--   answer     provider, chart, explained, findings, inside (name, version: what is inside of the toolbox, where it is known), images: one a pool with pool, image, rule, segments, length, limit,
--              and where the rule has them image_version, tags, ref
local function map(question)
  local list, add = findings.new()
  findings.take_problems(question.release.problems, add)
  local out = image.map(plain.head(question.release), question.pools, question.catalogue, question.values, add,
    question.tools, question.known_tools)
  return { provider = out.provider, chart = out.chart, explained = out.explained, images = out.images,
    inside = out.inside or {}, findings = list }
end

local function image_of(mapped) return mapped.images[1] and image.called(mapped.images[1]) or "" end

-- diff(question): what does a step from one Release to another change, and may it be done?
--   question   as for map, with base (the Release before; may be nil: then the Release is judged alone), others (all Releases
--              of the provider; may be nil), requests (requests.yaml: file, blocks; may be nil), registered (resources of its
--              kustomization.yaml; may be nil), app_ranges (the versions of Kubernetes that an app takes; may be nil), within
--              ("folder": what is to be said of the folder as a whole is said of it by `folder`), rendered_from and rendered_to
--              (file, objects: kind, name, digest: what both charts render; each may be nil)
--   answer     provider, version, level ("major", "minor", "patch", "prerelease", "none"), rolls ("yes": machines are replaced,
--              "chart": perhaps, the chart decides, "no", "-": the provider has no images of its own), image_from, image_to,
--              length, limit, changes (kind, name, what, from, to, level, direction, strict, rolls), requests (range, item,
--              version_range, actual, result), findings
--   state      what the Release would be; nil: what it is
local function judge(question, list, add, state)
  local release, base = plain.whole(question.release), question.base and plain.whole(question.base)
  release.state = state or release.state
  findings.take_problems(release.problems, add)
  if question.requests then findings.take_problems(question.requests.problems, add) end
  local mapped = image.map(release, question.pools, question.catalogue, question.values, add)
  local provider, version = mapped.provider, mapped.release_version
  if not provider then return { level = "none", rolls = "no", changes = {}, requests = {}, findings = list } end

  local context = { release = release, provider = provider, version = version, within_folder = question.within == "folder" }
  function context.skip(check, why)
    add("check.not-evaluated", "release/" .. release.name, check .. ": " .. why, { rule = check, evidence = release.file })
  end
  checks.place(context, question.registered, add)
  checks.components(context, base, add)
  checks.builds(context, add)
  checks.kubernetes(context, base, add)
  checks.dependencies(context, add)
  checks.others(context, question.others, add)
  checks.app_ranges(context, question.app_ranges, add)

  local rows = {}
  if question.requests then
    rows = requests.judge(release, version, question.requests, add)
    if question.others and not context.within_folder then
      requests.dead(question.requests, folder.offered(question.others, provider), add)
    end
  elseif not context.within_folder then
    context.skip("request.violated", "the provider's requests.yaml is not there")
  end

  local out = { provider = provider, version = version, level = "none", rolls = "no", changes = {}, requests = rows,
    image_to = image_of(mapped), length = mapped.images[1] and mapped.images[1].length,
    limit = mapped.images[1] and mapped.images[1].limit, findings = list }
  if not base then
    context.skip("component.downgrade", "there is no Release to compare with")
    return out
  end
  local _, ignore = findings.new()
  local before = image.map(base, question.pools, nil, question.values, ignore)
  if not before.provider or before.provider ~= provider then
    add("release.schema", "release/" .. release.name, base.name .. " is no Release of " .. provider,
      { from = base.name, evidence = base.file .. ": metadata.name" })
    return out
  end
  out.image_from = image_of(before)
  out.level = versions.level(before.release_version, version)
  local uses = {}
  for name in pairs(mapped.uses) do uses[name] = true end
  for name in pairs(before.uses) do uses[name] = true end
  local chart = image.chart_of(provider)
  out.changes = difference.of(base, release, provider, uses)
  checks.changes(context, out.changes, out.level, semver.compare(version, before.release_version) < 0, add)
  checks.coupled(context, base, add)

  -- Machines are replaced when their image is called otherwise, or by what tables.lua calls rolling.
  local named = out.image_to ~= "" or out.image_from ~= ""
  local rolls = named and "no" or "-"
  for _, change in ipairs(out.changes) do
    local counts = change.what == "changed" or change.what == "added" or change.what == "removed" or change.what == "moved"
    if named and counts then
      if change.rolls == "yes" then
        rolls = "yes"
      elseif change.rolls == "chart" and rolls == "no" then
        rolls = "chart"
      end
    end
  end
  if named and out.image_from ~= out.image_to then rolls = "yes" end
  local differs = ""
  if rolls == "chart" then
    -- The Release alone does not tell; what its chart renders does.
    local was, is = question.rendered_from, question.rendered_to
    if was and is then
      local changed = difference.machines(was, is, function(kind) return checks.listed(tables.machine_kinds, kind) end)
      rolls = #changed > 0 and "yes" or "no"
      if #changed > 0 then
        differs = ": " .. was.file .. " and " .. is.file .. " differ in " .. table.concat(changed, ", ", 1, math.min(#changed, 5))
          .. (#changed > 5 and " and " .. #changed - 5 .. " more" or "")
      end
    elseif was or is then
      context.skip("nodes.may-roll", "of both charts only " .. (was or is).file .. " was rendered")
    end
  end
  out.rolls = rolls
  local subject, at = "release/" .. release.name, { from = out.image_from, to = out.image_to, evidence = release.file .. ": spec.components" }
  if rolls == "yes" then
    add("nodes.roll", subject, "machines are replaced" .. differs, at)
    if versions.weight[out.level] == 1 then
      add("nodes.roll-in-patch", subject, "machines are replaced in a patch Release" .. differs, at)
    end
  elseif rolls == "chart" then
    add("nodes.may-roll", "component/" .. chart, "the chart decides whether machines are replaced",
      { evidence = release.file .. ": spec.components[" .. chart .. "].version" })
  end
  return out
end

local function diff(question)
  local list, add = findings.new()
  return judge(question, list, add)
end

-- gate(question): may this Release become active? It is judged as one that is, whatever it is now, but on the way to a stage before
-- that: what is only told of a draft (an image that was not built, a request, a build of a commit) denies here.
--   question   step (as for diff), suites (suite, hash, result; may be nil), readiness (item, closed; may be nil), stage (is, to,
--              action, actor)
--   answer     as for diff
local function may_pass(question)
  local list, add = findings.new()
  local out = judge(question.step, list, add, stages.is_offered(question.stage.to) and "active" or nil)
  local release = question.step.release
  local function skip(check, why)
    add("check.not-evaluated", "release/" .. release.name, check .. ": " .. why, { rule = check, evidence = release.file })
  end
  if question.step.catalogue == nil then skip("image.not-built", "the images that were built are not known") end
  if out.provider then
    local folder = release.folder ~= "" and release.folder or image.folder_of(out.provider)
    gate.check(question, out.provider, folder, out.level, add, skip)
  end
  return out
end

-- folder(question): what is to be said of a provider's Releases as a whole?
--   question   folder, releases, requests, registered, app_ranges (each may be nil but the first two)
--   answer     findings, rules (every id that a finding may have: what consent may name)
local function whole(question)
  local list, add = findings.new()
  folder.check(question, add)
  return { findings = list, rules = findings.rules }
end

-- bump(question): what would the next Release be?
--   question   base, kind ("major", "minor", "patch", "test": a test Release, of `picks` alone), available (item → versions),
--              catalogue, requests, picks (name, version, catalog, depends_on), stage, others (all of the provider; may be nil),
--              prefix and asked (test: what its pre-release begins with; that there is one whatever is picked)
--   answer     version, items (kind, name, from: "" for what comes, to: "" for what goes, why), findings: of the proposal too, which
--              `check` would deny or would not
local function next_release(question)
  local list, add = findings.new()
  local function judged(draft, state)
    local found, note = findings.new()
    judge({ release = draft, base = question.base, pools = {}, catalogue = question.catalogue, values = {}, requests = question.requests,
      others = question.others, within = "folder" }, found, note, state)
    return found
  end
  local version, items, found = bump.plan(question, add, judged)
  for _, f in ipairs(found) do list[#list + 1] = f end
  if question.catalogue == nil then
    add("check.not-evaluated", "release/" .. question.base.name, "image.not-built: the images that were built are not known",
      { rule = "image.not-built", evidence = question.base.file })
  end
  return { version = version, items = items, findings = list }
end

-- path(question): how does a cluster get from one Release to another?
--   question   releases (of one provider), from, to (versions), denied (from, to, why: steps that `diff` denies; may be nil)
--   answer     steps (from, to, level, downgrades: subject, from, to; denied: why), findings
local function way(question)
  local list, add = findings.new()
  return { steps = path.find(question.releases, question.from, question.to, add, question.denied), findings = list }
end

-- lifecycle(question): which Releases are offered on?
--   question   releases (of one provider), in_use (names; nil: not known)
--   answer     releases (name, state, action: "keep", "deprecate" or "archive", why), findings
local function live(question)
  local list, add = findings.new()
  return { releases = lifecycle.plan(question.releases, question.in_use, add), findings = list }
end

-- pin(question): how is an item held at a version?
--   question   release, name, version, up_to (the version of the first Release that is free again; "": only this one), folders
--              (folder, file, blocks, has: whether its Release has the item)
--   answer     pins (folder, file, range, edit: "new", "extended", "same" or "none", block, why), findings
local function hold(question)
  local list, add = findings.new()
  return { pins = pin.plan(question, add), findings = list }
end

-- join(question): do the providers go on together?
--   question   kind ("major", "minor"), target ("35.0"; "": what follows), providers (name, versions)
--   answer     target, rows (provider, latest, joins, why), findings
local function together(question)
  local list, add = findings.new()
  local target, rows = join.plan(question, add)
  return { target = target, rows = rows, findings = list }
end

-- publish(question): under which name is the chart of a Release published?
--   question   release, commit (of a preview; "": it is the Release itself)
--   answer     retag (from, to, value, text), findings
local function published(question)
  local list, add = findings.new()
  return { retag = publish.plan(question.release, question.commit, add), findings = list }
end

return {
  name = "releases/default",
  version = "1", api = 2,
  order = 1000,
  release = { map = map, diff = diff, gate = may_pass, bump = next_release, path = way, lifecycle = live, folder = whole,
    pin = hold, join = together, publish = published },
}
