"use strict";
// Tables that sort, and the list of instances that filters. Without this file everything can still be read.

const value = cell => {
  const text = (cell.dataset.sort ?? cell.textContent).trim();
  const number = Number(text.replaceAll(",", ""));
  return text === "–" || text === "" ? null : Number.isNaN(number) ? text : number;
};

// What is not known comes last, whichever way a table is sorted.
const compare = (one, other, sign) => {
  if (one === null || other === null) return (one === null) - (other === null);
  const both = typeof one === "number" && typeof other === "number";
  return sign * (both ? one - other : String(one).localeCompare(String(other), "en", { numeric: true }));
};

const sort = (table, column, button) => {
  const head = button.closest("th");
  const ascending = head.getAttribute("aria-sort") !== "ascending";
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
  const rows = [...table.tBodies[0].rows].map(row => [value(row.cells[column]), row]);
  rows.sort(([one], [other]) => compare(one, other, ascending ? 1 : -1));
  table.tBodies[0].append(...rows.map(([, row]) => row));
};

// -- long tables have a field for words ------------------------------------------------------------------------------
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
