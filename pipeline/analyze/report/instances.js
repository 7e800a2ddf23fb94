
// -- the list of instances ------------------------------------------------------------------------------------------
const matches = (row, want) => {
  const words = name => (row.dataset[name] ?? "").split(" ");
  const ends = [...row.querySelectorAll(".end")].filter((_, place) => !want.model || place === want.model - 1);
  return (!want.repo || row.dataset.repo === want.repo)
    && (!want.year || row.dataset.year === want.year)
    && (!want.difficulty || row.dataset.difficulty === want.difficulty)
    && (!want.principle || words("principles").includes(want.principle))
    && (!want.outcome || ends.some(cell => cell.classList.contains(want.outcome)))
    && row.textContent.toLowerCase().includes(want.text.toLowerCase().trim());
};

const form = document.querySelector("form");
if (form) {
  const rows = [...document.querySelectorAll("#list tbody tr")];
  const filter = () => {
    const want = Object.fromEntries(new FormData(form));
    for (const row of rows) row.hidden = !matches(row, want);
    const left = rows.filter(row => !row.hidden).length;
    form.querySelector("output").textContent = `${left} of ${rows.length} instances`;
  };
  form.hidden = false;
  form.addEventListener("input", filter);
  form.addEventListener("reset", () => setTimeout(filter));
  form.addEventListener("submit", event => event.preventDefault());
}

// -- the page of an instance is a page: it has the focus and the title ----------------------------------------------
const title = document.title;
const arrive = () => {
  const page = document.querySelector("article:target");
  document.title = page ? `${page.querySelector("h2").textContent} – ${title}` : title;
  if (page) { page.focus(); scrollTo(0, 0); }
};
addEventListener("hashchange", arrive);
arrive();
