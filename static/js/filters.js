// [data-filters]: addresses name only the filters that are set, and the list follows the form.
document.addEventListener("htmx:configRequest", (event) => {
  if (!event.target.matches("[data-filters]")) return;
  const { parameters } = event.detail;
  for (const [name, value] of Object.entries(parameters)) if (value === "") delete parameters[name];
});
