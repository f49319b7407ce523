import { useEffect, useRef, useState } from "preact/hooks";
import { onEvent } from "./events.js";
import { get } from "./request.js";

/** What is shown is asked for again after so long, */
const renewMs = 2_000;
/** and so soon after an event: several come at once. */
const afterEventMs = 250;

/** What is known of an answer. An older answer stays while a newer one is on its way. */
export interface Live<T> {
  readonly data: T | undefined;
  readonly error: Error | undefined;
  /** No answer of this path came yet. */
  readonly isLoading: boolean;
  renew(): void;
}

/** How often it is asked. `once`: only when something happened. */
export type Pace = "always" | "once";

/** Asks the API for a path, and again while the page is looked at. Undefined: nothing is asked. */
export function useLive<T>(path: string | undefined, pace: Pace = "always"): Live<T> {
  const [state, setState] = useState<{ path: string | undefined; data?: T; error?: Error }>({ path: undefined });
  const asked = useRef<() => void>(() => {});
  useEffect(() => {
    if (path === undefined) return;
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isAsking = false;
    const ask = async (): Promise<void> => {
      if (isAsking || abort.signal.aborted) return;
      isAsking = true;
      clearTimeout(timer);
      try {
        const data = await get<T>(path, abort.signal);
        setState({ path, data });
      } catch (error) {
        if (abort.signal.aborted) return;
        setState((before) => ({ ...(before.path === path ? before : {}), path, error: error as Error }));
      } finally {
        isAsking = false;
        if (pace === "always") later(renewMs);
      }
    };
    const later = (ms: number) => {
      clearTimeout(timer);
      timer = setTimeout(() => void (document.hidden ? later(renewMs) : ask()), ms);
    };
    asked.current = () => void ask();
    void ask();
    const stop = onEvent(() => later(afterEventMs));
    return () => {
      abort.abort();
      clearTimeout(timer);
      stop();
    };
  }, [path, pace]);
  const isOfPath = state.path === path;
  return {
    data: isOfPath ? state.data : undefined,
    error: isOfPath ? state.error : undefined,
    isLoading: path !== undefined && !isOfPath,
    renew: () => asked.current(),
  };
}
