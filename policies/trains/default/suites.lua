-- What suites say of a train as it is.
local facts = require("facts")

local suites = {}

-- look(train, void): { id, project, state, result } of each suite, by id. `state`: "passed" for exactly this content (its contentHash
-- is the train's); "unbound" passed, and it does not say for what; "stale" was about another content; "void" a freeze voided it;
-- "failed" else. A pass stays one when the same content fails later.
function suites.look(train, void)
  local by_id, order, voided = {}, {}, {}
  for _, id in ipairs(void or {}) do voided[id] = true end
  for _, suite in ipairs(train.suites) do
    local key = suite.id .. " " .. (suite.project or "")
    local all = by_id[key]
    if not all then
      all = { id = suite.id, project = suite.project, about = facts.projects_of(suite), runs = {} }
      by_id[key] = all
      order[#order + 1] = key
    end
    all.runs[#all.runs + 1] = suite
  end
  table.sort(order)
  local list = {}
  for i, key in ipairs(order) do
    local all = by_id[key]
    local bound, unbound, failed, stale = false, false, nil, false
    for _, run in ipairs(all.runs) do
      if run.contentHash and run.contentHash ~= train.hash then
        stale = true
      elseif run.result ~= "passed" then
        if failed == nil or run.result < failed then failed = run.result end
      elseif run.contentHash then
        bound = true
      else
        unbound = true
      end
    end
    all.state = voided[all.id] and "void" or bound and "passed" or failed and "failed" or unbound and "unbound" or stale and "stale"
    all.result = failed
    list[i] = all
  end
  return list
end

local words = { passed = "passed", unbound = "passed, for which content it does not say", stale = "ran for another content",
  void = "void since the frozen project moved" }

-- "kata-ci of Kata: failed"
function suites.text(suite)
  return suite.id .. (suite.project and " of " .. suite.project or "") .. ": " .. (words[suite.state] or suite.result)
end

-- Whether the suite of a pair passed: for this content (`how` is "for this content"), or also for one that it does not name.
function suites.pair_passed(train, a, b, how)
  for _, suite in ipairs(suites.look(train, train.void)) do
    if (suite.id == "pair:" .. a .. "+" .. b or suite.id == "pair:" .. b .. "+" .. a)
      and (suite.state == "passed" or (suite.state == "unbound" and how == nil)) then
      return true
    end
  end
  return false
end

return suites
