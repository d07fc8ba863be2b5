"use strict";
// A click on a heading sorts by its column, a second one the other way round; rows without a value
// come last either way. The field above keeps the rows that hold all its words. Without this script
// the table is complete, in the batch's order.
for (const table of document.querySelectorAll("table.batch")) {
  const rows = [...table.tBodies[0].rows];
  const text = (row, column) => row.cells[column].textContent.trim();
  const compare = (a, b, sign) => {
    if (!a || !b) return a ? -1 : b ? 1 : 0;
    const numbers = [Number(a), Number(b)];
    const isText = numbers.some(Number.isNaN);
    return sign * (isText ? a.localeCompare(b) : numbers[0] - numbers[1]);
  };
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      rows.sort((a, b) => compare(text(a, column), text(b, column), down ? -1 : 1));
      table.tBodies[0].append(...rows);
    });
  });
  const field = document.querySelector("[data-filter]");
  const shown = document.querySelector("[data-shown]");
  const filter = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) {
      const line = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => line.includes(word));
    }
    const count = rows.filter((row) => !row.hidden).length;
    shown.textContent = words.length ? `${count} of ${rows.length}` : "";
  };
  field.addEventListener("input", filter);
  filter(); // a browser keeps the words over a reload
}
