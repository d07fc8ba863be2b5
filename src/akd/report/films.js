"use strict";
// Every group of videos runs by one clock: that of its longest one. Shorter ones hold their last
// frame. Without this script each video has controls of its own and plays by itself.
for (const group of document.querySelectorAll(".films")) {
  const videos = [...group.querySelectorAll("video")];
  const frame = 1 / (Number(group.dataset.fps) || 24), clipRate = Number(group.dataset.clipFps);
  const charts = group.dataset.charts === undefined ? []
    : [...document.querySelectorAll("svg[data-axis]")].map(cursorOf);
  const bar = document.createElement("div");
  bar.className = "transport";
  const icon = (path) => `<svg viewBox="0 0 16 16" aria-hidden="true"><path d="${path}"/></svg>`;
  const play = icon("M4 2l10 6-10 6z"), pause = icon("M3 2h4v12H3zM9 2h4v12H9z");
  bar.innerHTML = `<button type="button">${play}</button>
    <button type="button" aria-label="one frame back" title="one frame back (left arrow)">${
      icon("M2 2h3v12H2zM14 2v12L6 8z")}</button>
    <button type="button" aria-label="one frame on" title="one frame on (right arrow)">${
      icon("M11 2h3v12h-3zM2 2v12l8-6z")}</button>
    <input type="range" min="0" value="0" step="any" aria-label="time">
    <output></output>
    <select aria-label="speed" title="speed"><option value="1">1×</option>
      <option value="0.5">½×</option><option value="0.25">¼×</option></select>`;
  const [toggle, back, on] = bar.querySelectorAll("button");
  const [slider, clock, speed] = ["input", "output", "select"].map((s) => bar.querySelector(s));
  let lead = videos[0], playing = false, still = 0;

  function show(time) {
    const count = Math.max(1, Math.round(lead.duration / frame));
    const number = Math.min(count, Math.floor(time / frame + 1e-3) + 1);
    const told = clipRate ? `clip frame ${Math.round((number - 1) * frame * clipRate)}`
      : `frame ${number} of ${count}`;
    slider.value = time;
    clock.innerHTML = `${time.toFixed(2)} s<span class="rest"> · ${told}</span>`;
    for (const chart of charts) chart(time);
    if (group.dataset.charts !== undefined)
      document.dispatchEvent(new CustomEvent("akd-time", { detail: time }));
  }
  function seek(time) {
    still = Math.max(0, Math.min(time, lead.duration - frame / 2));
    for (const video of videos) video.currentTime = Math.min(still, video.duration - frame / 2);
    show(still);
  }
  function set(wanted) {
    playing = wanted;
    toggle.innerHTML = playing ? pause : play;
    toggle.title = playing ? "pause (space)" : "play (space)";
    toggle.setAttribute("aria-label", playing ? "pause" : "play");
    if (!playing) {
      for (const video of videos) video.pause();
      seek((Math.floor(lead.currentTime / frame + 1e-3) + 0.5) * frame);
      return;
    }
    if (lead.currentTime > lead.duration - frame) seek(0);
    for (const video of videos) if (!video.ended) video.play().catch(() => set(false));
    requestAnimationFrame(follow);
  }
  function follow() {
    if (!playing) return;
    if (lead.ended) {
      seek(0);
      for (const video of videos) video.play().catch(() => {});
    }
    const now = lead.currentTime;
    for (const video of videos) {
      const apart = Math.abs(video.currentTime - now);
      if (video !== lead && !video.seeking && now < video.duration - frame && apart > 1.5 * frame)
        video.currentTime = now;
    }
    show(now);
    requestAnimationFrame(follow);
  }
  group.films = {
    toggle: () => set(!playing),
    step: (frames) => { if (playing) set(false); seek(still + frames * frame); },
    stop: () => { if (playing) set(false); },
    start: () => { if (!playing) set(true); },
    seek: (time) => { if (playing) set(false); seek(time); },
    isWanted: !matchMedia("(prefers-reduced-motion: reduce)").matches,
  };
  toggle.onclick = group.films.toggle;
  back.onclick = () => group.films.step(-1);
  on.onclick = () => group.films.step(1);
  slider.oninput = () => group.films.seek(Number(slider.value));
  speed.onchange = () => videos.forEach((video) => { video.playbackRate = Number(speed.value); });
  for (const video of videos) {
    video.removeAttribute("autoplay");
    video.removeAttribute("controls");
    video.loop = false;
    video.pause();
    video.onclick = group.films.toggle;
  }
  const ready = videos.map((video) => video.readyState >= 2 ? 0 : new Promise((done) => {
    video.addEventListener("loadeddata", done, { once: true });
    video.addEventListener("error", done, { once: true });
  }));
  Promise.all(ready).then(() => {
    if (videos.some((video) => !video.duration)) return;
    lead = videos.reduce((a, b) => (b.duration > a.duration ? b : a));
    slider.max = lead.duration - frame / 2;
    group.append(bar);
    set(false);
    seek(0);
    if (group.films.isWanted && group.offsetParent) set(true);
  });

  // A line over a chart where the videos are; a finger or the mouse on a chart moves them.
  function cursorOf(svg) {
    const [from, to, left, right, top, bottom] = svg.dataset.axis.split(" ").map(Number);
    const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
    line.setAttribute("class", "now");
    line.setAttribute("y1", top);
    line.setAttribute("y2", bottom);
    const move = (event) => {
      if (event.type === "pointermove" && !event.buttons) return;
      const place = new DOMPoint(event.clientX, 0).matrixTransform(svg.getScreenCTM().inverse()).x;
      group.films.seek(from + (to - from) * (place - left) / (right - left));
    };
    svg.addEventListener("pointerdown", move);
    svg.addEventListener("pointermove", move);
    return (time) => {
      const at = left + (right - left) * (Math.min(time, to) - from) / (to - from);
      line.setAttribute("x1", at);
      line.setAttribute("x2", at);
      if (!line.isConnected) svg.append(line);
    };
  }
}
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const own = event.target.closest?.("input:not([type=radio]), select, button, summary, textarea");
  const steps = { ArrowLeft: -1, ArrowRight: 1 };
  if (own || (event.key in steps && event.target.type === "radio")) return;
  const group = [...document.querySelectorAll(".films")].find((g) => g.offsetParent
    && g.getBoundingClientRect().bottom > 0);
  if (!group?.films) return;
  if (event.key === " ") group.films.toggle();
  else if (event.key in steps) group.films.step(steps[event.key]);
  else return;
  event.preventDefault();
});
