
// -- the contents mark where the reader is --------------------------------------------------------------------------
const links = new Map([...document.querySelectorAll("nav a")].map(link => [link.hash.slice(1), link]));
const headings = [...links.keys()].map(id => document.getElementById(id));
const mark = () => {
  const passed = headings.filter(heading => heading.getBoundingClientRect().top < innerHeight / 3);
  for (const link of links.values()) link.removeAttribute("aria-current");
  links.get(passed.at(-1)?.id)?.setAttribute("aria-current", "location");
};
addEventListener("scroll", mark, { passive: true });
