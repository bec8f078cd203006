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
---@field version? string what it should run; nil: it stays as it is
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
---@field target string what it should run
---@field pool string
---@field cluster string
---@field conditions string[] types of its Node's conditions that are True, Ready left out

---@class windlass.fleet
---@field api string whose units these are: bootc, tenants
---@field pool string
---@field cluster string
---@field cluster_labels table<string, string> of the cluster's Secret at home
---@field pool_labels table<string, string>
---@field pool_annotations table<string, string> those of bootc.dev and windlass.dev
---@field parameters table<string, string> what flags of `run` say, texts by name; tenants: max_failures, soak_seconds, wave_label
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
---@field guards windlass.guard[] the objects that its annotation windlass.dev/guard-objects names

---@class windlass.cluster
---@field name string
---@field labels table<string, string> of the cluster's Secret at home
---@field target string what they should run, as a digest
---@field nodes number how many units its pool of that name has
---@field updated number how many are up to date
---@field degraded number how many are degraded
---@field slotted number how many hold a slot
---@field updated_at number since when all are up to date; 0: not all are, or unknown; unix seconds

---@class windlass.guard
---@field path string as the annotation windlass.dev/guard-objects has it
---@field problem string why it could not be read; else empty
---@field exists boolean
---@field counts boolean it is a Deployment, StatefulSet, ReplicaSet or DaemonSet
---@field wanted number how many replicas it should have
---@field available number how many are available

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
---@field drain? windlass.drain how its workload makes way, with a yes; of several packs the shortest time counts
---@field look_again? number ask again after that long although nothing changed; kept between a second and a day; seconds

---@class (exact) windlass.drain
---@field timeout? number the drain is given up after that long and another unit has its turn; the object's own limit stays where it is shorter; at most a day; seconds

---@class windlass.composed_object
---@field apiVersion string such as apps/v1
---@field kind string
---@field name string
---@field namespace string empty: it lies in none
---@field uid string
---@field owner string who controls it, such as Shop/blue; empty: no object
---@field labels table<string, string>
---@field annotations table<string, string>
---@field created number unix seconds
---@field generation number
---@field deleting boolean its deletion was requested
---@field ready boolean by its own status: rolled out to its end, bound, through; what reports nothing is ready
---@field spec any nil: it has none
---@field status any nil: it has none
---@field data any of a ConfigMap, its texts by key; of a Secret nil
---@field digests table<string, string> of a ConfigMap and a Secret, by key of data: sha256:…
---@field edited string[] keys of data that another writer changed since we wrote them
---@field rest any its other fields by name, such as type or rules

---@class (exact) windlass.related_objects
---@field objects windlass.object_reference[] what to look at; 200 at most

---@class (exact) windlass.object_reference
---@field apiVersion string
---@field kind string
---@field name? string one object; or else `labels`
---@field namespace? string only for a parent that lies in none; else it is the parent's
---@field labels? table<string, string> all that have these

---@class (exact) windlass.composes
---@field parents windlass.composed_parent[] whose objects are asked about; custom resources
---@field children windlass.composed_kind[] what may be made for them; nothing else is made, changed or deleted
---@field related? windlass.related_kind[] what else may be looked at
---@field manager? string of the fields that are applied, and the mark of what was made; `windlass-` and the pack's name without it
---@field finalizer? string keeps a parent that is deleted until its children are as `sync` wants them then
---@field data? string whose files every call gets; their edits count at once
---@field data_from? string a variable of the environment, ending in _TEMPLATES_DIR or _DATA_DIR, that names the folder to read instead
---@field namespaces_from? string a variable of the environment, ending in _NAMESPACES, with the namespaces whose parents are asked about, between commas; without it, and where no other API runs, WATCH_NAMESPACES; all where neither says any
---@field lease? string a Lease beside that of the API: with `--leader-elect` the pack is asked only while this process holds it
---@field environment? string[] variables of the environment: every call gets what those say that have _IMAGE_NAME in their names, and `true` or `false` of others

---@class (exact) windlass.composed_parent
---@field apiVersion string group and version
---@field kind string in the singular
---@field finalizer? string of this kind alone, in place of that of `composes`
---@field reporter? string who events about this kind name as their controller; windlass without it

---@class (exact) windlass.composed_kind
---@field apiVersion string group and version, or v1
---@field kind string in the singular

---@class (exact) windlass.related_kind
---@field apiVersion string group and version, or v1
---@field kind string in the singular
---@field optional? boolean where it is not served, or may not be listed, nothing of it is there; else that holds the pack

---@class windlass.data_files
---@field text table<string, string> by path in the folder
---@field digest string of all of them
---@field problem string why these are not the newest, or there are none; empty: they are
---@field refused string what compose.data says against newer ones; these are the last that it took, or else those; empty: nothing
---@field environment table<string, string> what the process's environment says, of `composes.environment`

---@class (exact) windlass.composition
---@field children windlass.child[] all that should exist; what was made for the parent and is not among them is deleted. 500 at most
---@field status? table<string, any> of the parent, whole: what is not in it is taken out; without it only conditions are written
---@field conditions? windlass.condition[] of the parent, all of them; the core keeps the time of each change and adds Composed
---@field events? windlass.event[] about the parent, told when they were not told by the answer before
---@field look_again? number ask again after that long although nothing changed; kept between a second and a day; seconds
---@field finalized? boolean false: a parent that is being deleted must stay although its children are as wanted

---@class (exact) windlass.child
---@field object table<string, any> as Kubernetes writes it: apiVersion, kind, metadata.name and its fields. `{}` is an empty object, `list()` an empty list. Of a Secret, `data` is in clear; a value may be `{ generate = "ed25519" | "password" | "bytes", length = 32 }`, `{ public_of = key }` or `{ copy = { secret = name, key = key } }`: it is filled in and never seen
---@field way? "own"|"create"|"add-keys"|"lines" own: fields are applied and repaired (also without it); create: made again when it is gone, else left alone; add-keys: keys of its data, each until a person edits it; lines: a block in a text
---@field adopt? boolean an object of that name without an owner is taken over; else it is a conflict
---@field lines? table<string, windlass.text_block> of the way lines, by key of data
---@field inputs? string[] of related and children, or of this answer: written once they are there and ready; their digest goes to the annotations of its pods
---@field inputs_as? string windlass.dev/inputs without it
---@field events? windlass.events_of_writes about the parent, told once a write of this object has ended. Without create_failed and update_failed a failure is the event Held

---@class (exact) windlass.text_block
---@field text string its lines
---@field name? string between whose marks it stands; the pack's without it
---@field after? string where it goes at first, such as [http_server]; else the end
---@field without? string[] lines `name = …` elsewhere in the text are taken out
---@field comment? string what begins a comment; # without it

---@class (exact) windlass.events_of_writes
---@field created? string|windlass.event_of_a_write Normal, after the server took the new object
---@field updated? string|windlass.event_of_a_write Normal, after the server took a change
---@field create_failed? string|windlass.event_of_a_write Warning, with the server's words
---@field update_failed? string|windlass.event_of_a_write Warning, with the server's words

---@class (exact) windlass.event_of_a_write
---@field reason string
---@field message? string without it the object's name and what was done; of a failure it stands before them

---@class (exact) windlass.condition
---@field type string
---@field status "True"|"False"|"Unknown"
---@field reason string
---@field message? string for people

---@class (exact) windlass.event
---@field type? "Normal"|"Warning"
---@field reason string
---@field message string

---@class (exact) windlass.verdict
---@field problem? string why they are refused; empty or nil: they are good
---@field warnings? string[] what in them has no effect, or not the one that its author means; the service logs it

---@class (exact) windlass.family.compose
---@field related? fun(parent: windlass.composed_object): windlass.related_objects what else does the answer for this custom resource depend on?
---@field sync? fun(parent: windlass.composed_object, related: table<string, windlass.composed_object>, children: table<string, windlass.composed_object>, files: windlass.data_files, now: windlass.time): windlass.composition which objects should exist for this custom resource, and what does it report?
---@field data? fun(files: windlass.data_files): windlass.verdict may these files take the place of those in force?

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
---@field sources? function

---@class (exact) windlass.family.versions
---@field resolve? fun(unit: windlass.version_question, catalogue: windlass.catalogue_entry[], now: windlass.time): windlass.version which version should this unit run?

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
---@field composes? windlass.composes which kinds it is about
