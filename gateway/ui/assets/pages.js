// Everything works without this script; it only says that something is going on, keeps
// progress up to date, copies and hides a generated password, and moves the focus to what
// went wrong.
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

// A part that changes is shown as it is now, again and again, until it does not change any more.
// X-Renew says that nobody has asked for that, so that the session ends although the page is open.
const renew = async (part) => {
  try {
    const answer = await fetch(location.href, { headers: { "Accept": "text/html", "X-Renew": "1" } });
    if (answer.status === 401) { location.reload(); return; } // the session has ended
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const now = page.getElementById(part.getAttribute("aria-labelledby"))?.parentElement;
    if (!now) return;
    if (!now.dataset.refresh) { location.reload(); return; } // with what became of all items
    part.replaceChildren(...now.children);
  } catch { /* the gateway is away: it is tried again */ }
  setTimeout(renew, Number(part.dataset.refresh) * 1000, part);
};
for (const part of document.querySelectorAll("[data-refresh]")) {
  setTimeout(renew, Number(part.dataset.refresh) * 1000, part);
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
