import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { askAgain } from "../../api/again.js";
import { onEvent } from "../../api/events.js";
import { get } from "../../api/request.js";
import type { NodeRow, NodeRows } from "../../api/types.js";

const pageSize = 100;

/**
 * A long list of nodes: asks for the pages that are seen, and again while they are. `query`: without `offset` and
 * `limit`.
 */
export function usePages(query: string) {
  const [state, setState] = useState<{ readonly query: string; readonly total?: number; readonly error?: Error }>({
    query,
  });
  const pages = useRef({ query, rows: new Map<number, readonly NodeRow[]>() });
  const wanted = useRef<readonly [number, number]>([0, pageSize]);
  const lookForNew = useRef<() => void>(() => {});
  useEffect(() => {
    const abort = new AbortController();
    const asked = new Set<number>();
    if (pages.current.query !== query) pages.current = { query, rows: new Map() };
    const { rows } = pages.current;
    const ask = async (page: number): Promise<void> => {
      if (asked.has(page)) return;
      asked.add(page);
      try {
        const path = `fleet/nodes?${query}&offset=${page * pageSize}&limit=${pageSize}`;
        const { total, nodes } = await get<NodeRows>(path, abort.signal);
        rows.set(page, nodes);
        setState({ query, total });
      } catch (error) {
        if (!abort.signal.aborted) setState((before) => ({ ...before, query, error: error as Error }));
      } finally {
        asked.delete(page);
      }
    };
    const seenPages = (): readonly number[] => {
      const [first = 0, last = 0] = wanted.current.map((row) => Math.floor(Math.max(0, row - 1) / pageSize));
      return Array.from({ length: last - first + 1 }, (_, index) => first + index);
    };
    lookForNew.current = () => {
      for (const page of seenPages()) if (!rows.has(page)) void ask(page);
    };
    const again = askAgain(
      async () => {
        const seen = seenPages();
        // Pages that nobody looks at would be old by the time that somebody scrolls there.
        for (const page of rows.keys()) if (!seen.includes(page)) rows.delete(page);
        await Promise.all(seen.map(ask));
      },
      { isPaused: () => document.hidden },
    );
    const stop = onEvent(again.soon);
    return () => {
      abort.abort();
      again.stop();
      stop();
    };
  }, [query]);
  const isOf = state.query === query;
  const seen = useCallback((first: number, last: number) => {
    wanted.current = [first, last];
    lookForNew.current();
  }, []);
  return {
    total: isOf ? state.total : undefined,
    error: isOf ? state.error : undefined,
    /** Undefined: it is on its way. */
    row: (index: number) => pages.current.rows.get(Math.floor(index / pageSize))?.[index % pageSize],
    seen,
  };
}
