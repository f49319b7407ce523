import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Keys, useKeys } from "./keys.js";

/**
 * The row at which `j` and `k` are; undefined before the first of them. Enter and `o` open it, `x` marks it where rows
 * can be marked. The row that has the class `current` is scrolled to, and its link gets the focus.
 */
export function useCursor(
  count: number,
  open: (row: number) => void,
  mark?: (row: number) => void,
): number | undefined {
  const [current, setCurrent] = useState<number | undefined>(undefined);
  // Keys may come faster than the page is drawn.
  const now = useRef({ current, count, open, mark });
  now.current = { ...now.current, count, open, mark };
  /** The link of the row that was drawn last: keys may have gone on from there. */
  const focused = useRef<HTMLAnchorElement | null | undefined>(undefined);
  const keys = useMemo<Keys>(() => {
    const move = (step: number) => {
      const { current: at = -1, count: rows } = now.current;
      if (rows === 0) return false;
      now.current = { ...now.current, current: Math.min(Math.max(0, at + step), rows - 1) };
      setCurrent(now.current.current);
      return true;
    };
    const act = (action: ((row: number) => void) | undefined) => {
      const { current: at } = now.current;
      if (at === undefined || action === undefined) return false;
      action(at);
      return true;
    };
    return {
      j: () => move(1),
      k: () => move(-1),
      // Enter on another link or a button is theirs, whatever row is chosen.
      Enter: (target) => (target === focused.current || !isPressed(target)) && act(now.current.open),
      o: () => act(now.current.open),
      x: () => act(now.current.mark),
    };
  }, []);
  useKeys(keys);
  useEffect(() => {
    if (current === undefined) return;
    const row = document.querySelector(".current");
    row?.scrollIntoView({ block: "nearest" });
    focused.current = row?.querySelector("a");
    focused.current?.focus({ preventScroll: true });
  }, [current]);
  return current;
}

/** A button of a dialog that was closed has the focus until the page is drawn again. */
function isPressed(target: EventTarget | null): boolean {
  if (!(target instanceof Element) || target.closest("dialog:not([open])") !== null) return false;
  return target.closest("a, button, summary, [role=button]") !== null;
}
