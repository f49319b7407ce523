import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { onEvent } from "../../api/events.js";
import { get } from "../../api/request.js";
import type { NodeRow, NodeRows } from "../../api/types.js";

const pageSize = 100;
/** What is seen is asked for again after so long, in milliseconds. */
const renewMs = 2_000;
const afterEventMs = 250;

/** A long list of nodes, of which the pages that are seen are known. */
export interface Pages {
  readonly total: number | undefined;
  readonly error: Error | undefined;
  /** Undefined: it is on its way. */
  row(index: number): NodeRow | undefined;
  seen(first: number, last: number): void;
}

/** Asks for the pages that are seen, and again while they are. `query`: without `offset` and `limit`. */
export function usePages(query: string): Pages {
  const [state, setState] = useState<{ readonly query: string; readonly total?: number; readonly error?: Error }>({
    query,
  });
  const pages = useRef({ query, rows: new Map<number, readonly NodeRow[]>() });
  const wanted = useRef<readonly [number, number]>([0, pageSize]);
  const renew = useRef<(again: boolean) => void>(() => {});
  useEffect(() => {
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const asked = new Set<number>();
    if (pages.current.query !== query) pages.current = { query, rows: new Map() };
    const ask = async (page: number): Promise<void> => {
      if (asked.has(page)) return;
      asked.add(page);
      try {
        const path = `fleet/nodes?${query}&offset=${page * pageSize}&limit=${pageSize}`;
        const { total, nodes } = await get<NodeRows>(path, abort.signal);
        pages.current.rows.set(page, nodes);
        setState({ query, total });
      } catch (error) {
        if (!abort.signal.aborted) setState((before) => ({ ...before, query, error: error as Error }));
      } finally {
        asked.delete(page);
      }
    };
    const look = (again: boolean) => {
      const [first, last] = wanted.current.map((row) => Math.floor(Math.max(0, row - 1) / pageSize)) as [
        number,
        number,
      ];
      for (let page = first; page <= last; page += 1) if (again || !pages.current.rows.has(page)) void ask(page);
    };
    const later = (ms: number) => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        if (!document.hidden) look(true);
        later(renewMs);
      }, ms);
    };
    renew.current = look;
    look(true);
    later(renewMs);
    const stop = onEvent(() => later(afterEventMs));
    return () => {
      abort.abort();
      clearTimeout(timer);
      stop();
    };
  }, [query]);
  const isOf = state.query === query;
  const seen = useCallback((first: number, last: number) => {
    wanted.current = [first, last];
    renew.current(false);
  }, []);
  return {
    total: isOf ? state.total : undefined,
    error: isOf ? state.error : undefined,
    row: (index) => pages.current.rows.get(Math.floor(index / pageSize))?.[index % pageSize],
    seen,
  };
}
