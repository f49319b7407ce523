import { useEffect, useRef, useState } from "preact/hooks";
import { askAgain } from "./again.js";
import { onEvent } from "./events.js";
import { get } from "./request.js";

/** How often it is asked. `once`: only when something happened. */
export type Pace = "always" | "once";

/**
 * Asks the API for a path, and again while the page is looked at; undefined: nothing is asked. An older answer stays
 * while a newer one is on its way.
 */
export function useLive<T>(path: string | undefined, pace: Pace = "always") {
  const [state, setState] = useState<{ path: string | undefined; data?: T; error?: Error }>({ path: undefined });
  const again = useRef<ReturnType<typeof askAgain> | undefined>(undefined);
  useEffect(() => {
    if (path === undefined) return;
    const abort = new AbortController();
    const ask = async (): Promise<void> => {
      try {
        const data = await get<T>(path, abort.signal);
        setState({ path, data });
      } catch (error) {
        if (abort.signal.aborted) return;
        setState((before) => ({ ...(before.path === path ? before : {}), path, error: error as Error }));
      }
    };
    const asking = askAgain(ask, { once: pace === "once", isPaused: () => document.hidden });
    again.current = asking;
    const stop = onEvent(asking.soon);
    return () => {
      abort.abort();
      asking.stop();
      stop();
    };
  }, [path, pace]);
  const isOfPath = state.path === path;
  return {
    data: isOfPath ? state.data : undefined,
    error: isOfPath ? state.error : undefined,
    /** No answer of this path came yet. */
    isLoading: path !== undefined && !isOfPath,
    renew: () => again.current?.now(),
  };
}
