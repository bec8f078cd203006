// Says that the last token was another one, and keeps what the address had open.
if (new URLSearchParams(location.search).has("refused"))
  document.getElementById("refused").hidden = false;
const form = document.querySelector("form");
form.action = "login" + location.hash;
