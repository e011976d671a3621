// details[data-menu]: closes on Escape and on a click elsewhere.
const open = () => document.querySelectorAll("details[data-menu][open]");

document.addEventListener("click", (event) => {
  for (const menu of open()) if (!menu.contains(event.target)) menu.open = false;
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of open()) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});

// On a phone the navigation is wider than the screen: where one is has to be in sight.
const list = document.querySelector(".side-nav ul");
const here = list?.querySelector("[aria-current]");
if (here && list.scrollWidth > list.clientWidth) list.scrollLeft = here.offsetLeft - list.clientWidth / 2;
