// Commands of a terminal, to read and to copy: the page itself changes nothing.
import { el, printable } from "./text.js";

// A word as a shell takes it. None for what hides something, or would be an option.
function word(text) {
  const all = String(text);
  if (!all || all.startsWith("-") || printable(all) !== all) return null;
  return /^[\w.\/:@%+,=-]+$/.test(all) ? all : "'" + all.replaceAll("'", "'\\''") + "'";
}
// "windlass explain {}" with each {} a word of those; empty where one of them is none.
export function command(form, ...words) {
  const quoted = words.map(word);
  if (quoted.includes(null)) return "";
  return form.replaceAll("{}", () => quoted.shift());
}

// The last one that was copied, and how that went: shown on its button until another one is.
const last = { text: "", went: "" };

export function commands(all, hint) {
  const shown = all.filter(([text]) => text);
  if (shown.length === 0) return "";
  return el("section", { class: "commands", "aria-labelledby": "h-commands" }, el("h2", { id: "h-commands" }, "In a terminal"),
    el("ul", null, shown.map(([text, what]) => el("li", { "data-key": text },
      el("span", { class: "what" }, what), el("code", null, text),
      el("button", { type: "button", class: "copy", "data-action": "copy", "aria-label": `Copy the command: ${text}` },
        last.text === text && last.went === "copied" ? "Copied" : "Copy"),
      last.text === text && last.went === "refused" ? el("span", { class: "hint" }, "This browser lets no page copy. The command is selected: Ctrl+C or ⌘C copies it.") : ""))),
    hint ? el("p", { class: "hint" }, hint) : "");
}

// Copies what stands beside the button; where the browser refuses, selects it. Resolves to what is to be told.
export async function copy(button) {
  const code = button.parentElement.querySelector("code");
  last.text = code.textContent;
  try {
    await navigator.clipboard.writeText(last.text);
    last.went = "copied";
  } catch {
    last.went = "refused";
    const all = document.createRange();
    all.selectNodeContents(code);
    getSelection().removeAllRanges();
    getSelection().addRange(all);
  }
  return last.went === "copied" ? "Copied: " + last.text : "Selected, to be copied with the keyboard: " + last.text;
}
