import { useState } from "preact/hooks";

type Theme = "system" | "light" | "dark";

const next: Readonly<Record<Theme, Theme>> = { system: "light", light: "dark", dark: "system" };
const signs: Readonly<Record<Theme, string>> = { system: "◑", light: "☀", dark: "☾" };
const words: Readonly<Record<Theme, string>> = { system: "Auto", light: "Light", dark: "Dark" };
const key = "xdskit-theme";

/** Light, dark, or as the system has it; the browser remembers it. */
export function ThemeButton() {
  const [theme, setTheme] = useState<Theme>(known);
  const change = () => {
    const changed = next[theme];
    localStorage.setItem(key, changed);
    applyTheme();
    setTheme(changed);
  };
  const label = `${words[theme]} colours`;
  return (
    <button type="button" class="icon-button" aria-label={label} title={label} onClick={change}>
      <span aria-hidden="true">{signs[theme]}</span>
      <span class="rest">{words[theme]}</span>
    </button>
  );
}

/** Puts the chosen colours in place; to be called before the page is drawn. */
export function applyTheme(): void {
  const theme = known();
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

function known(): Theme {
  const kept = localStorage.getItem(key);
  return kept === "light" || kept === "dark" ? kept : "system";
}
