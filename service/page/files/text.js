// The one door through which a text gets into the page: as a text node or an attribute that is only read. There is no
// way to make markup of a string here, and the page's policy (require-trusted-types-for) lets no other file do it.

// What turns, hides or breaks other characters, as reactor/printable has it: shown as an escape, so that a person sees
// the attempt.
const unfit = /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\uffff\u{e0000}-\u{e0fff}]|\p{Cs}/gu;
const tooManyMarks = /(\p{M}{8})\p{M}+/gu;
const longest = 4096;

export function printable(text) {
  let all = String(text);
  if (all.length > longest) all = all.slice(0, longest) + "…";
  return all.replace(tooManyMarks, "$1…").replace(unfit, (c) => {
    if (c === "\n" || c === "\t" || c === "\r") return " ";
    return "\\u" + c.codePointAt(0).toString(16).padStart(4, "0");
  });
}

const namespaces = { svg: "http://www.w3.org/2000/svg" };
const allowed = /^(class|id|href|role|title|tabindex|scope|colspan|type|value|for|lang|datetime|hidden|open|disabled|selected|aria-[a-z]+|data-[a-z]+)$/;
const allowedInDrawings = /^(class|role|viewBox|preserveAspectRatio|width|height|x|y|x1|x2|y1|y2|cx|cy|r|rx|d|points|fill|transform|text-anchor|focusable|aria-[a-z]+|data-[a-z]+)$/;

function fill(element, attributes, children, names) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (!names.test(name)) throw new Error("no such attribute here: " + name);
    // Only places of this page.
    if (name === "href" && !String(value).startsWith("#")) throw new Error("a link out of the page");
    element.setAttribute(name, value === true ? "" : printable(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false || child === "") continue;
    element.append(child instanceof Node ? child : document.createTextNode(printable(child)));
  }
  return element;
}

export function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children, allowed);
}
export function draw(tag, attributes, ...children) {
  return fill(document.createElementNS(namespaces.svg, tag), attributes, children, allowedInDrawings);
}
// What a cluster says, apart from the sentence around it: its direction stays its own.
export function said(text) {
  return el("bdi", null, text);
}

// A digest by its first digits.
export const short = (text) => String(text ?? "").replace(/sha256:([0-9a-f]{12})[0-9a-f]{52}/g, "$1");

// Makes `old` look like `fresh` and keeps what is the same: focus, scroll positions and selections stay.
export function become(old, fresh) {
  const now = [...old.childNodes], then = [...fresh.childNodes];
  for (let i = 0; i < Math.max(now.length, then.length); ++i) {
    const a = now[i], b = then[i];
    if (!b) a.remove();
    else if (!a) old.append(b);
    else if (a.nodeType === Node.TEXT_NODE && b.nodeType === Node.TEXT_NODE) {
      if (a.data !== b.data) a.data = b.data;
    } else if (a.nodeType !== Node.ELEMENT_NODE || a.nodeName !== b.nodeName ||
               a.getAttribute("data-key") !== b.getAttribute("data-key")) a.replaceWith(b);
    else {
      for (const { name } of [...a.attributes])
        if (!b.hasAttribute(name) && !(name === "open" && a.nodeName === "DETAILS")) a.removeAttribute(name);
      for (const { name, value } of b.attributes)
        if (a.getAttribute(name) !== value) a.setAttribute(name, value);
      become(a, b);
    }
  }
}
