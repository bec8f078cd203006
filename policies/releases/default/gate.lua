-- Whether a Release may become active: what was found on it, the suites that passed for its content, its stage.
local checks = require("checks")
local stages = require("stages")
local tables = require("tables")

local gate = {}

-- check(question, provider, level, add): question has suites (suite, hash, result; may be nil), readiness (item, closed; may
-- be nil), stage.
function gate.check(question, provider, folder, level, add, skip)
  local release = question.step.release
  local required = tables.suites[folder] or tables.suites[provider]
  if not required then
    skip("coverage.missing", "tables.lua says of no suite that it is asked of " .. folder)
    required = {}
  end
  local passed, failed = {}, {}
  for _, run in ipairs(question.suites or {}) do
    if run.hash == release.hash then
      local before = failed[run.suite]
      if run.result == "passed" then passed[run.suite] = true
      elseif not before or run.result < before then failed[run.suite] = run.result end
    end
  end
  -- A result under a name that is not asked for counts for nothing, and may be meant for one that is.
  local asked, told = {}, {}
  for _, suite in ipairs(required) do asked[suite] = true end
  for _, run in ipairs(question.suites or {}) do
    if run.hash == release.hash and not asked[run.suite] and not told[run.suite] then
      told[run.suite] = true
      local near = checks.near(run.suite, required)
      add("suite.unknown", "suite/" .. run.suite, "no suite of that name is asked of " .. folder .. (near and "; is it " .. near .. "?" or ""),
        { from = run.suite, to = near, rule = "suites: " .. folder, evidence = "suites.yaml" })
    end
  end
  for _, suite in ipairs(required) do
    if not passed[suite] then
      add("coverage.missing", "suite/" .. suite, failed[suite] and "it did not pass for this content: " .. failed[suite]
        or "it has not passed for this content", { to = release.hash, rule = "suites: " .. folder, evidence = "suites.yaml" })
    elseif failed[suite] then
      add("coverage.rerun-failed", "suite/" .. suite, "it passed for this content and did not when run again",
        { from = "passed", to = failed[suite], rule = "suites: " .. folder, evidence = "suites.yaml" })
    end
  end
  if level == "major" then
    if question.readiness == nil then
      skip("readiness.open", "there is no readiness.yaml")
    elseif #question.readiness == 0 then
      skip("readiness.open", "readiness.yaml lists nothing")
    else
      for _, item in ipairs(question.readiness) do
        if not item.closed then
          add("readiness.open", "release/" .. release.name, item.item .. " is not done", { evidence = "readiness.yaml" })
        end
      end
    end
  end
  stages.check(question.stage, release.name, level == "major", add)
end

return gate
