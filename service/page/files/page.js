// The page: what is open stands in the address, everything else in what the service said last.
import { become, el, printable, said, short } from "./text.js";
import { Live, load } from "./live.js";
import { bar, clock, plot, shape, state } from "./draw.js";
import { command, commands, copy } from "./commands.js";
import { Timeline, entries } from "./timeline.js";

const $ = (id) => document.getElementById(id);
const live = new Live();

// ---- What is open: #/cluster/NAME/API/ROW/UNIT?q=…&state=…&code=… or #/timeline/CLUSTER?t=…

function route() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const parts = path.split("/").filter(Boolean).map((p) => {
    try { return decodeURIComponent(p); } catch { return p; }
  });
  const q = new URLSearchParams(query ?? "");
  const at = { view: "fleet", cluster: "", api: "", row: "", unit: "", of: "", t: "" };
  if (parts[0] === "cluster" && parts[1]) [at.view, at.cluster = "", at.api = "", at.row = "", at.unit = ""] = parts;
  else if (parts[0] === "timeline") Object.assign(at, { view: "timeline", of: parts[1] ?? "", t: q.get("t") ?? "" });
  else if (parts.length > 0) at.view = "nowhere";
  return { ...at, q: q.get("q") ?? "", state: q.get("state") ?? "", code: q.get("code") ?? "" };
}
function link(to, filters = open) {
  const begin = to.view === "timeline" ? ["timeline", to.of] : to.cluster ? ["cluster", to.cluster, to.api, to.row, to.unit] : [];
  const q = new URLSearchParams();
  for (const name of ["q", "state", "code"]) if (filters[name]) q.set(name, filters[name]);
  if (to.view === "timeline" && to.t) q.set("t", to.t);
  const text = q.toString();
  return "#/" + begin.filter(Boolean).map(encodeURIComponent).join("/") + (text ? "?" + text : "");
}
let open = route();

// ---- Words

const number = (n) => Number(n ?? 0).toLocaleString("en").replaceAll(",", "\u202f");
const spaced = (key) => key.replace(/([a-z0-9])([A-Z])/g, "$1 $2").toLowerCase();
const capital = (word) => word.charAt(0).toUpperCase() + word.slice(1);
const many = (n, one, more) => `${number(n)} ${n === 1 ? one : more}`;
const sum = (all, f) => all.reduce((n, x) => n + f(x), 0);
function span(seconds) {
  const s = Math.max(0, seconds);
  return s < 60 ? `${Math.floor(s)} s` : s < 3600 ? `${Math.floor(s / 60)} min` : s < 172_800 ? `${Math.floor(s / 3600)} h` : `${Math.floor(s / 86_400)} d`;
}
function time(text, atLeast) {
  const second = Date.parse(text) / 1000;
  if (!Number.isFinite(second)) return said(text);
  return el("time", { datetime: text, title: new Date(second * 1000).toLocaleString() },
    (atLeast ? "before " : "") + clock(second, Date.now() / 1000 - second), ` (${atLeast ? "over " : ""}${span(Date.now() / 1000 - second)})`);
}
// A hold that a policy has for a time says when that one is asked again.
function nextLook(hold) {
  const second = Date.parse(hold.askedAgain) / 1000;
  if (!Number.isFinite(second)) return "";
  const left = second - Date.now() / 1000;
  return el("time", { class: "next", datetime: hold.askedAgain, title: new Date(second * 1000).toLocaleString() }, left > 0 ? `asked again in ${span(left)}` : "asked again now");
}

// ---- How a cluster does; the worst first

// A hold that waits for its turn, or is in progress, ends by itself; all others need a person.
const wantsEye = (code) => !["turn", "progress"].includes(live.fleet?.natures[code.split(":")[0]]);
const down = new Set(["Unreachable", "Unauthorized", "Forbidden", "Invalid", "CRDMissing"]);

const standings = new WeakMap();
function standing(c) {
  let s = standings.get(c);
  if (s) return s;
  const rows = c.apis.flatMap((a) => a.rows);
  s = { total: 0, updated: 0, updating: 0, degraded: 0, held: 0, stuck: 0, codes: {} };
  for (const r of rows) {
    s.total += r.total; s.updated += r.updated; s.updating += r.updating; s.degraded += r.degraded;
    for (const [code, n] of Object.entries(r.holds)) {
      s.codes[code] = (s.codes[code] ?? 0) + n;
      s.held += n;
      if (wantsEye(code)) s.stuck += n;
    }
  }
  const halted = rows.some((r) => r.halted);
  const own = rows.flatMap((r) => r.problems), problems = own.length + sum(rows, (r) => r.unitProblems);
  if (down.has(c.state)) [s.rank, s.kind, s.word] = [6, "trouble", c.state];
  else if (s.degraded > 0 || halted) [s.rank, s.kind, s.word] = [5, "trouble", halted ? "Halted" : "Degraded"];
  else if (problems > 0) [s.rank, s.kind, s.word] = [5, "trouble", "Problem"];
  else if (s.stuck > 0) [s.rank, s.kind, s.word] = [4, "held", "Held"];
  else if (c.state !== "Live") [s.rank, s.kind, s.word] = [3, c.state === "Stale" ? "old" : "wait", c.state];
  else if (s.updated < s.total) [s.rank, s.kind, s.word] = [2, "busy", "Moving"];
  else if (s.total === 0) [s.rank, s.kind, s.word] = [0, "wait", "Nothing to move"];
  else [s.rank, s.kind, s.word] = [1, "done", "Done"];
  s.text = [c.name, c.state, s.word, c.lastError ?? "", ...Object.entries(c.labels ?? {}).map(([k, v]) => `${k}=${v}`),
    ...rows.flatMap((r) => [r.name, r.target]), ...own.map((p) => p.reason), ...Object.keys(s.codes)].join("\n").toLowerCase();
  standings.set(c, s);
  return s;
}

const choices = {
  "": ["Everything", () => true],
  attention: ["What needs attention", (s) => s.rank >= 3],
  trouble: ["In trouble", (s) => s.rank >= 5],
  held: ["Held", (s) => s.held > 0],
  moving: ["Moving", (s) => s.total > s.updated],
  done: ["Done", (s) => s.total > 0 && s.total === s.updated],
};

function chosen() {
  const words = open.q.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = choices[open.state]?.[1];
  const all = [];
  for (const c of live.clusters.values()) {
    const s = standing(c);
    if (fits ? !fits(s) : c.state !== open.state) continue;
    if (open.code && !s.codes[open.code]) continue;
    if (!words.every((w) => s.text.includes(w))) continue;
    all.push(c);
  }
  const order = new Intl.Collator("en", { numeric: true });
  return all.sort((a, b) => standing(b).rank - standing(a).rank || standing(b).stuck - standing(a).stuck ||
    order.compare(a.name, b.name));
}

// ---- The list: as many rows as can be seen, whatever the fleet's size

const rowHeight = 52;
const list = $("list"), listed = list.firstElementChild;
let shown = [];

function drawList() {
  const first = Math.max(0, Math.floor(list.scrollTop / rowHeight) - 6);
  const count = Math.ceil((list.clientHeight || 600) / rowHeight) + 12;
  const rows = shown.slice(first, first + count).map((c, i) => clusterRow(c, first + i));
  become(listed, el("ul", null, rows));
  listed.style.paddingTop = first * rowHeight + "px";
  listed.style.height = shown.length * rowHeight + "px";
}

function clusterRow(c, at) {
  const s = standing(c);
  const codes = Object.entries(s.codes).filter(([code]) => wantsEye(code)).sort((a, b) => b[1] - a[1]);
  const rest = codes.length > 0 ? codes.slice(0, 2).map(([code, n]) => `${n} ${code}`).join(", ") + (codes.length > 2 ? " …" : "")
    : s.held > 0 ? `${s.held} waiting` : "";
  return el("li", { "data-key": c.name, "aria-setsize": shown.length, "aria-posinset": at + 1 },
    el("a", { class: "row", href: link({ cluster: c.name }), "aria-current": c.name === open.cluster ? "true" : undefined },
      el("span", { class: "name" }, said(c.name)),
      el("span", { class: "n" }, s.total ? `${number(s.updated)}/${number(s.total)}` : ""),
      el("span", { class: "word" }, state(s.kind, s.word), c.state !== "Live" && s.word !== c.state ? el("span", { class: "more" }, said(c.state)) : "",
        rest ? el("span", { class: "more" }, said(rest)) : ""),
      bar(s.updated, s.updating, s.total, "updated")));
}

function drawFilters() {
  const all = [...live.clusters.values()];
  const states = new Map(), codes = new Map();
  for (const c of all) {
    states.set(c.state, (states.get(c.state) ?? 0) + 1);
    for (const [code, n] of Object.entries(standing(c).codes)) codes.set(code, (codes.get(code) ?? 0) + n);
  }
  const fill = (select, options, value) => {
    if (value && !options.some(([v]) => v === value)) options.push([value, value]);
    become(select, el("select", null, options.map(([v, word]) => el("option", { value: v }, word))));
    if (select.value !== value) select.value = value;
  };
  fill($("state"), [...Object.entries(choices).map(([v, [word, fits]]) => [v, v ? `${word} (${number(all.filter((c) => fits(standing(c))).length)})` : word]),
    ...[...states].filter(([word]) => word !== "Live").map(([word, n]) => [word, `${word} (${number(n)})`])], open.state);
  fill($("code"), [["", "anything"], ...[...codes].sort((a, b) => b[1] - a[1]).map(([code, n]) => [code, `${code} (${number(n)})`])], open.code);
  if (document.activeElement !== $("search")) $("search").value = open.q;
}

// ---- What is open

let detail = { name: "", doc: null, error: "", version: 0, asked: 0, busy: false };
let fleetHistory = { points: [] };
let more = 1;  // hundreds of units shown

const apiWords = (name) => live.fleet?.apis.find((a) => a.name === name) ?? { row: "group", rows: "groups", unit: "unit", units: "units" };

function crumbs(...parts) {
  return el("nav", { class: "crumbs", "aria-label": "Where this is" }, el("ol", null, parts.map(([name, to], i) =>
    el("li", null, i + 1 < parts.length ? el("a", { href: link(to) }, said(name)) : el("span", { "aria-current": "page" }, said(name))))));
}
const tile = (n, word, kind) => el("div", { class: "tile " + (kind ?? "") }, el("dt", null, word), el("dd", null, n));

function table(name, head, rows) {
  return el("div", { class: "scroll", role: "region", "aria-label": name, tabindex: "0" }, el("table", null,
    el("caption", { class: "unseen" }, name),
    el("thead", null, el("tr", null, head.map((h) => el("th", { scope: "col" }, h)))),
    el("tbody", null, rows)));
}

function plotWidth() {
  return Math.max(240, Math.min(1100, ($("detail").clientWidth || 800) - 34));
}

function fleetView() {
  const f = live.fleet;
  if (!f) return [el("h1", null, "Fleet"), el("p", { class: "hint" }, "Asking the service what it knows…")];
  if (live.clusters.size === 0)
    return [el("h1", null, "Fleet"), f.standsBy
      ? el("p", { class: "empty" }, "This replica stands by: another one holds the Lease and moves the fleet. Its page shows the clusters.")
      : el("p", { class: "empty" }, "No cluster yet. One appears here as soon as a labelled kubeconfig Secret names it."), policies()];
  const clusters = [...live.clusters.values()];
  const codes = new Map();
  for (const c of clusters)
    for (const [code, n] of Object.entries(standing(c).codes)) {
      const of = codes.get(code) ?? { n: 0, clusters: 0 };
      codes.set(code, { n: of.n + n, clusters: of.clusters + 1 });
    }
  const kinds = new Map();
  for (const c of clusters) {
    const s = standing(c), key = s.word;
    const k = kinds.get(key) ?? { n: 0, s };
    kinds.set(key, { n: k.n + 1, s });
  }
  return [el("h1", null, "Fleet"),
    f.standsBy ? el("p", { class: "notice" }, "This replica stands by: another one holds the Lease.") : "",
    f.apis.map((a) => [el("p", { class: "big" }, el("strong", null, number(a.updated)), ` of ${many(a.total, a.unit, a.units)} updated`,
      f.apis.length > 1 ? el("span", { class: "more" }, said(a.name)) : ""),
      bar(a.updated, a.updating, a.total, `${a.units} updated`),
      el("dl", { class: "tiles" }, tile(number(clusters.length), clusters.length === 1 ? "cluster" : "clusters"), tile(number(a.updating), "updating"),
        tile(number(a.degraded), "degraded", a.degraded ? "trouble" : ""), tile(number(f.held), "held", f.held ? "held" : ""))]),
    el("section", { "aria-labelledby": "h-progress" }, el("h2", { id: "h-progress" }, "Progress"),
      plot(fleetHistory, Date.now() / 1000, plotWidth(), f.apis[0]?.units ?? "units", "The fleet")),
    el("section", { "aria-labelledby": "h-holds" }, el("h2", { id: "h-holds" }, "What is held"),
      codes.size === 0 ? el("p", { class: "empty good" }, shape("done"), "Nothing is held.")
        : table("Holds by code", ["Code", capital(f.apis[0]?.units ?? "units"), "Clusters"], [...codes].sort((a, b) => wantsEye(b[0]) - wantsEye(a[0]) || b[1].n - a[1].n).map(([code, k]) =>
          el("tr", { "data-key": code }, el("th", { scope: "row" }, shape(wantsEye(code) ? "held" : "wait"), el("a", { href: link({}, { ...open, code, state: "" }) }, said(code))),
            el("td", { class: "n" }, number(k.n)), el("td", { class: "n" }, number(k.clusters)))))),
    el("section", { "aria-labelledby": "h-states" }, el("h2", { id: "h-states" }, "Clusters"),
      table("Clusters by how they do", ["State", "Clusters"], [...kinds].sort((a, b) => b[1].s.rank - a[1].s.rank).map(([word, k]) =>
        el("tr", { "data-key": word }, el("th", { scope: "row" }, stateLink(k.s, word)), el("td", { class: "n" }, number(k.n)))))),
    newest(""), policies(),
    commands([["windlass status", "the same in a terminal"], ["windlass plan", "what would move next, and why the rest waits"], ["windlass events -w", "what was said on objects, as it comes"]]),
    el("p", { class: "foot" }, `Windlass ${f.version}, at work since `, time(f.startedAt))];
}

// The word leads to the clusters that are so, where the list can be asked for them.
function stateLink(s, word) {
  const as = { Held: "held", Moving: "moving", Done: "done", Degraded: "trouble", Halted: "trouble" }[word] ?? (s.rank === 6 || s.rank === 3 ? word : "");
  return as ? el("a", { href: link({}, { ...open, state: as, code: "" }) }, state(s.kind, word)) : state(s.kind, word);
}

function policies() {
  return el("section", { "aria-labelledby": "h-policies" }, el("h2", { id: "h-policies" }, "Policies"),
    live.policies.length === 0 ? el("p", { class: "empty" }, "None is loaded.")
      : table("Policy packs", ["Pack", "Version", "Content", "Answers", "Loaded"], live.policies.flatMap((p) => [
        el("tr", { "data-key": p.folder + p.digest }, el("th", { scope: "row" }, state(p.refused || p.fault ? "trouble" : "done", p.name || p.folder)),
          el("td", null, said(p.version || "–"), p.stock ? el("span", { class: "more" }, "stock") : ""),
          el("td", null, el("code", { title: p.digest }, short(p.digest) || "–")), el("td", null, p.hooks.map((h, i) => [i ? ", " : "", said(h)])),
          el("td", null, p.loadedAt ? time(p.loadedAt) : "never")),
        p.refused ? el("tr", { class: "note" }, el("td", { colspan: "5" }, el("strong", null, "Refused, the last good one stays: "), said(p.refused))) : "",
        p.fault ? el("tr", { class: "note" }, el("td", { colspan: "5" }, el("strong", null, `Fails in ${p.fault.hook}, ${many(p.fault.count, "time", "times")}: `), said(p.fault.reason))) : "",
      ].filter(Boolean))));
}

function waitingView(c) {
  if (detail.error) return [el("p", { class: "notice" }, "What is inside cannot be shown: ", said(detail.error)), el("p", null, el("button", { type: "button", "data-action": "again" }, "Try again"))];
  return [el("p", { class: "hint" }, `Asking what ${printable(c)} is doing…`)];
}

function clusterHead(c, s) {
  return [el("p", { class: "headline" }, state(s.kind, s.word), c.state !== s.word ? el("span", { class: "more" }, "connection: ", said(c.state)) : "",
    c.since ? el("span", { class: "more" }, "since ", time(c.since)) : ""),
  c.lastError ? el("p", { class: "notice" }, said(c.lastError)) : ""];
}

function clusterView(c) {
  const s = standing(c);
  const parts = [crumbs(["Fleet", {}], [c.name, { cluster: c.name }]), el("h1", null, said(c.name)), clusterHead(c, s)];
  const labels = Object.entries(c.labels ?? {}).filter(([k]) => !k.startsWith("sigs.k8s.io/"));
  if (labels.length) parts.push(el("ul", { class: "labels", "aria-label": "Labels" }, labels.slice(0, 30).map(([k, v]) => el("li", null, said(`${k}=${v}`)))));
  const doc = detail.name === c.name ? detail.doc : null;
  const rows = c.apis.flatMap((a) => a.rows.map((r) => ({ a, r })));
  for (const a of c.apis)
    if (a.lastError && a.lastError !== c.lastError) parts.push(el("p", { class: "notice" }, said(a.name), ": ", said(a.lastError)));
  if (rows.length === 0) parts.push(el("p", { class: "empty" }, down.has(c.state) ? "Nothing is known of its inside." : "Nothing here is asked to move."));
  else if (rows.length > 3) parts.push(table("What moves here", [capital(apiWords(c.apis[0].name).row), "Updated", "Held", "Slots", "Target"], rows.map(({ a, r }) =>
    el("tr", { "data-key": a.name + r.name }, el("th", { scope: "row" }, el("a", { href: link({ cluster: c.name, api: a.name, row: r.name }) }, said(r.name))),
      el("td", { class: "n" }, `${number(r.updated)}/${number(r.total)}`), el("td", { class: "n" }, number(sum(Object.values(r.holds), (n) => n))),
      el("td", { class: "n" }, `${r.occupied}/${r.capacity}`), el("td", null, el("code", { title: r.target }, short(r.target)))))));
  else if (!doc) parts.push(waitingView(c.name));
  else for (const { a, r } of rows) parts.push(rowSection(c, a, r, doc));
  parts.push(newest(c.name), commands([
    [command("windlass status --cluster {}", c.name), "the same in a terminal"], [command("windlass plan --cluster {}", c.name), "what would move next, and why the rest waits"],
    [command("windlass events --cluster {}", c.name), "what was said on its objects"]]));
  return parts;
}

// What a person may want to do with a row; the page only says how.
function rowCommands(c, a, r) {
  const { edits, command: family } = apiWords(a.name);
  if (family) return familyCommands(family, r);
  if (!edits) return "";
  const paused = Boolean(r.holds.paused);
  return commands([
    r.offered ? [command("windlass rollout approve {} --cluster {}", r.name, c.name), `let it move to ${short(r.offered)}`] : [""],
    [command(`windlass rollout ${paused ? "resume" : "pause"} {} --cluster {}`, r.name, c.name), paused ? "go on" : `let no further ${apiWords(a.name).unit} start`],
    [command("windlass rollout history {} --cluster {}", r.name, c.name), "what it was asked to run before, and who asked"],
    [command("windlass rollout undo {} --cluster {}", r.name, c.name), "ask for what it had before"],
    [command("kubectl get {} {} -o yaml", edits.resource, r.name), "its object, on its cluster"],
  ], "The first ones show what they would do; with --yes they do it.");
}

// Of a row that is said once at home: its commands name no cluster.
function familyCommands(family, r) {
  const of = (verb, what) => [command(`windlass ${family} ${verb} {}`, r.name), what];
  return commands([
    of("status", "each cluster, and why it waits"), of("plan", "what is done next"), of("diff", "what clusters would get otherwise than they have"),
    of("history", "its revisions, and what came of them"),
    r.offered ? of("approve", `let it move to ${short(r.offered)}`) : [""],
    r.holds.paused ? of("resume", "go on") : of("pause", "let no further cluster begin"),
    of("undo", "ask for the revision before"), r.halted ? of("retry", "try again what failed") : [""],
  ], "Those that change something show it first; with --yes they do it.");
}

function unitCommands(c, u, words) {
  const [ns, name] = u.name.includes("/") ? u.name.split("/") : ["", u.name];
  return commands([[command("windlass explain {}", `${c.name}/${u.name}`), "why it waits"],
    [command("windlass events --cluster {} --for {}", c.name, name), "what was said on it"],
    words.kubectl ? [ns ? command("kubectl -n {} describe {} {}", ns, words.kubectl, name) : command("kubectl describe {} {}", words.kubectl, name), "its object, on its cluster"] : [""]]);
}

const rowOf = (doc, words, name) => (doc?.cluster[words.rows] ?? []).find((r) => r.name === name);

function rowSection(c, a, r, doc) {
  const words = apiWords(a.name), full = rowOf(doc, words, r.name), key = `${a.name}/${r.name}`;
  const id = "h-row-" + c.apis.indexOf(a) + "-" + a.rows.indexOf(r);
  const to = { cluster: c.name, api: a.name, row: r.name };
  const since = doc?.since?.[key] ?? {};
  return el("section", { class: "row-of", "aria-labelledby": id, "data-key": key },
    el("h2", { id }, capital(words.row), " ", open.row ? said(r.name) : el("a", { href: link(to) }, said(r.name))),
    r.halted ? el("p", { class: "notice" }, shape("trouble"), "Halted: too many are in trouble, so no other unit starts.") : "",
    el("p", { class: "big small" }, el("strong", null, number(r.updated)), ` of ${many(r.total, words.unit, words.units)} updated`,
      r.target ? [" to ", el("code", { title: r.target }, short(r.target))] : "",
      el("span", { class: "more" }, `${r.occupied} of ${many(r.capacity, "slot", "slots")} in use`)),
    problemsOf(full ? full.problems : r.problems, to),
    bar(r.updated, r.updating, r.total, `${words.units} updated`),
    plot(doc?.history?.[key], Date.now() / 1000, plotWidth(), words.units, r.name),
    full ? [holdsOf(full, since, to, words), unitsOf(full, to, words, r.columns ?? [])] : waitingView(c.name));
}

// What is wrong by its conditions: of the row itself, or of the unit that is named.
function problemsOf(problems, to) {
  return problems.slice(0, 50).map((p) => el("p", { class: "notice", "data-key": `${p.unit ?? ""}/${p.condition}` }, shape("trouble"),
    p.unit ? [el("a", { href: link({ ...to, unit: p.unit }) }, said(p.unit)), ": "] : "", said(p.condition), " (", said(p.reason), ")", p.message ? [": ", said(short(p.message))] : ""));
}

function holdsOf(row, since, to, words) {
  const groups = new Map();
  for (const h of row.holds) {
    const key = h.code + "\0" + h.reason + "\0" + h.releasedBy;
    const g = groups.get(key) ?? { ...h, units: [] };
    g.units.push(h.unit);
    groups.set(key, g);
  }
  const sorted = [...groups.values()].sort((a, b) => wantsEye(b.code) - wantsEye(a.code) || b.units.length - a.units.length);
  return el("section", { class: "holds", "aria-label": "What is held" },
    sorted.length === 0 ? el("p", { class: "empty good" }, shape("done"), "Nothing is held.")
      : el("ul", null, sorted.slice(0, 50).map((g) => el("li", { "data-key": g.code + g.units[0], class: wantsEye(g.code) ? "eye" : "" },
        el("p", { class: "why" }, shape(wantsEye(g.code) ? "held" : "wait"), el("code", { class: "code" }, said(g.code)), " ", said(short(g.reason))),
        el("p", { class: "release" }, "Released by: ", said(short(g.releasedBy)),
          since[g.units[0]] ? [" · since ", time(since[g.units[0]].at, since[g.units[0]].atLeast)] : "",
          g.askedAgain ? [" · ", nextLook(g)] : ""),
        el("p", { class: "who" }, g.units.slice(0, 12).map((u) => el("a", { href: link({ ...to, unit: u }) }, said(u))),
          g.units.length > 12 ? ` and ${number(g.units.length - 12)} more ${words.units}` : ""))),
        sorted.length > 50 ? el("li", null, `and ${number(sorted.length - 50)} more reasons`) : ""));
}

function kindOf(u, hold, row) {
  if (u.trouble || u.standing === "trouble" || row.problems.some((p) => p.unit === u.name)) return "trouble";
  if (hold) return wantsEye(hold.code) ? "held" : "wait";
  return u.standing === "done" ? "done" : "busy";
}

// What an API says of a unit: yes or no, a digest, a word.
function cell(v) {
  if (typeof v === "boolean") return v ? "yes" : "no";
  const text = String(v ?? ""), brief = short(text);
  return text === "" ? "–" : brief === text ? said(text) : el("code", { title: text }, brief);
}

function unitsOf(row, to, words, columns) {
  const holds = new Map(row.holds.map((h) => [h.unit, h]));
  const rank = { trouble: 0, held: 1, busy: 2, wait: 3, done: 4 };
  const order = new Intl.Collator("en", { numeric: true });
  const all = row.units.map((u) => ({ u, hold: holds.get(u.name), kind: kindOf(u, holds.get(u.name), row) }))
    .sort((a, b) => rank[a.kind] - rank[b.kind] || order.compare(a.u.name, b.u.name));
  const most = more * 200;
  return [table(`${words.units} of ${row.name}`, [capital(words.unit), "State", "Held by", ...columns.map((k) => capital(spaced(k)))],
    all.slice(0, most).map(({ u, hold, kind }) => el("tr", { "data-key": u.name },
      el("th", { scope: "row" }, el("a", { href: link({ ...to, unit: u.name }) }, said(u.name))),
      el("td", null, state(kind, u.state)),
      el("td", null, hold ? said(hold.code) : ""),
      columns.map((k) => el("td", null, cell(u[k])))))),
  all.length > most ? el("p", null, el("button", { type: "button", "data-action": "more" }, `Show more (${number(all.length - most)} are not shown)`)) : ""];
}

function unitView(c, a, row, full, doc) {
  const words = apiWords(a.name), u = full.units.find((x) => x.name === open.unit);
  const to = { cluster: c.name, api: a.name, row: row.name };
  const head = crumbs(["Fleet", {}], [c.name, { cluster: c.name }], [row.name, to], [open.unit, { ...to, unit: open.unit }]);
  if (!u) return [head, el("h1", null, said(open.unit)), el("p", { class: "empty" }, `There is no such ${words.unit} in ${words.row} `, said(row.name), " any more.")];
  const hold = full.holds.find((h) => h.unit === u.name), kind = kindOf(u, hold, full);
  const since = doc.since?.[`${a.name}/${row.name}`]?.[u.name];
  return [head, el("h1", null, said(u.name)), el("p", { class: "headline" }, state(kind, u.state)),
    problemsOf(full.problems.filter((p) => !p.unit || p.unit === u.name), to),
    hold ? el("section", { class: "hold " + kind, "aria-label": "Why it waits" },
      el("p", { class: "why" }, shape(wantsEye(hold.code) ? "held" : "wait"), el("code", { class: "code" }, said(hold.code)), " ", said(short(hold.reason))),
      el("dl", { class: "facts" }, el("dt", null, "released by"), el("dd", null, said(short(hold.releasedBy))),
        since ? [el("dt", null, "since"), el("dd", null, time(since.at, since.atLeast))] : "",
        hold.askedAgain ? [el("dt", null, "its policy is"), el("dd", null, nextLook(hold))] : ""))
      : el("p", { class: "empty good" }, kind === "done" ? [shape("done"), "Nothing holds it: it runs the target."] : [shape("busy"), "Nothing holds it: it is on its way."]),
    el("dl", { class: "facts" }, Object.entries(u).filter(([k]) => !["name", "standing"].includes(k)).map(([k, v]) => [el("dt", null, spaced(k)),
      el("dd", null, typeof v === "boolean" ? (v ? "yes" : "no") : v === "" ? "–" : said(v))]),
      el("dt", null, "target"), el("dd", null, said(full.targetDigest || "–"))),
    unitCommands(c, u, words)];
}

function openView() {
  if (open.view === "timeline") return timelineView();
  if (open.view === "nowhere") return nowhereView();
  if (!open.cluster) return fleetView();
  const c = live.clusters.get(open.cluster);
  if (!c) return [crumbs(["Fleet", {}], [open.cluster, {}]), el("h1", null, said(open.cluster)),
    el("p", { class: "empty" }, live.fleet ? "The fleet has no cluster of that name." : "Asking the service what it knows…")];
  if (!open.row) return clusterView(c);
  const a = c.apis.find((x) => x.name === open.api), row = a?.rows.find((r) => r.name === open.row);
  const head = [crumbs(["Fleet", {}], [c.name, { cluster: c.name }], [open.row, {}])];
  if (!row) return [head, el("h1", null, said(open.row)), el("p", { class: "empty" }, "There is nothing of that name in ", said(c.name), ".")];
  const doc = detail.name === c.name ? detail.doc : null, full = rowOf(doc, apiWords(a.name), row.name);
  if (open.unit) return full ? unitView(c, a, row, full, doc) : [head, el("h1", null, said(open.unit)), waitingView(c.name)];
  return [head, el("h1", null, said(c.name)), clusterHead(c, standing(c)), rowSection(c, a, row, doc), rowCommands(c, a, row), newest(c.name)];
}

// ---- What happened

const whole = new Timeline(0, () => later()), few = new Timeline(6, () => later());

// An entry about the object of a row leads to it, any other to its cluster.
function linkOf(e) {
  const [kind, name] = String(e.about ?? "").split("/");
  const api = live.fleet?.apis.find((a) => a.edits?.kind === kind);
  return link(api && name ? { cluster: e.cluster, api: api.name, row: name } : { cluster: e.cluster });
}

function newest(cluster) {
  return el("section", { "aria-labelledby": "h-newest" }, el("h2", { id: "h-newest" }, "Timeline"),
    few.error ? el("p", { class: "hint" }, said(few.error)) : !few.entries ? el("p", { class: "hint" }, "Asking what happened…")
      : few.entries.length === 0 ? el("p", { class: "empty" }, "Nothing has happened since this process began.") : entries(few.entries, linkOf, time, !cluster),
    few.next ? el("p", null, el("a", { href: link({ view: "timeline", of: cluster }) }, "The whole timeline")) : "");
}

function timelineView() {
  const all = whole.entries, n = all?.length ?? 0;
  return [crumbs(...[["Fleet", {}], open.of ? [open.of, { cluster: open.of }] : null, ["Timeline", {}]].filter(Boolean)), el("h1", null, "Timeline"),
    el("form", { class: "ask", role: "search", "aria-label": "Search the timeline" },
      el("label", { class: "search" }, el("span", null, "Search"), el("input", { id: "search-time", type: "search", value: open.t, "aria-keyshortcuts": "/" }))),
    whole.error ? [el("p", { class: "notice" }, said(whole.error)), el("p", null, el("button", { type: "button", "data-action": "again" }, "Try again"))]
      : el("p", { class: "count", role: "status" }, !all ? "Asking what happened…" : n === 0 ? (open.t ? "Nothing of that is kept." : "Nothing has happened since this process began.")
        : `${many(n, "entry", "entries")}, the newest first${whole.next ? "; there may be older ones" : ""}`),
    all ? entries(all, linkOf, time, true) : "",
    whole.next ? el("p", null, el("button", { type: "button", "data-action": "older" }, "Older")) : "",
    el("p", { class: "foot" }, "Kept are the newest of this process: Events that it wrote, states of clusters, policies, and who asked for which target. After a restart the Events of before are known to ",
      el("code", null, "windlass events"), ".")];
}

function nowhereView() {
  return [crumbs(["Fleet", {}], ["Not found", {}]), el("h1", null, "Not found"), el("p", { class: "empty" }, "This page has nothing at that address.")];
}

function followTimeline() {
  if (!live.timeline) return;
  if (open.view === "timeline") whole.follow(open.t, open.of, live.timeline.revision);
  else if (!open.unit) few.follow("", open.cluster, live.timeline.revision);
}

// What is inside the open cluster is asked for when its line says that it changed, one question at a time.
async function refresh() {
  const c = live.clusters.get(open.cluster);
  if (!c) return;
  if (detail.name !== c.name) detail = { name: c.name, doc: null, error: "", version: 0, asked: 0, busy: false };
  const mine = detail;
  if (mine.error && mine.failed !== c.version) mine.error = "";
  if (mine.busy || (mine.doc && mine.version >= c.version) || mine.error) return;
  mine.busy = true;
  const wait = mine.asked + 1000 - performance.now();
  if (wait > 0) await new Promise((done) => setTimeout(done, wait));
  mine.asked = performance.now();
  try {
    mine.doc = await load("cluster?name=" + encodeURIComponent(c.name));
    mine.version = mine.doc.version;
  } catch (e) {
    mine.error = e.message;
    mine.failed = c.version;
  }
  mine.busy = false;
  if (detail !== mine) return;
  later();
  refresh();  // it has changed meanwhile, perhaps
}

async function loadHistory() {
  try {
    fleetHistory = (await load("fleet")).history;
    later();
  } catch { /* it comes with what changes */ }
}
function noteProgress() {
  const f = live.fleet;
  if (!f || !live.at) return;
  const total = (name) => sum(f.apis, (a) => a[name]);
  const point = [Date.parse(live.at) / 1000, total("total"), total("updated"), total("updating"), total("degraded"), f.held];
  const last = fleetHistory.points.at(-1);
  if (last && last.slice(1).every((n, i) => n === point[i + 1])) return;
  fleetHistory.points.push(point);
  if (fleetHistory.points.length > 480) loadHistory();
}

// ---- Drawing, once per picture

// A status is spoken when its words change, so they are only set where they do.
function tell(where, words) {
  where.hidden = !words;
  if (where.textContent !== printable(words)) where.textContent = printable(words);
}
function brakeWords(b) {
  if (!b) return "";
  const limits = [b.only.length ? `only of ${b.only.join(", ")}` : "", b.selector ? `only on clusters with ${b.selector}` : ""].filter(Boolean);
  return printable(`The brake is on${b.since ? ` since ${b.since}` : ""}${b.by ? `, by ${b.by}` : ""}${b.why ? `: ${b.why}` : ""}${limits.length ? ` (${limits.join("; ")})` : ""}. ` +
    `${b.problem ? `Its object stops everything, since ${b.problem}. ` : ""}Nothing begins, and what is under way ends; windlass brake off lets it go on.`);
}
function speedWords(most) {
  const held = most ? sum([...live.clusters.values()], (c) => standing(c).codes["speed-limit"] ?? 0) : 0;
  if (!held) return "";
  const limits = [most.fleet ? `${number(most.fleet)} in the fleet` : "", most.cluster ? `${number(most.cluster)} on a cluster` : ""].filter(Boolean);
  return printable(`The speed limit holds ${number(held)}: of changes, ${limits.join(" and ")} may begin in a minute. Their turn comes by itself.`);
}

let drawing = false;
function later() {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    drawAll();
  });
}

function drawAll() {
  document.body.dataset.live = live.state;
  document.body.dataset.open = open.view === "nowhere" ? "fleet" : open.view;
  $("to-timeline").href = link({ view: "timeline", of: open.cluster || open.of });
  $("to-timeline").setAttribute("aria-current", open.view === "timeline" ? "page" : "false");
  followTimeline();
  const at = live.at ? new Date(live.at).toLocaleTimeString() : "";
  const lost = live.state === "lost" || live.state === "full";
  $("live").textContent = printable(live.state === "live" ? "live" : live.state === "loading" ? "connecting…" : "not connected");
  $("banner").hidden = !lost;
  $("banner").textContent = printable(live.state === "full"
    ? `As many readers as may be follow the fleet already; this page goes on as soon as one leaves.${at ? ` What it shows is of ${at}.` : ""}`
    : at ? `Not connected since ${at}. What you see is what was known then; it is tried again.` : "The service does not answer; it is tried again.");
  const f = live.fleet;
  tell($("memory"), f?.memory ? `The service ${f.memory}. Raise the limit: it ends itself before the kernel kills it.` : "");
  tell($("brake"), brakeWords(f?.brake));
  tell($("speed"), speedWords(f?.maxChanges));
  $("logout").hidden = !f?.asksToken;
  $("totals").textContent = printable(f ? `${many(f.clusters, "cluster", "clusters")} · ${f.apis.map((a) => `${number(a.updated)} of ${many(a.total, a.unit, a.units)} updated`).join(" · ")} · ${number(f.held)} held` : "");
  shown = chosen();
  drawFilters();
  const all = live.clusters.size;
  $("count").textContent = printable(!f ? "" : shown.length === all ? `${many(all, "cluster", "clusters")}, the worst first` : shown.length ? `${number(shown.length)} of ${many(all, "cluster", "clusters")}` : `None of ${many(all, "cluster", "clusters")} is like that.`);
  drawList();
  become($("detail"), el("main", null, openView()));
  const where = [open.view === "timeline" ? "Timeline" : open.view === "nowhere" ? "Not found" : "", open.of, open.unit, open.row, open.cluster].filter(Boolean).map(printable).join(" · ");
  document.title = (where ? where + " · " : "") + "Windlass";
}

let spokenAt = 0;
function speak() {
  const f = live.fleet;
  if (!f || performance.now() - spokenAt < 10_000) return;
  spokenAt = performance.now();
  const worst = [...live.clusters.values()].filter((c) => standing(c).rank >= 4).length;
  $("spoken").textContent = printable(`${f.apis.map((a) => `${a.updated} of ${a.total} ${a.units} updated`).join(", ")}, ${f.held} held, ${worst} ${worst === 1 ? "cluster needs" : "clusters need"} attention`);
}

// ---- Events

function goTo(to, replace) {
  if (location.hash === to || (to === "#/" && !location.hash)) return;
  if (replace) history.replaceState(null, "", to);
  else history.pushState(null, "", to);
  moved();
}
// What is being typed is one place in the history, so that the way back leads from search to search.
let typed = 0;
const goes = () => performance.now() - typed < 1500;

function moved() {
  const before = open;
  open = route();
  if (before.view !== open.view || before.of !== open.of || before.cluster !== open.cluster || before.row !== open.row || before.unit !== open.unit) {
    more = 1;
    if (before.cluster !== open.cluster && detail.error) detail.name = "";
    $("detail").scrollTop = 0;
    refresh();
    drawAll();
    const at = document.activeElement;
    if (!at || at === document.body || at.closest("#detail") || !at.checkVisibility()) $("detail").focus({ preventScroll: true });
    return;
  }
  later();
}
addEventListener("hashchange", moved);
addEventListener("popstate", () => {
  typed = 0;
  moved();
  $("search").value = open.q;
  if ($("search-time")) $("search-time").value = open.t;
});
list.addEventListener("scroll", () => requestAnimationFrame(drawList), { passive: true });
addEventListener("resize", later);
$("filters").addEventListener("submit", (e) => e.preventDefault());
const filter = (name, value, replace) => {
  list.scrollTop = 0;
  goTo(link(open, { ...open, [name]: value }), replace);
};
$("search").addEventListener("input", (e) => {
  filter("q", e.target.value, goes());
  typed = performance.now();
});
$("detail").addEventListener("input", (e) => {
  if (e.target.id !== "search-time") return;
  goTo(link({ ...open, t: e.target.value }), goes());
  typed = performance.now();
});
$("detail").addEventListener("submit", (e) => e.preventDefault());
$("keys").addEventListener("click", () => $("help").showModal());
$("single").checked = localStorage.getItem("single-keys") !== "off";
$("single").addEventListener("change", (e) => localStorage.setItem("single-keys", e.target.checked ? "on" : "off"));
$("state").addEventListener("change", (e) => filter("state", e.target.value));
$("code").addEventListener("change", (e) => filter("code", e.target.value));
$("logout").addEventListener("click", async () => {
  await fetch("logout", { method: "POST" });
  location.reload();
});
document.addEventListener("click", (e) => {
  const action = e.target.closest("[data-action]")?.dataset.action;
  if (action === "skip") {
    e.preventDefault();
    $("detail").focus();
  } else if (action === "more") {
    ++more;
    later();
  } else if (action === "older") {
    whole.older();
  } else if (action === "copy") {
    copy(e.target).then((told) => {
      $("spoken").textContent = printable(told);
      later();
    });
  } else if (action === "again") {
    detail.error = "";
    whole.again();
    refresh();
    later();
  }
});

function focusRow(at) {
  const i = Math.max(0, Math.min(shown.length - 1, at));
  if (i * rowHeight < list.scrollTop) list.scrollTop = i * rowHeight;
  else if ((i + 1) * rowHeight > list.scrollTop + list.clientHeight) list.scrollTop = (i + 1) * rowHeight - list.clientHeight;
  drawList();
  [...listed.children].find((li) => li.getAttribute("aria-posinset") === String(i + 1))?.firstElementChild.focus({ preventScroll: true });
}
addEventListener("keydown", (e) => {
  if (e.altKey || e.ctrlKey || e.metaKey || $("help").open) return;
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName);
  const alone = !typing && $("single").checked;
  if (e.key === "/" && alone) {
    e.preventDefault();
    const to = $("search-time") ?? $("search");
    to.focus();
    to.select();
    return;
  }
  if (e.key === "?" && alone) {
    e.preventDefault();
    $("help").showModal();
    return;
  }
  if (e.key === "t" && alone) {
    goTo(link({ view: "timeline", of: open.cluster || open.of }));
    return;
  }
  if (e.key === "Escape") {
    if (e.target === $("search")) {
      $("search").value = "";
      filter("q", "");
      $("search").blur();
    } else if (open.t && e.target.id === "search-time") {
      e.target.value = "";
      goTo(link({ ...open, t: "" }));
    } else if (open.view === "timeline") goTo(link({ cluster: open.of }));
    else if (open.unit) goTo(link({ ...open, unit: "" }));
    else if (open.row) goTo(link({ cluster: open.cluster }));
    else if (open.cluster) goTo(link({}));
    return;
  }
  const row = e.target.closest?.("#list li");
  const at = row ? Number(row.getAttribute("aria-posinset")) - 1 : -1;
  const page = Math.max(1, Math.floor(list.clientHeight / rowHeight) - 1);
  const steps = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: shown.length - 1 };
  if (!(e.key in steps) || (e.target.tagName === "SELECT")) return;
  const inSearch = e.target === $("search") && e.key === "ArrowDown";
  if (!row && !inSearch && !(e.target === document.body && /^Arrow/.test(e.key))) return;
  e.preventDefault();
  focusRow(steps[e.key]);
});

live.addEventListener("change", () => {
  noteProgress();
  refresh();
  later();
  speak();
});
live.addEventListener("state", () => {
  if (live.state === "live") loadHistory();
  drawAll();
});
// Times go on while nothing else does.
setInterval(() => {
  if (!document.hidden && live.state === "live") later();
}, 10_000);
drawAll();
live.start();
