// A classic script in the head: the theme has to stand before the first paint.
(() => {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");

  const apply = () => {
    const choice = root.dataset.themeChoice;
    root.dataset.bsTheme = choice === "dark" || (choice === "auto" && dark.matches) ? "dark" : "light";
  };

  root.classList.add("js");
  apply();
  dark.addEventListener("change", apply);

  document.addEventListener("submit", (event) => {
    const form = event.target.closest("[data-theme-form]");
    const choice = event.submitter?.value;
    if (!form || !choice) return;
    event.preventDefault();
    root.dataset.themeChoice = choice;
    const secure = location.protocol === "https:" ? "; Secure" : "";
    document.cookie = `theme=${choice}; Path=/; Max-Age=31536000; SameSite=Lax${secure}`;
    for (const button of form.elements.theme) button.setAttribute("aria-pressed", String(button.value === choice));
    apply();
  });
})();
