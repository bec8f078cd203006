// What the service says, as it comes: the clusters' lines, the fleet's and the policies'.

const silence = 35_000;       // two heartbeats and some
const inBackground = 60_000;  // a hidden page gives its connection to others

export class Live extends EventTarget {
  clusters = new Map();
  fleet = null;
  policies = [];
  timeline = null;    // {revision, kept}
  at = null;          // of the last word
  state = "loading";  // live, lost, full, login
  bytes = 0;
  #source = null;
  #id = "";
  #pending = null;
  #wait = 1000;
  #timers = {};

  start() {
    document.addEventListener("visibilitychange", () => {
      clearTimeout(this.#timers.hidden);
      if (document.hidden) this.#timers.hidden = setTimeout(() => this.#close(), inBackground);
      else if (!this.#source) this.#connect();
    });
    // A page that the browser keeps for the way back holds no connection: there are six of them.
    addEventListener("pagehide", () => this.#close());
    addEventListener("pageshow", (e) => {
      if (e.persisted) this.#connect();
    });
    this.#connect();
  }

  #close() {
    this.#source?.close();
    this.#source = null;
    clearTimeout(this.#timers.silence);
  }

  #connect() {
    this.#close();
    clearTimeout(this.#timers.again);
    const source = new EventSource("events" + (this.#id ? "?since=" + encodeURIComponent(this.#id) : ""));
    this.#source = source;
    source.onmessage = (e) => this.#hear(e);
    source.onerror = () => this.#lost(source.readyState === EventSource.CLOSED);
    this.#expect();
  }

  #expect() {
    clearTimeout(this.#timers.silence);
    this.#timers.silence = setTimeout(() => this.#lost(true), silence);
  }

  #become(state) {
    if (this.state === state) return;
    this.state = state;
    this.dispatchEvent(new Event("state"));
  }

  async #lost(ended) {
    this.#pending = null;
    this.#become(this.state === "loading" ? "loading" : "lost");
    if (!ended) return;  // the browser tries again by itself
    this.#close();
    let status = 0;
    try {
      status = (await fetch("data/fleet", { cache: "no-store" })).status;
    } catch { /* no answer */ }
    if (status === 401) {
      this.#become("login");
      location.reload();
      return;
    }
    this.#become(status === 200 && this.state !== "live" ? "full" : "lost");
    this.#timers.again = setTimeout(() => this.#connect(), this.#wait);
    this.#wait = Math.min(this.#wait * 2, 30_000);
  }

  #hear(e) {
    this.#expect();
    this.bytes += e.data.length;
    const said = JSON.parse(e.data);
    if (said.full) this.#pending = { clusters: new Map(), changed: null, full: true };
    this.#pending ??= { clusters: this.clusters, changed: new Set(), full: false };
    const p = this.#pending;
    for (const [key, value] of Object.entries(said.set ?? {})) {
      if (key === "fleet") this.fleet = value;
      else if (key === "policies") this.policies = value;
      else if (key === "timeline") this.timeline = value;
      else if (key.startsWith("cluster/")) {
        p.clusters.set(value.name, value);
        p.changed?.add(value.name);
      }
    }
    for (const key of said.gone ?? []) {
      p.clusters.delete(key.slice("cluster/".length));
      p.changed?.add(key.slice("cluster/".length));
    }
    if (said.more) return;
    this.#id = e.lastEventId;
    this.#wait = 1000;
    this.clusters = p.clusters;
    this.#pending = null;
    this.at = said.at;
    this.#become("live");
    const touched = said.set || p.full;
    this.dispatchEvent(new CustomEvent(touched ? "change" : "beat", { detail: p.changed }));
  }
}

// One document, made when it is asked for.
export async function load(path) {
  const answer = await fetch("data/" + path, { cache: "no-store" });
  if (answer.status === 401) location.reload();
  if (!answer.ok) throw new Error((await answer.text()).trim() || "the service answered " + answer.status);
  return answer.json();
}
