// The pages work without this file; it makes them quicker.
"use strict";
(() => {
  const root = document.documentElement, all = (s, at = document) => [...at.querySelectorAll(s)];
  root.classList.add("js");
  const live = document.createElement("p");
  live.className = "hide"; live.setAttribute("role", "status"); document.querySelector("main").append(live);
  const say = t => { live.textContent = t; };

  const text = (name, n) => document.getElementById("texts").dataset[name].replace("{n}", n);

  // Settings apply at once. The gateway stores them, and sets data-theme and data-keys itself.
  for (const r of all("[name=theme]")) r.onchange = () => { if (r.value) root.dataset.theme = r.value; else delete root.dataset.theme; };
  for (const k of all("[name=keys]")) k.onchange = () => { root.dataset.keys = k.checked ? "on" : "off"; };

  document.querySelector(".alert")?.focus();

  // A form is sent only once, and shows that it is busy.
  for (const form of all("form[method=post]")) {
    form.addEventListener("submit", e => {
      const button = e.submitter || form.querySelector("button");
      if (button.name) return; // if disabled, its value would not be sent
      const was = button.innerHTML;
      button.disabled = true; button.setAttribute("aria-busy", "true"); button.textContent = text("busy");
      const slow = setTimeout(() => { button.textContent = text("slow"); }, 3000);
      addEventListener("pageshow", () => { // with the back button
        clearTimeout(slow); button.disabled = false; button.removeAttribute("aria-busy"); button.innerHTML = was;
      }, { once: true });
    });
  }

  // The gateway sends the progress of a job. Each quarter is announced. At the end the page is updated, and the
  // focus stays. X-Renew marks that request as automatic, so it does not prolong the session.
  const finish = async () => {
    const answer = await fetch(location.href, { headers: { "Accept": "text/html", "X-Renew": "1" } }).catch(() => null);
    if (!answer?.ok) return location.reload(); // the session has ended
    const at = document.activeElement, main = document.querySelector("main");
    const key = at.id ? "#" + at.id : at.form ? `form[action="${at.form.getAttribute("action")}"] button` : at.getAttribute("href") ? `a[href="${at.getAttribute("href")}"]` : null;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html"), inside = main.contains(at);
    main.replaceChildren(...page.querySelector("main").children, live);
    if (inside) (key && main.querySelector(key) || main).focus();
    say(document.querySelector("[data-say]")?.textContent || "");
  };
  for (const part of all("[data-events]")) {
    const events = new EventSource(part.dataset.events);
    let said = -1;
    events.addEventListener("progress", e => {
      part.innerHTML = e.data;
      const quarter = Math.floor(part.querySelector("[data-percent]").dataset.percent / 25);
      if (quarter > said) { said = quarter; say(part.querySelector("[data-say]").textContent); }
    });
    events.addEventListener("end", () => { events.close(); finish(); });
    events.onerror = () => { if (events.readyState === EventSource.CLOSED) location.reload(); };
  }

  // Notes are announced once: on the next page, or on an open one.
  const notes = document.querySelector("#notes");
  if (notes?.textContent.trim()) setTimeout(() => say(notes.textContent), 300);
  if (notes?.dataset.notes && !document.querySelector("[data-events]")) {
    const events = new EventSource(notes.dataset.notes);
    events.addEventListener("note", e => { notes.insertAdjacentHTML("beforeend", e.data); say(notes.lastElementChild.textContent); });
    events.addEventListener("end", () => events.close());
  }

  const secret = document.querySelector("[data-hide]");
  if (secret) {
    const hide = () => { secret.textContent = text("hidden"); };
    setTimeout(hide, 1000 * secret.dataset.hide);
    document.addEventListener("visibilitychange", () => { if (document.hidden) hide(); });
  }

  // "/" moves the focus to the search box.
  addEventListener("keydown", e => {
    const box = document.querySelector("#find");
    if (e.key === "/" && box && !e.ctrlKey && !e.metaKey && !e.altKey && root.dataset.keys !== "off" && !e.target.closest("input:not([type=checkbox],[type=radio]),select,textarea")) {
      e.preventDefault(); box.select(); box.focus();
    }
    if (e.key === "Escape") for (const m of all(".menu[open]")) { m.open = false; m.firstElementChild.focus(); }
  });
  addEventListener("click", e => { for (const m of all(".menu[open]")) if (!m.contains(e.target)) m.open = false; });

  // Search as you type: the gateway sends matching options. A choice fills the box of a picker, or opens the
  // page from the search box.
  for (const box of all("[data-suggest]")) {
    const list = document.createElement("div");
    let timer, at = -1, asked = 0;
    list.id = box.id + "-list"; list.hidden = true; list.setAttribute("role", "listbox"); list.setAttribute("aria-label", text("matches"));
    box.after(list); box.autocomplete = "off"; box.setAttribute("role", "combobox");
    const aria = (k, v) => box.setAttribute("aria-" + k, v);
    aria("autocomplete", "list"); aria("expanded", false); aria("controls", list.id);
    const options = () => all("[role=option]", list);
    const show = on => { list.hidden = !on; aria("expanded", on); at = -1; box.removeAttribute("aria-activedescendant"); };
    const mark = i => {
      const o = options();
      at = (i + o.length) % o.length;
      o.forEach((x, n) => x.setAttribute("aria-selected", n === at));
      aria("activedescendant", o[at].id); o[at].scrollIntoView({ block: "nearest" });
    };
    const take = o => { show(false); if (box.id === "find") location = o.dataset.href; else { box.value = o.dataset.value; box.focus(); } };
    const ask = async () => {
      const mine = ++asked;
      if (box.value.trim().length < 2) return show(false);
      const html = await fetch(box.dataset.suggest + (box.dataset.suggest.includes("?") ? "&" : "?") + "q=" + encodeURIComponent(box.value)).then(r => r.ok ? r.text() : "", () => "");
      if (mine !== asked) return;
      list.innerHTML = html;
      options().forEach((o, n) => { o.id = list.id + n; o.ariaSelected = "false"; if (n > 7) o.remove(); });
      const n = options().length;
      show(n > 0); say(n ? text("found", n) : text("nothing"));
    };
    box.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(ask, 150); });
    box.addEventListener("blur", () => { clearTimeout(timer); asked++; show(false); });
    box.addEventListener("keydown", e => {
      if (list.hidden) return;
      const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
      if (step) mark(at < 0 && step < 0 ? -1 : at + step);
      else if (e.key === "Escape") show(false);
      else if (e.key === "Enter" && at >= 0) take(options()[at]);
      else return;
      e.preventDefault();
    });
    list.addEventListener("mousedown", e => { e.preventDefault(); const o = e.target.closest("[role=option]"); if (o) take(o); });
  }

  // The counts of the quick views. The directory needs a moment to count.
  const tally = document.querySelector("[data-counts]");
  if (tally) fetch(tally.dataset.counts).then(r => r.ok ? r.json() : {}, () => ({})).then(found => {
    for (const of of all("[data-count-of]")) {
      of.textContent = found[of.dataset.countOf] || "";
      if (of.textContent === "0") of.parentElement.className = ""; // no reason to worry
    }
    if (Object.keys(found).length) tally.remove();
  });

  // Selection of rows. CSS shows the bar.
  for (const form of all("[data-select]")) {
    const every = all("[data-every]", form), boxes = all("tbody [type=checkbox]", form);
    const told = () => {
      const n = boxes.filter(b => b.checked).length;
      form.querySelector("[data-count]").textContent = text("selected", n);
      for (const e of every) { e.checked = n === boxes.length; e.indeterminate = n > 0 && !e.checked; }
    };
    for (const e of every) e.onchange = () => { boxes.forEach(b => { b.checked = e.checked; }); told(); };
    boxes.forEach(b => { b.onchange = told; });
    form.onreset = () => setTimeout(told);
    told();
  }

  // Also offer the time zone of this computer.
  for (const s of all("[data-zone]")) {
    const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
    if (here && ![...s.options].some(o => o.value === here)) s.add(new Option(here, here));
    for (const o of s.options) if (o.value === here) o.text += ` (${text("here")})`;
  }

  for (const b of all("[data-copy]")) b.onclick = () => navigator.clipboard.writeText(b.dataset.copy).then(() => say(text("copied")), () => say(text("notCopied")));
  for (const b of all("[data-print]")) b.onclick = () => print();

  // Time left, in words. It is announced once.
  for (const t of all("[data-seconds]")) {
    const end = Date.now() + 1000 * t.dataset.seconds, tick = () => {
      const s = Math.max(0, Math.round((end - Date.now()) / 1000));
      t.textContent = s > 60 ? text("minutes", Math.ceil(s / 60)) : text("seconds", s);
      if (s === 30) say(t.textContent);
      if (s) setTimeout(tick, 1000);
    };
    tick();
  }
})();
