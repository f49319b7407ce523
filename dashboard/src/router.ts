import { useEffect, useState } from "preact/hooks";

/** Where the page is: everything that it shows can be linked to. */
export interface Place {
  /** `fleet`, `node` …; empty at the start. */
  readonly view: string;
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
}

/** Reads what follows `#`: `#/node/edge-1?tab=timeline`. */
export function placeOf(hash: string): Place {
  const [path = "", query = ""] = splitOnce(hash.replace(/^#\/?/, ""), "?");
  const [view = "", ...parts] = path.split("/").map(decoded);
  return { view, parts, query: new URLSearchParams(query) };
}

/** A link to a place. Values that are undefined or empty are left out. */
export function linkTo(
  view: string,
  parts: readonly string[] = [],
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => (entry[1] ?? "") !== "");
  const text = new URLSearchParams(given).toString();
  return `#/${[view, ...parts].map(encodeURIComponent).join("/")}${text === "" ? "" : `?${text}`}`;
}

export function go(link: string): void {
  location.hash = link;
}

/** Changes the query of this place. It is no step of the browser's history: who types a search makes many. */
export function replaceQuery(change: Readonly<Record<string, string | undefined>>): void {
  const { view, parts, query } = placeOf(location.hash);
  const next = { ...Object.fromEntries(query), ...change };
  history.replaceState(undefined, "", linkTo(view, parts, next));
  dispatchEvent(new HashChangeEvent("hashchange"));
}

/** The place now, and whenever it changes. */
export function usePlace(): Place {
  const [place, setPlace] = useState(() => placeOf(location.hash));
  useEffect(() => {
    const show = () => setPlace(placeOf(location.hash));
    addEventListener("hashchange", show);
    return () => removeEventListener("hashchange", show);
  }, []);
  return place;
}

function splitOnce(text: string, by: string): readonly string[] {
  const at = text.indexOf(by);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
