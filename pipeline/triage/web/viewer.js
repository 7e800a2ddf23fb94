// Drafts that survive a reload and a restart of the server, shortcuts, progress of models, and a live preview. The pages
// work without this script.
(() => {
  "use strict";
  const form = document.getElementById("rate");

  // -- drafts: unsaved values of the form, stored in this browser ---------------------------------------------------------
  if (form) {
    const key = `draft:${form.dataset.draft}`;
    const note = form.querySelector(".draft");
    const entered = () => [...new FormData(form)].filter(([name]) => !["form_token", "seen", "seen_final", "act"].includes(name));
    const initial = JSON.stringify(entered());
    const restore = (fields) => {
      for (const control of form.elements) {
        if (!control.name || control.type === "hidden" || control.type === "submit" || control.type === "button") continue;
        const values = fields.filter(([name]) => name === control.name).map(([, value]) => value);
        if (control.type === "radio" || control.type === "checkbox") control.checked = values.includes(control.value);
        else control.value = values[0] ?? "";
        if (control.checked) control.closest("details")?.setAttribute("open", "");
      }
    };
    if (form.dataset.saved) {
      localStorage.removeItem(key);
      const query = new URLSearchParams(location.search);
      query.delete("said"); // a reload must not remove the next draft
      history.replaceState(null, "", location.pathname + (String(query) && `?${query}`) + location.hash);
    }
    const draft = localStorage.getItem(key);
    if (draft && draft !== initial && !document.getElementById("wrong")) {
      restore(JSON.parse(draft));
      note.hidden = false;
    }
    const keep = () => {
      const now = JSON.stringify(entered());
      if (now === initial) localStorage.removeItem(key);
      else localStorage.setItem(key, now);
    };
    form.addEventListener("input", keep);
    document.getElementById("discard").addEventListener("click", () => {
      localStorage.removeItem(key);
      restore(JSON.parse(initial));
      note.hidden = true;
      form.querySelector("input[name=status]").focus();
    });
    document.getElementById("all-hold").addEventListener("click", () => {
      form.querySelectorAll("select[name^=S]").forEach((select) => (select.value = "yes"));
      keep();
    });
  }

  // -- single keys, which can be switched off ----------------------------------------------------------------------------
  const box = document.getElementById("keys");
  const on = () => localStorage.getItem("keys") !== "off";
  if (box) {
    box.checked = on();
    box.addEventListener("change", () => localStorage.setItem("keys", box.checked ? "on" : "off"));
  }
  document.addEventListener("keydown", (event) => {
    if (!on() || event.ctrlKey || event.altKey || event.metaKey) return;
    const at = event.target;
    if (at.matches("textarea, select, input:not([type=radio]):not([type=checkbox])")) return;
    const aim = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
    if (!aim) return;
    event.preventDefault();
    aim.focus();
    if (!aim.matches("input[type=search]")) aim.click();
  });

  // -- the progress of models that are asked -----------------------------------------------------------------------------
  const asks = document.getElementById("asks");
  const busy = () => asks.querySelectorAll("[data-busy]").length;
  const look = async () => {
    const before = busy();
    const answer = await fetch("/ask/state").catch(() => null);
    if (answer?.ok && !asks.contains(document.activeElement)) {
      asks.innerHTML = await answer.text();
      if (busy() < before) document.getElementById("asks-said").textContent = asks.querySelector("article:not([data-busy]) h3").textContent;
    }
    if (busy()) setTimeout(look, 3000);
  };
  if (asks && busy()) setTimeout(look, 1000);
  document.getElementById("wrong")?.focus();

  // -- the preview of an export --------------------------------------------------------------------------------------------
  const chosen = document.getElementById("export");
  if (chosen) {
    chosen.addEventListener("change", async () => {
      const query = new URLSearchParams(new FormData(chosen));
      document.getElementById("download").formAction = `/export/${query.get("form")}`;
      query.set("preview", "");
      const answer = await fetch(`/export/${query.get("form")}?${query}`);
      if (!answer.ok) return;
      document.getElementById("count").textContent = answer.headers.get("X-Count");
      document.querySelector("#preview code").textContent = (await answer.text()).slice(0, 60000);
    });
  }
})();
