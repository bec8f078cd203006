-- Whether a Release may become active: what was found on it, the suites that passed for its content, its stage.
local stages = require("stages")
local tables = require("tables")

local gate = {}

-- check(question, provider, level, add): question has suites (suite, hash, result; may be nil), readiness (item, closed; may
-- be nil), stage.
function gate.check(question, provider, folder, level, add, skip)
  local release = question.step.release
  local required = tables.suites[folder] or tables.suites[provider] or {}
  local passed, failed = {}, {}
  for _, run in ipairs(question.suites or {}) do
    if run.hash == release.hash then
      local before = failed[run.suite]
      if run.result == "passed" then passed[run.suite] = true
      elseif not before or run.result < before then failed[run.suite] = run.result end
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
      skip("readiness.open", "nobody says whether the cloud controllers are ready")
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
