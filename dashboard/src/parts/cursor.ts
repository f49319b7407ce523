import { useMemo, useRef, useState } from "preact/hooks";
import { type Keys, useKeys } from "./keys.js";

/** The row at which `j` and `k` are; undefined before the first of them. Enter and `o` open it. */
export function useCursor(count: number, open: (row: number) => void): number | undefined {
  const [current, setCurrent] = useState<number | undefined>(undefined);
  // Keys may come faster than the page is drawn.
  const now = useRef({ current, count, open });
  now.current = { ...now.current, count, open };
  const keys = useMemo<Keys>(() => {
    const move = (step: number) => {
      const { current: at = -1, count: rows } = now.current;
      if (rows === 0) return;
      now.current = { ...now.current, current: Math.min(Math.max(0, at + step), rows - 1) };
      setCurrent(now.current.current);
    };
    const enter = () => {
      const { current: at, open: action } = now.current;
      if (at !== undefined) action(at);
    };
    return { j: () => move(1), k: () => move(-1), Enter: enter, o: enter };
  }, []);
  useKeys(keys);
  return current;
}
