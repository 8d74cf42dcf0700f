// page.js - what pages do beyond what they say without a script: follow output, tick all, read a file
"use strict";

const pause = 2000; // milliseconds between two looks
const most = 512 * 1024; // characters of a file that stay on the page

// ---- the output of a job that runs ----

// What programs print for a terminal, as a page shows it.
function plain(text) {
  return text.replace(/\u001b\[[0-9;?]*[A-Za-z]/g, "").replace(/\r\n?/g, "\n");
}

async function follow(pre, base) {
  const from = Number(pre.dataset.from);
  const reply = await fetch(base + "/output/" + encodeURIComponent(pre.dataset.file) + "?from=" + from);
  if (!reply.ok) return;
  const bytes = await reply.arrayBuffer();
  if (!bytes.byteLength) return;
  pre.decoder ??= new TextDecoder();
  const atEnd = pre.scrollTop + pre.clientHeight >= pre.scrollHeight - 4;
  pre.append(plain(pre.decoder.decode(bytes, { stream: true })));
  pre.dataset.from = String(from + bytes.byteLength);
  if (pre.textContent.length > most) pre.textContent = pre.textContent.slice(-most / 2);
  if (atEnd) pre.scrollTop = pre.scrollHeight;
}

// Put what the page would have now in the place of what it has.
async function refresh() {
  const reply = await fetch(location.href);
  if (!reply.ok) return;
  const page = new DOMParser().parseFromString(await reply.text(), "text/html");
  document.querySelector("main").replaceWith(page.querySelector("main"));
  show();
}

// Look what has grown; all of the page is refreshed when the job is in another state or has another file.
async function look(live) {
  const base = "/dlspool/v1/jobs/" + live.dataset.job;
  const job = await (await fetch(base)).json();
  const reply = await fetch(base + "/output");
  const files = reply.ok ? (await reply.json()).filter((file) => !file.name.startsWith(".")) : [];
  if (job.state !== live.dataset.state || String(job.attempt ?? 0) !== live.dataset.attempt ||
      String(files.length) !== live.dataset.files) {
    await refresh();
    return;
  }
  for (const file of files)
    for (const pre of document.querySelectorAll("pre[data-file]"))
      if (pre.dataset.file === file.name && file.size > Number(pre.dataset.from)) await follow(pre, base);
}

// What the page shows once there is a script; false: there is nothing to follow.
function show() {
  const live = document.getElementById("live");
  if (!live) return false;
  live.textContent = "What is printed appears here as it comes.";
  for (const pre of document.querySelectorAll("pre[data-file]")) pre.scrollTop = pre.scrollHeight;
  return true;
}

async function again() {
  const live = document.getElementById("live");
  if (!live) return;
  if (!document.hidden) await look(live).catch(() => {});
  setTimeout(again, pause);
}

if (show()) setTimeout(again, pause);

// ---- the list of jobs ----

const all = document.getElementById("all");
if (all) {
  all.closest("label").hidden = false;
  all.addEventListener("change", () => {
    for (const box of document.querySelectorAll("input[name=id]")) box.checked = all.checked;
  });
}

// ---- a job file from this computer ----

const file = document.getElementById("file");
const job = document.getElementById("job");
if (file && job) {
  file.closest("p").hidden = false;
  file.addEventListener("change", async () => {
    if (file.files.length) job.value = await file.files[0].text();
  });
}
