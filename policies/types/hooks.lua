---@meta
-- Annotations for lua-language-server: what hooks are given and answer. Made by `windlass policy types`.

---@class windlass.version_question
---@field api string such as bootc
---@field cluster string
---@field name string
---@field cluster_labels table<string, string> of the cluster's Secret at home
---@field labels table<string, string>
---@field annotations table<string, string>
---@field running string its version; empty: nothing or unknown
---@field wanted string what its object asks for: a version, a range, a channel

---@class windlass.catalogue_entry
---@field version string three numbers, such as 1.4.2
---@field reference string of its image or chart
---@field channel string empty: in none
---@field released number 0: unknown; unix seconds

---@class windlass.time
---@field text string such as 2026-11-21T10:00:00Z
---@field unix number unix seconds
---@field year number
---@field month number 1 to 12
---@field day number of the month, from 1
---@field hour number 0 to 23, UTC
---@field minute number
---@field weekday string Monday, Tuesday … in English

---@class (exact) windlass.version
---@field version? string what it shall run; nil: it stays as it is
---@field reason string why, for people
---@field look_again? number ask again after that long although nothing changed; kept between a second and a day; seconds

---@class windlass.unit
---@field name string of the Node
---@field state string the word of its API; bootc: Pending, Staging, Staged, Rebooting, UpToDate, Degraded
---@field zone string its label topology.kubernetes.io/zone
---@field slotted boolean it holds a slot: it may be disturbed, it is on its way or about to be
---@field degraded boolean it reported a failure
---@field ready boolean its Node is Ready
---@field control_plane boolean
---@field labels table<string, string> of its Node
---@field annotations table<string, string> of its Node
---@field since number when it became up to date or degraded, else when its update began; 0: unknown; unix seconds
---@field image string what it runs
---@field target string what it shall run
---@field pool string
---@field cluster string

---@class windlass.fleet
---@field pool string
---@field cluster string
---@field cluster_labels table<string, string> of the cluster's Secret at home
---@field pool_labels table<string, string>
---@field startable string the state in which a unit may start
---@field capacity number maxUnavailable as a number
---@field free number how many may start now
---@field occupied number slots that are taken
---@field node_count number
---@field updated number how many are up to date
---@field degraded number how many are degraded
---@field halted boolean two or more unhealthy units hold slots
---@field paused boolean
---@field in_slots string[] names of the units that hold a slot, ascending
---@field clusters windlass.cluster[] the pool of that name on every cluster that has one, this one too

---@class windlass.cluster
---@field name string
---@field labels table<string, string> of the cluster's Secret at home
---@field target string what they shall run, as a digest
---@field nodes number how many units its pool of that name has
---@field updated number how many are up to date
---@field degraded number how many are degraded
---@field slotted number how many hold a slot
---@field updated_at number since when all are up to date; 0: not all are, or unknown; unix seconds

---@class (exact) windlass.plan
---@field start? string[] who gets a slot, first first, `free` of them at most
---@field holds? table<string, string|windlass.hold> why the others wait
---@field look_again? number ask again after that long although nothing changed; kept between a second and a day; seconds

---@class (exact) windlass.hold
---@field code? string one word of letters and digits, for scripts and alerts
---@field reason string a sentence for people, one line

---@class (exact) windlass.admission
---@field admit boolean whether it may be disturbed now
---@field reason? string why not: a sentence for people; needed for a no
---@field code? string one word of letters and digits, for scripts and alerts
---@field look_again? number ask again after that long although nothing changed; kept between a second and a day; seconds

---@class (exact) windlass.family.compose
---@field sync? function

---@class (exact) windlass.family.disruption
---@field admit? fun(unit: windlass.unit, peers: windlass.unit[], fleet: windlass.fleet, now: windlass.time): windlass.admission may the workload of this unit be disturbed now?

---@class (exact) windlass.family.release
---@field map? function
---@field diff? function
---@field gate? function
---@field bump? function
---@field path? function
---@field lifecycle? function
---@field folder? function
---@field pin? function
---@field join? function
---@field publish? function

---@class (exact) windlass.family.rollout
---@field plan? fun(units: windlass.unit[], fleet: windlass.fleet, now: windlass.time): windlass.plan who may start now, in which order, and why do the others wait?

---@class (exact) windlass.family.train
---@field check? function
---@field plan? function
---@field promote? function
---@field match? function

---@class (exact) windlass.family.versions
---@field resolve? fun(unit: windlass.version_question, catalogue: windlass.catalogue_entry[], now: windlass.time): windlass.version what shall this unit run?

---@class (exact) windlass.applies
---@field apis? string[]
---@field clusters? table<string, string|string[]|boolean>
---@field objects? table<string, string|string[]|boolean>

--- What policy.lua returns.
---@class (exact) windlass.pack
---@field name string
---@field version? string
---@field order? number the lowest that applies is asked
---@field applies? windlass.applies
---@field compose? windlass.family.compose
---@field disruption? windlass.family.disruption
---@field release? windlass.family.release
---@field rollout? windlass.family.rollout
---@field train? windlass.family.train
---@field versions? windlass.family.versions
