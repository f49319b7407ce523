import { useEffect } from "preact/hooks";

/**
 * What a key does, two one after the other (`g f`), or one with Ctrl (`Ctrl k`). It is told what has the focus; false:
 * it did nothing, and the browser does what it usually does.
 */
export type Keys = Readonly<Record<string, (target: EventTarget | null) => unknown>>;

/** The longest that the second key may take, in milliseconds. */
const pauseMs = 1_000;

/** Makes keys do something while this is shown. Keys that somebody types into a field do nothing. */
export function useKeys(keys: Keys): void {
  useEffect(() => {
    let before = "";
    let at = 0;
    const pressed = (event: KeyboardEvent) => {
      if (document.querySelector("dialog[open]") !== null) return;
      // With Ctrl (or ⌘) a key is no text, wherever somebody types.
      const isControl = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
      const chord = isControl ? keys[`Ctrl ${event.key}`] : undefined;
      if (chord !== undefined) {
        chord(event.target);
        event.preventDefault();
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const now = performance.now();
      const both = now - at < pauseMs ? `${before} ${event.key}` : "";
      const action = keys[both] ?? keys[event.key];
      before = event.key;
      at = now;
      if (action === undefined || action(event.target) === false) return;
      event.preventDefault();
      before = "";
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, [keys]);
}

function isTyping(target: EventTarget | null): boolean {
  const isField = "input:not([type=checkbox]), textarea, select, [contenteditable]";
  return target instanceof HTMLElement && target.matches(isField);
}

/** Puts the cursor into the search field of the page. */
export function focusSearch(): void {
  document.querySelector<HTMLInputElement>("input[type=search]")?.focus();
}
