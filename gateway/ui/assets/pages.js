// Everything works without this script; it only says that something is going on, copies
// and hides a generated password, and moves the focus to what went wrong.
"use strict";
const alert = document.querySelector(".alert");
if (alert) alert.focus();

for (const form of document.querySelectorAll("form[method=post]")) {
  form.addEventListener("submit", () => {
    const button = form.querySelector("button");
    const text = button.textContent;
    button.disabled = true;
    button.setAttribute("aria-busy", "true");
    button.textContent = "Working …";
    const slow = setTimeout(() => { button.textContent = "The directory is slow …"; }, 3000);
    addEventListener("pageshow", () => { // with the back button
      clearTimeout(slow);
      button.disabled = false;
      button.removeAttribute("aria-busy");
      button.textContent = text;
    }, { once: true });
  });
}

const shown = document.querySelector("[data-hide]");
if (shown) {
  const hide = () => shown.replaceChildren(document.createTextNode("The password is hidden now."));
  setTimeout(hide, Number(shown.dataset.hide) * 1000);
  document.addEventListener("visibilitychange", () => { if (document.hidden) hide(); });
  const copy = shown.querySelector("[data-copy]");
  if (navigator.clipboard) {
    copy.hidden = false;
    copy.addEventListener("click", async () => {
      await navigator.clipboard.writeText(document.getElementById(copy.dataset.copy).textContent);
      copy.textContent = "Copied";
    });
  }
}
