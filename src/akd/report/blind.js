"use strict";
// One pair at a time, with keys. Without this script the form is one long page and works as well.
const form = document.querySelector("form");
const pairs = [...form.querySelectorAll(".pair")];
const steps = document.createElement("div");
steps.className = "steps";
steps.innerHTML = `<button type="button" class="act quiet">Back</button>
  <progress max="${pairs.length}" aria-label="pairs answered"></progress>
  <button type="button" class="act">Next</button>`;
const [back, next] = steps.querySelectorAll("button");
const send = form.querySelector("button[type=submit]");
const keptAs = `akd-blind-${form.dataset.study}`;
let at = 0;
form.append(steps);
send.className = "act";
steps.append(send);
document.querySelector(".keys").hidden = false;

const questionsOf = (pair) => [...pair.querySelectorAll(".question")];
const isAnswered = (question) => question.querySelector(":checked") !== null;
const isDone = (pair) => questionsOf(pair).every(isAnswered);

function show() {
  pairs.forEach((pair, number) => {
    pair.hidden = number !== at;
    const films = pair.querySelector(".films").films;
    if (number !== at) films?.stop();
    else if (films?.isWanted) films.start();
  });
  const open = questionsOf(pairs[at]).find((question) => !isAnswered(question));
  for (const question of form.querySelectorAll(".question"))
    question.classList.toggle("now", question === open);
  const last = at === pairs.length - 1;
  back.disabled = at === 0;
  next.hidden = last;
  next.disabled = !isDone(pairs[at]);
  send.hidden = !last;
  send.disabled = !pairs.every(isDone);
  steps.querySelector("progress").value = pairs.filter(isDone).length;
}
function go(by) {
  at = Math.max(0, Math.min(pairs.length - 1, at + by));
  show();
  scrollTo({ top: pairs[at].offsetTop - 24 });
}
function keep() {
  try { sessionStorage.setItem(keptAs, JSON.stringify([...new FormData(form)])); } catch { /* full */ }
}
try {
  for (const [name, value] of JSON.parse(sessionStorage.getItem(keptAs) || "[]")) {
    const field = form.elements[name];
    if (field) field.value = value;
  }
} catch { /* nothing was kept */ }

back.onclick = () => go(-1);
next.onclick = () => go(1);
form.addEventListener("input", () => { keep(); show(); });
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input.field, select"))
    return;
  const key = event.key.toLowerCase();
  if (key === "a" || key === "b") {
    const questions = questionsOf(pairs[at]);
    const open = questions.find((question) => !isAnswered(question)) || questions.at(-1);
    open.querySelector(`input[value=${key}]`).checked = true;
    keep();
    show();
  } else if (key === "enter" && !event.target.matches("button")) {
    event.preventDefault();
    if (!next.hidden && !next.disabled) go(1);
    else if (!send.hidden && !send.disabled) form.requestSubmit(send);
  } else if (key === "backspace") {
    const answered = questionsOf(pairs[at]).filter(isAnswered);
    if (!answered.length) { go(-1); return; }
    answered.at(-1).querySelector(":checked").checked = false;
    keep();
    show();
  }
});
// A page that was opened from the disk has nobody to send votes to: it hands them over as a file.
form.addEventListener("submit", (event) => {
  sessionStorage.removeItem(keptAs);
  if (location.protocol !== "file:") return;
  event.preventDefault();
  const data = new FormData(form);
  const person = data.get("person").trim().split(/\s+/).join(" ");
  const lines = [...data].filter(([name]) => name !== "person").map(([name, chosen]) => {
    const [pair, question] = name.split(".");
    return `${JSON.stringify({ person, pair: Number(pair), question, chosen })}\n`;
  });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(lines, { type: "application/jsonl" }));
  link.download = "votes.jsonl";
  link.click();
  send.textContent = "Saved as votes.jsonl";
});
show();
