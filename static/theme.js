// @ts-check
// The switch between light and dark. The choice is a cookie, so that the server paints the first frame right.

const root = document.documentElement;
const dark = matchMedia("(prefers-color-scheme: dark)");
const button = /** @type {HTMLButtonElement | null} */ (document.getElementById("theme"));

const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);

function show() {
  button?.setAttribute("aria-pressed", String(isDark()));
}

button?.addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  document.cookie = `theme=${root.dataset.theme}; Path=/; Max-Age=31536000; SameSite=Lax`;
  show();
});
dark.addEventListener("change", show);
show();
button?.removeAttribute("disabled");
