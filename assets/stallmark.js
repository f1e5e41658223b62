// Stallmark's page works without this file. It adds: news without a reload, a
// crosshair over all charts, drag to zoom, copy buttons, keys, local time.
"use strict";
(() => {
  const page = () => document.getElementById("page");
  const notice = document.getElementById("notice");
  const announce = document.getElementById("announce");

  // ---- times ----------------------------------------------------------------
  const local = () => page().dataset.zone === "local";
  const two = (n) => String(n).padStart(2, "0");
  function timeText(date, as) {
    const utc = !local();
    const get = (part) => two(date[(utc ? "getUTC" : "get") + part]());
    const clock = get("Hours") + ":" + get("Minutes");
    const month = two(date[(utc ? "getUTC" : "get") + "Month"]() + 1);
    switch (as) {
      case "minute": return clock;
      case "day": return month + "-" + get("Date");
      case "stamp": return date[(utc ? "getUTC" : "get") + "FullYear"]() + "-" + month + "-" + get("Date") + " " + clock + ":" + get("Seconds");
    }
    return clock + ":" + get("Seconds");
  }
  // The server writes UTC. In another zone the same labels are rewritten.
  function localTimes(root) {
    if (!local()) return;
    for (const el of root.querySelectorAll("time[datetime]")) el.textContent = timeText(new Date(el.dateTime), el.dataset.as);
    for (const el of root.querySelectorAll("text[data-ms]")) el.textContent = timeText(new Date(Number(el.dataset.ms)), el.dataset.as);
    const zone = Intl.DateTimeFormat().resolvedOptions().timeZone || "local";
    for (const el of root.querySelectorAll("[data-zone-name]")) el.textContent = zone;
  }

  // ---- news -----------------------------------------------------------------
  // morph makes the old tree equal to the new one and touches only what differs,
  // so that open details, focus, selection and scroll positions stay.
  function morph(old, fresh) {
    if (old.nodeType !== fresh.nodeType || old.nodeName !== fresh.nodeName || old.id !== fresh.id) {
      old.replaceWith(fresh);
      return;
    }
    if (old.nodeType !== Node.ELEMENT_NODE) {
      if (old.nodeValue !== fresh.nodeValue) old.nodeValue = fresh.nodeValue;
      return;
    }
    for (const { name } of [...old.attributes]) {
      if (!fresh.hasAttribute(name) && !(name === "open" && old.nodeName === "DETAILS")) old.removeAttribute(name);
    }
    for (const { name, value } of [...fresh.attributes]) {
      if (name === "hidden" && old.matches(".copy, .help")) continue;
      if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    }
    // Children are matched by id, or by name and first class, in order. What has
    // gone goes first, so that what stays need not move: moving loses the focus.
    const news = [...fresh.childNodes];
    const wanted = new Set(news.map(key));
    const olds = [...old.childNodes].filter((n) => !n.dataset?.ours && (wanted.has(key(n)) || n.remove()));
    for (const child of news) {
      const k = olds.findIndex((n) => key(n) === key(child));
      if (k < 0) {
        old.insertBefore(child, olds[0] ?? null);
        continue;
      }
      const [match] = olds.splice(k, 1);
      if (k > 0) old.insertBefore(match, olds[0]);
      morph(match, child);
    }
    for (const extra of olds) extra.remove();
  }
  const key = (n) => n.nodeName + (n.id ? "#" + n.id : "." + (n.classList?.[0] ?? ""));

  let etag = "", timer = 0, wait = 0, lost = false;

  function say(text) {
    notice.textContent = text;
    notice.hidden = !text;
    document.body.classList.toggle("lost", Boolean(text));
  }

  function schedule(ms) {
    clearTimeout(timer);
    if (ms > 0 && !document.hidden) timer = setTimeout(look, ms);
  }
  // Pages that show the same look at the same moments of the clock, a little
  // after a beat: one rendering then serves them all.
  function next() {
    const ms = Number(page().dataset.refresh);
    if (!ms) return 0;
    const left = ms - ((Date.now() - 300) % ms);
    return left < ms / 3 ? left + ms : left;
  }

  async function look() {
    try {
      const headers = { "Stallmark-Fragment": "1" };
      if (etag) headers["If-None-Match"] = etag;
      const answer = await fetch(location.href, { headers, cache: "no-store", signal: AbortSignal.timeout(15000) });
      if (answer.status !== 200 && answer.status !== 304) throw new Error("status " + answer.status);
      if (answer.status === 200) show(await answer.text(), answer.headers.get("ETag"));
      if (lost) say("");
      lost = false;
      wait = 0;
    } catch {
      lost = true;
      wait = Math.min((wait || 1000) * 2, 30000);
      say("No answer from Stallmark since " + timeText(new Date(seen), "clock") + ". What is shown is from then. Trying again every " + wait / 1000 + " s.");
      schedule(wait);
      return;
    }
    seen = Date.now();
    schedule(next());
  }
  let seen = Date.now();

  function show(text, tag) {
    const fresh = new DOMParser().parseFromString(text, "text/html").getElementById("page");
    if (!fresh) throw new Error("no page");
    if (fresh.dataset.script !== page().dataset.script) {
      location.reload(); // another version answers: its markup needs its own script
      return;
    }
    if (selecting()) return; // do not take a text away from under the mouse
    etag = tag || "";
    const verdict = page().dataset.verdict;
    localTimesOf(fresh);
    morph(page(), document.adoptNode(fresh));
    document.title = page().dataset.title;
    if (page().dataset.verdict !== verdict) announce.textContent = page().dataset.verdict;
    buttons();
    cross();
  }
  function localTimesOf(fresh) {
    if (fresh.dataset.zone === "local") localTimes(fresh);
  }
  function selecting() {
    const s = getSelection();
    return dragging || Boolean(s && !s.isCollapsed && page().contains(s.anchorNode));
  }
  document.addEventListener("visibilitychange", () => (document.hidden ? clearTimeout(timer) : Number(page().dataset.refresh) && look()));

  // ---- copy -----------------------------------------------------------------
  function buttons() {
    for (const b of document.querySelectorAll(".copy[hidden], .help[hidden]")) b.hidden = false;
  }
  // byHand copies by way of a field that is selected.
  function byHand(text, focus) {
    const field = document.createElement("textarea");
    field.value = text;
    field.readOnly = true;
    field.className = "unseen";
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    focus.focus();
    return done;
  }
  async function copy(button) {
    const code = document.getElementById(button.dataset.copies) ?? button.parentElement.querySelector("code");
    let done = true;
    try {
      await navigator.clipboard.writeText(code.textContent);
    } catch { // not a secure context, as over http from another host
      done = byHand(code.textContent, button);
      if (!done) { // the keyboard can still copy what is selected
        code.closest("details")?.setAttribute("open", "");
        getSelection().selectAllChildren(code);
      }
    }
    button.textContent = done ? "Copied" : "Selected";
    setTimeout(() => (button.textContent = "Copy"), 1500);
  }
  document.addEventListener("click", (e) => {
    const button = e.target.closest?.(".copy");
    if (button) copy(button);
  });

  // ---- keys -----------------------------------------------------------------
  const keys = document.getElementById("keys");
  document.addEventListener("click", (e) => {
    if (e.target.closest?.(".help")) keys.showModal();
    else if (e.target === keys || e.target.closest?.("#keys .close")) keys.close();
  });
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest?.("input, textarea, select")) return;
    if (e.key === "?" && !keys.open) keys.showModal();
    if (keys.open) return;
    const link = document.querySelector(`[data-key="${CSS.escape(e.key)}"]`);
    if (link) link.click();
  });

  // ---- crosshair and zoom -----------------------------------------------------
  const svg = (name, attributes) => {
    const el = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const k in attributes) el.setAttribute(k, attributes[k]);
    el.dataset.ours = "1";
    return el;
  };
  const [top, ground] = [18, 126]; // of a plot, as the server draws it
  let at = null, dragging = null;

  // share is where in the window the pointer is, 0 to 1, or null.
  function share(e) {
    const plot = e.target.closest?.(".plot, .lane .track");
    const frame = plot?.closest("[data-from]");
    if (!frame) return null;
    const box = plot.getBoundingClientRect();
    const rel = (e.clientX - box.left) / box.width;
    return rel < 0 || rel > 1 ? null : { rel, frame };
  }
  function moment(frame, rel) {
    return Number(frame.dataset.from) + rel * (frame.dataset.to - frame.dataset.from);
  }
  // cells undoes the counting of equal neighbours: "1.5,0*3" is 1.5, 0, 0, 0.
  function cells(text) {
    return text.split(",").flatMap((part) => {
      const [value, n] = part.split("*");
      return Array(Number(n ?? 1)).fill(value);
    });
  }
  const known = new Map(); // by text: a chart that has not changed is not read again
  function valueAt(path, rel) {
    const text = path.dataset.values;
    if (!known.has(text)) {
      if (known.size > 200) known.clear();
      known.set(text, cells(text));
    }
    const all = known.get(text);
    return all[Math.round(rel * (all.length - 1))] || "–";
  }
  function cross() {
    for (const old of document.querySelectorAll("[data-ours]")) old.remove();
    for (const chart of document.querySelectorAll(".chart")) {
      const val = chart.querySelector(".val");
      if (val.dataset.rest !== undefined && at === null) {
        val.textContent = val.dataset.rest;
        delete val.dataset.rest;
      }
    }
    if (at === null) return;
    const x = at * 100 + "%";
    for (const plot of document.querySelectorAll(".plot, .lane:not(.axis) .track")) {
      const [y1, y2] = plot.classList.contains("plot") ? [top, ground] : [0, 16];
      plot.append(svg("line", { class: "cross", x1: x, x2: x, y1, y2 }));
      if (dragging && plot.classList.contains("plot")) {
        const [a, b] = [Math.min(dragging.rel, at), Math.max(dragging.rel, at)];
        plot.append(svg("rect", { class: "zoom", x: a * 100 + "%", width: (b - a) * 100 + "%", y: top, height: ground - top }));
      }
    }
    for (const chart of document.querySelectorAll(".chart")) {
      const val = chart.querySelector(".val");
      val.dataset.rest ??= val.textContent;
      const parts = [...chart.querySelectorAll("path[data-values]")].map((p) => valueAt(p, at));
      val.textContent = timeText(new Date(moment(chart, at)), "clock") + "  " + parts.join(" / ");
    }
  }
  let pending = false;
  document.addEventListener("pointermove", (e) => {
    const s = share(e);
    if (!s && at === null) return;
    at = s ? s.rel : null;
    if (pending) return;
    pending = true;
    requestAnimationFrame(() => { pending = false; cross(); });
  });
  document.addEventListener("pointerdown", (e) => {
    const s = e.button === 0 && e.pointerType === "mouse" && share(e);
    if (!s) return;
    e.preventDefault();
    dragging = s;
  });
  // A mark of a changed setting leads to its name below the chart.
  document.addEventListener("click", (e) => {
    const mark = e.target.closest?.("a.moment");
    if (!mark) return;
    const list = document.getElementById(mark.getAttribute("href").slice(1));
    if (list?.nodeName === "DETAILS") list.open = true;
  });
  document.addEventListener("pointerup", () => {
    const from = dragging;
    dragging = null;
    if (!from || at === null || Math.abs(at - from.rel) < 0.02) return;
    const ends = [moment(from.frame, from.rel), moment(from.frame, at)].sort((a, b) => a - b);
    if (ends[1] - ends[0] < 5000) return;
    const url = new URL(location.href);
    url.searchParams.delete("range");
    url.searchParams.set("from", Math.round(ends[0]));
    url.searchParams.set("to", Math.round(ends[1]));
    location.assign(url);
  });
  addEventListener("keydown", (e) => {
    if (e.key === "Escape") { dragging = null; at = null; cross(); }
  });

  // On a phone the pages are a row that is scrolled: the one that is on shows.
  function reveal() {
    const on = document.querySelector("header nav [aria-current]");
    if (on) on.parentElement.scrollLeft = on.offsetLeft - (on.parentElement.clientWidth - on.offsetWidth) / 2;
  }

  localTimes(document);
  buttons();
  reveal();
  schedule(next());
})();
