// What happened when, and who did it: asked for a page at a time, searched by the service.
import { el, said, short } from "./text.js";
import { load } from "./live.js";
import { shape } from "./draw.js";

const page = 50, most = 200;

// One list of entries: that of a view, or the newest few.
export class Timeline {
  entries = null;  // null: not answered yet
  next = "";
  error = "";
  kept = 0;
  #asks = "";
  #at = -1;
  #busy = false;
  #asked = 0;

  constructor(few, later) {
    this.few = few;
    this.later = later;
  }

  // As of that revision; another question begins again. Asks once a second at most.
  async follow(words, cluster, revision) {
    const asks = JSON.stringify([words, cluster]);
    if (this.#asks !== asks) {
      this.#asks = asks;
      this.#at = -1;
      this.next = "";
      if (this.few) this.entries = null;
    } else if (this.#at === revision || this.error || (this.entries?.length ?? 0) > most) return;
    if (this.#busy) return;
    this.#busy = true;
    const wait = this.#asked + (this.#at === -1 ? 150 : 1000) - performance.now();
    if (wait > 0) await new Promise((done) => setTimeout(done, wait));
    const limit = this.few || Math.min(most, Math.max(page, this.entries?.length ?? 0));
    await this.#ask(limit, "", revision);
    this.#busy = false;
    this.later();
  }

  async older() {
    if (this.#busy || !this.next) return;
    this.#busy = true;
    await this.#ask(page, this.next, this.#at);
    this.#busy = false;
    this.later();
  }

  again() {
    this.error = "";
    this.#at = -1;
  }

  async #ask(limit, before, revision) {
    const asks = this.#asks, [words, cluster] = JSON.parse(asks);
    const q = new URLSearchParams({ limit });
    if (words) q.set("q", words);
    if (cluster) q.set("cluster", cluster);
    if (before) q.set("before", before);
    this.#asked = performance.now();
    try {
      const said = await load("timeline?" + q);
      if (asks !== this.#asks) return;
      this.entries = before ? [...this.entries, ...said.entries] : said.entries;
      this.next = said.next ?? "";
      this.kept = said.kept;
      this.#at = revision;
      this.error = "";
    } catch (e) {
      this.error = e.message;
    }
  }
}

// `linkTo(entry)` is where it leads, `time(text)` how a time is written.
export function entries(all, linkTo, time, withCluster) {
  return el("ol", { class: "timeline" }, all.map((e) => el("li", { "data-key": `${e.at} ${e.cluster ?? ""} ${e.about ?? ""} ${e.what}`, class: e.warning ? "warning" : "" },
    el("span", { class: "when" }, time(e.at)),
    el("span", { class: "what" }, shape(e.warning ? "trouble" : e.what === "Target" ? "busy" : "wait"), el("code", { class: "code" }, said(e.what)),
      withCluster && e.cluster ? [" ", el("a", { href: linkTo(e) }, said(e.cluster))] : "",
      e.about && e.about !== "Cluster/" + e.cluster ? [" ", el("span", { class: "about" }, said(e.about))] : "",
      e.times > 1 ? el("span", { class: "more" }, `${e.times} times`) : ""),
    el("span", { class: "text", title: e.text }, said(short(e.text))),
    e.by ? el("span", { class: "by" }, "by ", said(e.by)) : "")));
}
