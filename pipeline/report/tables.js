"use strict";
// Sorting and filtering of tables. Everything can be read without this file.

const value = cell => {
  const text = (cell.dataset.sort ?? cell.textContent).trim();
  const number = Number(text.replaceAll(",", ""));
  return text === "–" || text === "" ? null : Number.isNaN(number) ? text : number;
};

// Unknown values come last, in either direction.
const compare = (first, second, sign) => {
  if (first === null || second === null) return (first === null) - (second === null);
  const both = typeof first === "number" && typeof second === "number";
  return sign * (both ? first - second : String(first).localeCompare(String(second), "en", { numeric: true }));
};

const sort = (table, column, button) => {
  const head = button.closest("th");
  const ascending = head.getAttribute("aria-sort") !== "ascending";
  for (const header of table.tHead.rows[0].cells) header.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
  const rows = [...table.tBodies[0].rows].map(row => [value(row.cells[column]), row]);
  rows.sort(([first], [second]) => compare(first, second, ascending ? 1 : -1));
  table.tBodies[0].append(...rows.map(([, row]) => row));
};

// -- long tables have a filter ------------------------------------------------------------------------------------
const LONG = 12;
const narrow = (rows, want) => {
  for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(want.toLowerCase().trim());
  return rows.filter(row => !row.hidden).length;
};

const filterable = table => {
  const rows = [...table.tBodies[0].rows];
  const label = document.createElement("label");
  const field = Object.assign(document.createElement("input"), { type: "search" });
  const count = document.createElement("output");
  const show = () => { count.textContent = `${narrow(rows, field.value)} of ${rows.length} rows`; };
  label.append("Filter the rows ", field);
  const line = document.createElement("p");
  line.className = "filter";
  line.append(label, " ", count);
  table.parentElement.before(line);
  field.addEventListener("input", show);
  show();
};

for (const table of document.querySelectorAll(".data table")) {
  if (table.tBodies[0].rows.length > LONG) filterable(table);
}

// -- tables that sort ------------------------------------------------------------------------------------------------
for (const table of document.querySelectorAll("table[data-sortable]")) {
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => sort(table, column, button));
  });
}
