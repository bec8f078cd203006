// Shapes for states, bars and the plot of a rollout.
import { draw, el } from "./text.js";

// Each kind has a shape of its own: colours only repeat it.
const shapes = {
  done: ["M8 1.5a6.5 6.5 0 1 0 0 13a6.5 6.5 0 0 0 0-13zM6.9 11.2 3.9 8.3l1.1-1.1 1.9 1.8 4.1-4.1 1.1 1.1z"],
  busy: ["M8 1.5a6.5 6.5 0 1 0 0 13a6.5 6.5 0 0 0 0-13zm0 1.6a4.9 4.9 0 0 1 0 9.8z"],
  held: ["M2 2h12v12H2zM5.2 4.8v6.4h2V4.8zm3.6 0v6.4h2V4.8z"],
  trouble: ["M8 1 15.5 14.5H.5zM7.1 5.6v4.6h1.8V5.6zm0 5.6v1.8h1.8v-1.8z"],
  old: ["M8 .8 15.2 8 8 15.2.8 8zM8 3.4 3.4 8 8 12.6 12.6 8z"],
  wait: ["M8 1.5a6.5 6.5 0 1 0 0 13a6.5 6.5 0 0 0 0-13zm0 1.7a4.8 4.8 0 1 1 0 9.6a4.8 4.8 0 0 1 0-9.6z"],
};

export function shape(kind) {
  return draw("svg", { class: "shape " + kind, viewBox: "0 0 16 16", width: 12, height: 12, "aria-hidden": "true", focusable: "false" },
    draw("path", { d: shapes[kind]?.[0] ?? shapes.wait[0] }));
}

// A state by shape and word.
export function state(kind, word) {
  return el("span", { class: "state " + kind }, shape(kind), el("bdi", null, word));
}

const share = (n, of) => (of > 0 ? Math.max(0, Math.min(100, (100 * n) / of)) : 0);

export function bar(done, moving, total, label) {
  const a = share(done, total), b = share(moving, total);
  return el("div", {
    class: "bar", role: "progressbar", "aria-label": label, "aria-valuemin": "0", "aria-valuemax": total,
    "aria-valuenow": done, "aria-valuetext": `${done} of ${total}`,
  }, draw("svg", { viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true", focusable: "false" },
    draw("rect", { class: "under", x: 0, y: 0, width: 100, height: 4 }),
    draw("rect", { class: "moving", x: a, y: 0, width: Math.min(b, 100 - a), height: 4 }),
    draw("rect", { class: "done", x: 0, y: 0, width: a, height: 4 })));
}

export const clock = (second, span) => {
  const t = new Date(second * 1000);
  const time = t.toLocaleTimeString([], span < 600 ? { hour: "2-digit", minute: "2-digit", second: "2-digit" } : { hour: "2-digit", minute: "2-digit" });
  return span > 86_400 ? t.toLocaleDateString([], { month: "short", day: "numeric" }) + " " + time : time;
};

const spaced = (n) => n.toLocaleString("en").replaceAll(",", "\u202f");
const series = [["updated", 2], ["held", 5], ["degraded", 4]];

// Steps from point to point, and on to now. `history` is {points: [[second, total, updated, updating, degraded, held]]}.
export function plot(history, now, width, units, name) {
  const points = history?.points ?? [];
  if (points.length === 0) return el("p", { class: "hint" }, "Nothing has moved yet.");
  const height = 148, left = 44, right = 12, top = 10, bottom = 22;
  const from = points[0][0], to = Math.max(now, from + 10), span = to - from;
  const most = Math.max(1, ...points.map((p) => p[1]));
  const x = (s) => left + ((s - from) / span) * (width - left - right);
  const y = (n) => height - bottom - (n / most) * (height - top - bottom);
  const round = (v) => Math.round(v * 10) / 10;
  const line = (column) => {
    let d = "";
    points.forEach((p, i) => {
      d += i === 0 ? `M${round(x(p[0]))} ${round(y(p[column]))}` : `H${round(x(p[0]))}V${round(y(p[column]))}`;
    });
    return d + `H${round(x(to))}`;
  };
  const last = points.at(-1);
  const has = (column) => points.some((p) => p[column] > 0);
  const words = `${name}: ${last[2]} of ${last[1]} ${units} updated, ${last[5]} held, ${last[4]} degraded at ${clock(to, span)}; ` +
    `${points[0][2]} were updated at ${clock(from, span)}`;
  const marks = (history.targets ?? []).filter((t) => t[1] && t[0] > from && t[0] <= to);
  const picture = draw("svg", { class: "plot", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": words },
    [0, 0.5, 1].map((f) => draw("path", { class: "grid", d: `M${left} ${round(y(most * f))}H${width - right}` })),
    draw("text", { class: "tick", x: left - 6, y: y(most) + 4, "text-anchor": "end" }, spaced(most)),
    draw("text", { class: "tick", x: left - 6, y: y(0) + 4, "text-anchor": "end" }, 0),
    draw("text", { class: "tick", x: left, y: height - 6 }, clock(from, span)),
    draw("text", { class: "tick", x: width - right, y: height - 6, "text-anchor": "end" }, clock(to, span)),
    marks.map((t) => draw("path", { class: "mark", d: `M${round(x(t[0]))} ${top}V${height - bottom}` })),
    draw("path", { class: "line total", d: line(1) }),
    draw("path", { class: "area", d: line(2) + `V${round(y(0))}H${round(x(from))}Z` }),
    series.filter(([, column]) => column === 2 || has(column))
      .map(([kind, column]) => draw("path", { class: "line " + kind, d: line(column) })));
  const legend = [["total", 1], ...series].filter(([, c]) => c < 3 || has(c)).map(([kind, column]) =>
    el("li", null, draw("svg", { viewBox: "0 0 18 8", width: 18, height: 8, "aria-hidden": "true", focusable: "false" },
      draw("path", { class: "line " + kind, d: "M0 4H18" })), `${spaced(last[column])} ${kind}`));
  if (marks.length > 0)
    legend.push(el("li", null, draw("svg", { viewBox: "0 0 18 8", width: 18, height: 8, "aria-hidden": "true", focusable: "false" },
      draw("path", { class: "mark", d: "M9 0V8" })), "another target"));
  return el("figure", { class: "progress" }, picture, el("figcaption", null, el("ul", { class: "legend" }, legend)));
}
