// [data-source]: of the install form only the fields of the chosen type are shown; without JavaScript, all are.
const FIELDS = { git: ["location", "ref", "path"], url: ["location", "digest"], upload: ["file"] };
const OF_TYPES = Object.values(FIELDS).flat();

function follow(form) {
  const wanted = FIELDS[form.elements.type.value] ?? [];
  for (const part of form.querySelectorAll("[data-for]")) {
    part.hidden = OF_TYPES.includes(part.dataset.for) && !wanted.includes(part.dataset.for);
  }
}

for (const form of document.querySelectorAll("[data-source]")) {
  form.elements.type.addEventListener("change", () => follow(form));
  follow(form);
}
