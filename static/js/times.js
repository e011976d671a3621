// time[data-time]: from UTC to the reader's clock. The exact value stays on hover.
const DAY_MS = 86_400_000;
// 24 hours everywhere: a time in a table and the same time beside it read alike.
const hourCycle = "h23";
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long", hourCycle });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium", hourCycle });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const clock = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3, hourCycle,
});

function distance(at) {
  const size = Math.abs(Date.now() - at);
  const [amount, unit] =
    size < 60_000 ? [size / 1000, "s"] : size < 3_600_000 ? [size / 60_000, "min"] : size < DAY_MS ? [size / 3_600_000, "h"] : [size / DAY_MS, "d"];
  return at <= Date.now() ? `${Math.floor(amount)} ${unit} ago` : `in ${Math.round(amount)} ${unit}`;
}

function words(at, form) {
  if (form === "clock") return clock.format(at);
  if (form === "full") return full.format(at);
  return Math.abs(Date.now() - at) > 30 * DAY_MS ? day.format(at) : distance(at);
}

export function show(root = document) {
  for (const element of root.querySelectorAll("time[data-time]")) {
    const at = new Date(element.dateTime);
    element.textContent = words(at, element.dataset.time);
    element.title = `${exact.format(at)} (${element.dateTime})`;
  }
}

// A moment is entered in UTC: below its field stands when that is on the reader's clock.
document.addEventListener("input", ({ target }) => {
  if (target.type !== "datetime-local") return;
  const at = new Date(`${target.value}Z`);
  let said = target.nextElementSibling;
  if (!said?.hasAttribute("data-here")) {
    said = Object.assign(document.createElement("p"), { className: "form-hint", ariaLive: "polite" });
    said.dataset.here = "";
    target.after(said);
  }
  said.textContent = Number.isNaN(at.getTime()) ? "" : `${full.format(at)} where you are.`;
});

show();
document.addEventListener("htmx:load", (event) => show(event.detail.elt));
setInterval(() => document.hidden || show(), 15_000);
