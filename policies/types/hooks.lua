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
---@field image windlass.target_image the one that the pool's nodes should run
---@field kubernetes windlass.server_versions of the cluster's API servers; the version skew policy is kept whatever a pack answers
---@field returning boolean its nodes go back to the image before, as spec.rollout.onFailure says
---@field watched boolean every unit runs the image: the rollout is over once disruption.admit says yes of the one that moved last, and only packs with `signals` are asked
---@field signals table<string, windlass.signal> those that `signals` of the packs which are asked declare

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

---@class windlass.target_image
---@field kubernetes string the version of Kubernetes in it, such as v1.33.1+k3s1; empty: unknown

---@class windlass.server_versions
---@field oldest string version, such as v1.33.1; empty: unknown
---@field newest string version; empty: unknown

---@class windlass.signal
---@field value? number nil while it is unknown, and while it is stale
---@field age number since the value was fetched; seconds
---@field unknown string why there is no value; empty: there is one
---@field lowest? number of the values of the last `covers` seconds
---@field highest? number of the same
---@field covers number for so long there was always a value that was not stale, up to the window; a start of the service begins it again; seconds

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
---@field halt? boolean with a no: the rollout halts, and its nodes go back to the image before where spec.rollout.onFailure is Return; left out: the unit waits
---@field drain? windlass.drain how its workload makes way, with a yes; of several packs the shortest time counts
---@field look_again? number ask again after that long although nothing changed; kept between a second and a day; seconds

---@class (exact) windlass.drain
---@field timeout? number the drain is given up after that long and another unit has its turn; the object's own limit stays where it is shorter; at most a day; seconds

---@class windlass.map_question
---@field release? windlass.release
---@field pools windlass.pool_facts[] none: one of the default form of the provider
---@field catalogue? string[] the images that were built, where that is known
---@field values table<string, string> of providerIntegration, where a rule reads no Release
---@field tools windlass.tool[] that are baked into the image
---@field known_tools windlass.image_and_its_tools[] those of other images, so that no two lists get one name

---@class windlass.release
---@field name string "aws-34.5.0"
---@field file string what evidence names
---@field folder string "capa"; empty: it is from no folder of Releases
---@field stored_as string "v34.5.0": what its place says it is
---@field archived boolean no longer offered, whatever its state says
---@field state string
---@field date string
---@field components windlass.Release_entry[] as written
---@field apps windlass.Release_entry[] as written
---@field hash string of what it consists of: neither its name nor its state and date count
---@field problems windlass.problem_of_a_document[] what was found while it was read

---@class windlass.Release_entry
---@field name string
---@field version string as written: a stray v stays
---@field catalog string its default where none is named
---@field component_version string the version of the component that an app belongs to
---@field reference string
---@field depends_on string[] apps that come before it

---@class windlass.problem_of_a_document
---@field id string stable, "release.schema"
---@field subject string "component/etcd"
---@field from string what was there
---@field to string what it became, or should be
---@field why string a sentence
---@field evidence string the document and the field

---@class windlass.pool_facts
---@field name string
---@field kind string
---@field architecture string
---@field channel string
---@field suffix string
---@field image string names the image itself: no rule is asked
---@field running string what a machine of it reports

---@class windlass.tool
---@field name string
---@field version string

---@class windlass.image_and_its_tools
---@field image string
---@field tools windlass.tool[]

---@class (exact) windlass.image_names
---@field provider? string "aws"
---@field chart? string the version of the cluster chart
---@field explained? string which row of the tables applies, and why
---@field images? windlass.image_of_a_pool[] one a pool, in the order of the question
---@field inside? windlass.tool[] the tools in the image, where the tables know them
---@field findings? windlass.finding[] what was found; an error denies, a warning may wait for approval

---@class (exact) windlass.image_of_a_pool
---@field pool? string its name, as in the question
---@field image? string its name; empty with tags, or where the provider brings its own
---@field rule? string the row of the tables that named it
---@field segments? windlass.segment_of_an_image[] what the name was put together from
---@field image_version? string of a gallery
---@field tags? string[] of a template: all must match
---@field ref? string how an image of that name is fetched
---@field length? number of the name, in characters
---@field limit? number the most characters that the provider takes

---@class (exact) windlass.segment_of_an_image
---@field name? string "kubernetes"
---@field text? string "1.34.10"
---@field source? string the document and the field that says so

---@class (exact) windlass.finding
---@field id? string which rule: "release.schema"; required
---@field severity "error"|"warn"|"info" how bad it is
---@field blocking? string "approval" on a warning that waits for consent
---@field subject? string what it is about: "component/etcd"; required
---@field from? string what was there
---@field to? string what it became, or should be
---@field rule? string the row of the pack's tables that says so
---@field why? string a sentence; required
---@field evidence? string the document and the field
---@field clears? string the smallest change that clears it

---@class windlass.diff_question
---@field base? windlass.release none: the Release is judged alone
---@field release? windlass.release what is judged
---@field pools windlass.pool_facts[] whose images are compared
---@field catalogue? string[] the images that were built, where that is known
---@field values table<string, string> of providerIntegration, where a rule reads no Release
---@field others? windlass.release[] all Releases of the provider
---@field requests? windlass.request_file requests.yaml of the provider
---@field registered? string[] resources of its kustomization.yaml
---@field app_ranges? table<string, string> of Kubernetes, by app
---@field within string "folder": what concerns all of a provider is said by release.folder
---@field rendered_from? windlass.rendered_chart what the chart of the base renders, where it was rendered
---@field rendered_to? windlass.rendered_chart the same of the Release

---@class windlass.request_file
---@field file string
---@field blocks windlass.block_of_requests[]
---@field problems windlass.problem_of_a_document[] what was found while it was read

---@class windlass.block_of_requests
---@field range string of Releases
---@field requests windlass.request[]

---@class windlass.request
---@field name string of an app or a component
---@field version string which versions a Release must have
---@field issue string
---@field except windlass.exception_of_a_request[] Releases that are excused

---@class windlass.exception_of_a_request
---@field release string its name
---@field reason string

---@class windlass.rendered_chart
---@field file string
---@field objects windlass.rendered_object[] in the order of the chart

---@class windlass.rendered_object
---@field kind string
---@field name string
---@field digest string of all that it says beside its metadata

---@class (exact) windlass.step_between_Releases
---@field provider? string of the Release
---@field version? string of the Release
---@field level "major"|"minor"|"patch"|"prerelease"|"none" of the step
---@field rolls "yes"|"chart"|"no"|"-" whether nodes are replaced; - where there are no images
---@field image_from? string of the first pool; tags are joined by commas
---@field image_to? string the same after the step
---@field length? number of image_to, in characters
---@field limit? number the most characters that the provider takes
---@field changes? windlass.change[] components first, each by name
---@field requests? windlass.verdict_on_a_request[] what requests.yaml asks of this Release
---@field findings? windlass.finding[] what was found; an error denies, a warning may wait for approval

---@class (exact) windlass.change
---@field kind "component"|"binary"|"app" a binary is inside of a component
---@field name? string
---@field what? string added, removed, changed, moved, catalog, reference or depends
---@field from? string
---@field to? string
---@field level? string of a version that changed
---@field direction? string up, down or same, as configured
---@field strict? string the same by SemVer alone
---@field rolls? string whether nodes are replaced: yes, chart, no

---@class (exact) windlass.verdict_on_a_request
---@field range? string of Releases
---@field item? string
---@field version_range? string which versions it must have
---@field actual? string the version that it has
---@field result? string satisfied, violated or missing

---@class windlass.gate_question
---@field step windlass.diff_question from the Release before
---@field suites? windlass.run_of_a_suite[] which suites ran, where that is known
---@field readiness? windlass.readiness_item[] where that is known
---@field stage windlass.stage

---@class windlass.run_of_a_suite
---@field suite string
---@field hash string of the content that it ran on
---@field result string "passed", or what else came out

---@class windlass.readiness_item
---@field item string what must be done before a major is offered
---@field closed boolean

---@class windlass.stage
---@field is string where the draft stands
---@field to string where it should go
---@field action string version, pin or refresh
---@field actor string who wants it
---@field age_hours number of the draft; below 0: not known

---@class windlass.bump_question
---@field base? windlass.release the Release before
---@field kind string major, minor, patch or test
---@field available table<string, string[]> versions by item
---@field catalogue? string[] the images that were built, where that is known
---@field requests? windlass.request_file requests.yaml of the provider
---@field picks windlass.pick[] when there are any, nothing else moves
---@field stage windlass.stage
---@field others? windlass.release[] all Releases of the provider
---@field prefix string of the pre-release of a test
---@field asked boolean a test gets a pre-release whatever is picked

---@class windlass.pick
---@field name string
---@field version string
---@field depends_on string[] replaces what it had when it is not empty
---@field catalog string empty: the one that it had

---@class (exact) windlass.next_Release
---@field version? string of the next Release
---@field items? windlass.item_of_a_bump[] components first, each by name
---@field findings? windlass.finding[] what was found; an error denies, a warning may wait for approval

---@class (exact) windlass.item_of_a_bump
---@field kind "component"|"app"
---@field name? string
---@field from? string empty: it comes
---@field to? string empty: it goes
---@field why? string a sentence

---@class windlass.path_question
---@field releases windlass.release[] of one provider
---@field from string a version
---@field to string a version
---@field denied windlass.denied_step[] by release.diff: no way leads there

---@class windlass.denied_step
---@field from string a Release
---@field to string a Release
---@field why string a sentence

---@class (exact) windlass.path
---@field steps? windlass.step_of_a_path[] from the first Release to the last
---@field findings? windlass.finding[] what was found; an error denies, a warning may wait for approval

---@class (exact) windlass.step_of_a_path
---@field from? string the version before
---@field to? string the version after
---@field level? string of the step
---@field downgrades? windlass.downgrade[] what goes back on the way
---@field denied? string why release.diff denies it; only where there is no other way

---@class (exact) windlass.downgrade
---@field subject? string what goes back
---@field from? string
---@field to? string

---@class windlass.lifecycle_question
---@field releases windlass.release[] of one provider
---@field in_use? string[] names; nil: not known

---@class (exact) windlass.lifecycle
---@field releases? windlass.Release_and_what_becomes_of_it[]
---@field findings? windlass.finding[] what was found; an error denies, a warning may wait for approval

---@class (exact) windlass.Release_and_what_becomes_of_it
---@field name? string
---@field state? string the state that it has
---@field action "keep"|"deprecate"|"archive"
---@field why? string a sentence

---@class windlass.folder_question
---@field folder string
---@field releases windlass.release[]
---@field requests? windlass.request_file requests.yaml of the provider
---@field registered? string[] resources of its kustomization.yaml
---@field app_ranges? table<string, string> of Kubernetes, by app

---@class (exact) windlass.verdict_on_a_folder
---@field rules? string[] every id that a finding may have; empty: the pack does not say
---@field findings? windlass.finding[] what was found; an error denies, a warning may wait for approval

---@class windlass.pin_question
---@field release string a version
---@field name string of the item
---@field version string that it is held at
---@field up_to string the first Release that is free again; empty: only this one is held
---@field folders windlass.folder_of_a_pin[]

---@class windlass.folder_of_a_pin
---@field folder string
---@field file string
---@field blocks windlass.block_of_requests[] of requests, as they are
---@field has boolean whether its Release has the item

---@class (exact) windlass.pins
---@field pins? windlass.edit_of_a_request_file[] one a folder, in their order
---@field findings? windlass.finding[] what was found; an error denies, a warning may wait for approval

---@class (exact) windlass.edit_of_a_request_file
---@field folder? string
---@field file? string
---@field range? string of the block of requests
---@field edit "new"|"extended"|"same"|"none"
---@field block? number which one is extended, from 1
---@field why? string a sentence

---@class windlass.join_question
---@field kind string major or minor
---@field target string "35.0"; empty: what follows
---@field providers windlass.versions_of_a_provider[]

---@class windlass.versions_of_a_provider
---@field name string
---@field versions string[] that are offered

---@class (exact) windlass.join
---@field target? string the version that they go to
---@field rows? windlass.provider_that_may_join[] one a provider
---@field findings? windlass.finding[] what was found; an error denies, a warning may wait for approval

---@class (exact) windlass.provider_that_may_join
---@field provider? string
---@field latest? string its latest version
---@field why? string a sentence
---@field joins? boolean

---@class windlass.publish_question
---@field release? windlass.release
---@field commit string of a preview

---@class (exact) windlass.publication
---@field retag? windlass.published_chart[]
---@field findings? windlass.finding[] what was found; an error denies, a warning may wait for approval

---@class (exact) windlass.published_chart
---@field from? string "cluster-aws:7.2.5"
---@field to? string "release-aws:34.0.0"
---@field value? string the value of the chart that says the version
---@field text? string what it says

---@class windlass.train_document
---@field train? string
---@field file? string
---@field phase? string
---@field order? string
---@field cadence? string
---@field since? string
---@field now? string
---@field bump? string
---@field reqs_payload_commit? string
---@field source? string where it is from, for people
---@field at? string when it was seen, for people
---@field projects? windlass.project_of_a_train[] whose commits and tags go together
---@field pins? windlass.pin_of_a_train[] which project holds which
---@field edges? windlass.edge_of_a_train[] beside those that the pack knows
---@field steps? windlass.step_of_the_document[] what was done
---@field suites? windlass.suite_of_a_train[] which suites ran
---@field tags? windlass.tag_of_a_project[] of foreign projects
---@field ancestry? windlass.ancestry_of_commits[] how far one commit is from another
---@field images? windlass.image_of_a_registry[] that registries have
---@field releases? windlass.release_of_the_bundle[] of the bundle
---@field trains? windlass.released_train[] train.match: what was released together
---@field freeze? windlass.freeze_of_a_train from when on nothing moves
---@field promote? windlass.wanted_promotion train.promote: what gets which name
---@field match? windlass.wanted_match train.match: what it is for
---@field present? string[] evidence that is there; nil: not known

---@class windlass.project_of_a_train
---@field name? string
---@field candidate? string
---@field digest? string
---@field release? string
---@field protocol? string
---@field evidence? string
---@field head? string
---@field source? string where it is from, for people
---@field at? string when it was seen, for people

---@class windlass.pin_of_a_train
---@field holder? string
---@field project? string
---@field field? string
---@field kind? string
---@field value? string
---@field comment? string
---@field image? string
---@field was? string
---@field tested? string
---@field former? string
---@field source? string where it is from, for people
---@field at? string when it was seen, for people

---@class windlass.edge_of_a_train
---@field from? string
---@field to? string
---@field kind? string
---@field field? string
---@field source? string where it is from, for people
---@field at? string when it was seen, for people

---@class windlass.step_of_the_document
---@field id? string
---@field state? string
---@field evidence? string
---@field commit? string
---@field title? string
---@field owner? string
---@field pr? string
---@field approval? string
---@field source? string where it is from, for people
---@field at? string when it was seen, for people
---@field inputs? table<string, string> by project
---@field needs? string[] other steps

---@class windlass.suite_of_a_train
---@field id? string
---@field project? string
---@field contentHash? string
---@field result? string
---@field source? string where it is from, for people
---@field at? string when it was seen, for people

---@class windlass.tag_of_a_project
---@field project? string
---@field tag? string
---@field commit? string
---@field digest? string
---@field was? string
---@field source? string where it is from, for people
---@field at? string when it was seen, for people

---@class windlass.ancestry_of_commits
---@field project? string
---@field from? string
---@field to? string
---@field ahead? string
---@field behind? string
---@field source? string where it is from, for people
---@field at? string when it was seen, for people

---@class windlass.image_of_a_registry
---@field ref? string
---@field digest? string
---@field arch? string
---@field was? string
---@field source? string where it is from, for people
---@field at? string when it was seen, for people

---@class windlass.release_of_the_bundle
---@field tag? string
---@field date? string
---@field source? string where it is from, for people
---@field at? string when it was seen, for people

---@class windlass.released_train
---@field train? string
---@field bundle? string
---@field client? string
---@field server? string
---@field client_commit? string
---@field server_commit? string
---@field client_protocol? string
---@field server_protocol? string
---@field source? string where it is from, for people
---@field at? string when it was seen, for people

---@class windlass.freeze_of_a_train
---@field project? string
---@field baseCommit? string
---@field since? string
---@field until? string
---@field by? string
---@field fixup? string
---@field mode? string
---@field source? string where it is from, for people
---@field at? string when it was seen, for people

---@class windlass.wanted_promotion
---@field project? string
---@field tag? string
---@field source? string where it is from, for people
---@field at? string when it was seen, for people

---@class windlass.wanted_match
---@field client? string
---@field server? string
---@field bundle? string
---@field train? string
---@field protocol? string
---@field source? string where it is from, for people
---@field at? string when it was seen, for people

---@class (exact) windlass.verdict_on_a_train
---@field checks? windlass.comparison[] check and plan: what was compared
---@field steps? windlass.step_of_a_train[] plan: in the order of the tables
---@field void? string[] plan: suites that no longer count
---@field order? string[] plan: projects, each behind those that it depends on
---@field edges? windlass.edge_between_projects[] plan
---@field next? string plan: the release of the bundle that the next train may ride on
---@field earliest? string plan: the day from which it may; empty: not known
---@field retag? windlass.retag[] promote
---@field indexes? windlass.index_of_images[] promote: over what has its new name then
---@field retest? "skipped"|"required" promote: whether it must be tested again
---@field hash? string check, plan and promote: of the content that suites and waivers are bound to
---@field matches? windlass.match[] match
---@field rules? string[] check, plan and promote: every id that a finding may have
---@field findings? windlass.finding[] what was found; an error denies, a warning may wait for approval

---@class (exact) windlass.comparison
---@field name? string
---@field result? string "equal"
---@field saw? string[] what was compared

---@class (exact) windlass.step_of_a_train
---@field id? string
---@field state "done"|"started"|"ready"|"blocked"
---@field why? string a sentence
---@field needs? string[] steps that come before it
---@field since? string when it became that, as the facts say it; empty: not known
---@field days? number from then to the now of the document
---@field inputs? windlass.input_of_a_step[] fixed when it starts
---@field title? string
---@field owner? string
---@field pr? string
---@field approval? string
---@field evidence? string

---@class (exact) windlass.input_of_a_step
---@field project? string
---@field value? string what the step takes of it

---@class (exact) windlass.edge_between_projects
---@field from? string
---@field to? string
---@field kind? string to is built from from (strong), speaks its protocol (pair), or has it and may lag (weak)

---@class (exact) windlass.retag
---@field from? string the image
---@field to? string its new name
---@field arch? string
---@field digest? string that was tested

---@class (exact) windlass.index_of_images
---@field to? string its name
---@field parts? windlass.part_of_an_index[] one an architecture

---@class (exact) windlass.part_of_an_index
---@field from? string the image
---@field digest? string that was tested
---@field architecture? string

---@class (exact) windlass.match
---@field train? string
---@field bundle? string
---@field client? string
---@field server? string
---@field how? string why that is believed

---@class windlass.project_and_its_files
---@field project string its name
---@field files table<string, string> texts by their names; none: which are to be read?

---@class (exact) windlass.what_files_of_a_project_say
---@field known? boolean whether there is a table for the project
---@field near? string without one: the project that may be meant
---@field files? string[] every file that is read, whether it is there or not
---@field pins? windlass.pin_of_a_project[]
---@field protocol? string that it speaks
---@field absent? string[] what none of the files has

---@class (exact) windlass.pin_of_a_project
---@field holder? string
---@field project? string
---@field field? string required
---@field kind? string
---@field value? string required
---@field image? string
---@field comment? string
---@field source? string

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

---@class windlass.fleet_object
---@field kind string FleetPool or FleetChart
---@field namespace string
---@field name string
---@field labels table<string, string>
---@field annotations table<string, string> those of fleet.windlass.dev
---@field revision number the number of what is asked for
---@field digest string of its content
---@field reference string of its image
---@field proven string the digest of the newest revision that finished its waves; empty: none did

---@class windlass.member
---@field name string
---@field labels table<string, string> of the cluster's Secret at home
---@field wave string by the object's own waves
---@field state string Ready, Moving, Failed, Waiting, Away, Foreign, Refused, NotGranted, Leaving
---@field has string the digest of the revision that it has; empty: none
---@field since number when it became ready or failed; 0: it is neither; unix seconds
---@field signals table<string, windlass.signal> of this cluster: those that `signals` of the pack declares

---@class (exact) windlass.consent
---@field holds? table<string, string|windlass.hold> who must not begin it now, and why; nil: everybody may, as far as the policy goes
---@field look_again? number ask again after that long although nothing changed; kept between a second and a day; seconds

---@class windlass.fleet_chart
---@field kind string FleetChart
---@field namespace string
---@field name string
---@field labels table<string, string>
---@field annotations table<string, string> those of fleet.windlass.dev
---@field chart windlass.source_of_a_chart
---@field release string its name on the clusters
---@field target_namespace string on the clusters
---@field config table<string, table<string, string>> texts of the ConfigMaps of `valuesFrom`, by ConfigMap and key; no Secret's
---@field values table<string, any> merged so far: those of the ConfigMaps, then the object's own

---@class windlass.source_of_a_chart
---@field repository string http://, https:// or oci://
---@field name string
---@field version string as the object says: exact, a range, or empty for the newest stable one

---@class windlass.cluster_of_a_chart
---@field name string
---@field labels table<string, string> of the cluster's Secret at home
---@field kubernetes string version of its API servers, such as v1.33.1; empty: unknown

---@class (exact) windlass.chart_values
---@field values? table<string, any> merged over `chart.values`, 256 KiB of JSON at most; Secrets of `valuesFrom` are merged over them. nil: none
---@field hold? string|windlass.hold why the chart must wait on this cluster, which keeps the release that it has; nil: it need not

---@class (exact) windlass.family.compose
---@field related? fun(parent: windlass.composed_object): windlass.related_objects what else does the answer for this custom resource depend on?
---@field sync? fun(parent: windlass.composed_object, related: table<string, windlass.composed_object>, children: table<string, windlass.composed_object>, files: windlass.data_files, now: windlass.time): windlass.composition which objects should exist for this custom resource, and what does it report?
---@field data? fun(files: windlass.data_files): windlass.verdict may these files take the place of those in force?

---@class (exact) windlass.family.disruption
---@field admit? fun(unit: windlass.unit, peers: windlass.unit[], fleet: windlass.fleet, now: windlass.time): windlass.admission may the workload of this unit be disturbed now?

---@class (exact) windlass.family.fleet
---@field revision? fun(object: windlass.fleet_object, clusters: windlass.member[], now: windlass.time): windlass.consent which clusters must not begin this revision now, and why?
---@field values? fun(chart: windlass.fleet_chart, cluster: windlass.cluster_of_a_chart, now: windlass.time): windlass.chart_values which values has this chart on this cluster, beside those that the object says?

---@class (exact) windlass.family.release
---@field map? fun(question: windlass.map_question): windlass.image_names what is the OS image of these pools called?
---@field diff? fun(question: windlass.diff_question): windlass.step_between_Releases what does the step from one Release to another change, and is anything wrong with it?
---@field gate? fun(question: windlass.gate_question): windlass.step_between_Releases may this Release become active?
---@field bump? fun(question: windlass.bump_question): windlass.next_Release what would the next Release be?
---@field path? fun(question: windlass.path_question): windlass.path how does a cluster get from one Release to another?
---@field lifecycle? fun(question: windlass.lifecycle_question): windlass.lifecycle which Releases are still offered?
---@field folder? fun(question: windlass.folder_question): windlass.verdict_on_a_folder what is wrong with the Releases of a provider as a whole, and which rules are there?
---@field pin? fun(question: windlass.pin_question): windlass.pins how is an item held at a version?
---@field join? fun(question: windlass.join_question): windlass.join do the providers go on together?
---@field publish? fun(question: windlass.publish_question): windlass.publication under which name is the chart of a Release published?

---@class (exact) windlass.family.rollout
---@field plan? fun(units: windlass.unit[], fleet: windlass.fleet, now: windlass.time): windlass.plan who may start now, in which order, and why do the others wait?

---@class (exact) windlass.family.train
---@field check? fun(train: windlass.train_document): windlass.verdict_on_a_train does what is pinned fit together?
---@field plan? fun(train: windlass.train_document): windlass.verdict_on_a_train which steps are done, started, ready, blocked?
---@field promote? fun(train: windlass.train_document): windlass.verdict_on_a_train which images get which names, and must they be tested again?
---@field match? fun(train: windlass.train_document): windlass.verdict_on_a_train which server fits a client, a bundle or a train?
---@field sources? fun(question: windlass.project_and_its_files): windlass.what_files_of_a_project_say what do the files of a project pin, and which protocol does it speak?

---@class (exact) windlass.family.versions
---@field resolve? fun(unit: windlass.version_question, catalogue: windlass.catalogue_entry[], now: windlass.time): windlass.version which version should this unit run?

---@class (exact) windlass.declared_signal
---@field name string as `fleet.signals` has it: lower-case letters, digits and '_'
---@field prometheus? string address of a Prometheus, without /api/v1/query; this or `http`
---@field http? string address that answers a JSON number or `{"value": NUMBER}`
---@field query? string PromQL with one number as its result
---@field every? number between two questions, 5 to 3600; 15 unless said; seconds
---@field window? number how far back values count for `lowest`, `highest` and `covers`; at most a day and 1,000 times `every`; 0 unless said; seconds
---@field stale_after? number an older value is none; at least `every`, four times that unless said; seconds
---@field secret? string name of the Secret with the login for that address

---@class (exact) windlass.applies
---@field apis? string[]
---@field clusters? table<string, string|string[]|boolean>
---@field objects? table<string, string|string[]|boolean>

--- What policy.lua returns.
---@class (exact) windlass.pack
---@field name string
---@field version? string
---@field api? integer the version of the hooks that it is for
---@field order? number the lowest that applies is asked
---@field applies? windlass.applies
---@field signals? windlass.declared_signal[]
---@field compose? windlass.family.compose
---@field disruption? windlass.family.disruption
---@field fleet? windlass.family.fleet
---@field release? windlass.family.release
---@field rollout? windlass.family.rollout
---@field train? windlass.family.train
---@field versions? windlass.family.versions
---@field composes? windlass.composes which kinds it is about
