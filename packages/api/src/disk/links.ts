import { lstat, readlink } from "node:fs/promises";
import { dirname, join, parse, sep } from "node:path";
import { errnoOf, errnoText, identityOf, isBelow } from "./metadata.js";

/** A symbolic link as it was when it was followed. */
export interface FollowedLink {
  readonly path: string;
  readonly target: string;
  /** Which link it is: one that was swapped away and back again is another, though it says the same. */
  readonly identity: string;
}

/** A name in a folder whose replacement would lead a path elsewhere. */
export interface Turn {
  readonly directory: string;
  readonly name: string;
}

/** Where a path leads to. */
export interface FollowedPath {
  /** Without any symbolic link in it; undefined where the path leads nowhere. */
  readonly realPath: string | undefined;
  /** Why it leads nowhere: `ENOENT`, `ELOOP`, `EACCES` … */
  readonly problem: string | undefined;
  readonly links: readonly FollowedLink[];
  /**
   * What must be watched to learn that the path leads elsewhere: each link's own place, the last name's, and those of the folders that a link leads through which it is
   * not in itself.
   */
  readonly turns: readonly Turn[];
}

/** As many as Linux follows. */
const maxLinks = 40;

/** What one step on the way was, remembered over many paths of one scan: `undefined` is no link. */
export type LinkCache = Map<string, FollowedLink | undefined>;

/**
 * Follows a path by hand rather than with `realpath`, because each link on the way may be the one that is swapped (Kubernetes
 * swaps `..data`, deployment tools swap `current`): all of them are to be watched, and compared after reading.
 * Never throws.
 */
export async function followPath(path: string, cache: LinkCache = new Map()): Promise<FollowedPath> {
  const links: FollowedLink[] = [];
  const turns: Turn[] = [];
  const result = (realPath: string | undefined, problem?: string): FollowedPath => ({
    realPath,
    problem,
    links,
    turns,
  });
  let { root: current } = parse(path);
  /** Where the link stands that is being followed. */
  let place: string | undefined;
  let names = partsOf(path);
  while (names.length > 0) {
    const [name, ...rest] = names as [string, ...string[]];
    names = rest;
    if (name === "..") {
      current = dirname(current);
      continue;
    }
    const next = join(current, name);
    let link: FollowedLink | undefined;
    try {
      link = await linkAt(next, cache);
    } catch (error) {
      turns.push({ directory: current, name });
      return result(undefined, errnoOf(error));
    }
    const isApart = place !== undefined && !isBelow(place, next);
    if (link !== undefined || rest.length === 0 || isApart) turns.push({ directory: current, name });
    if (link === undefined) {
      current = next;
      continue;
    }
    links.push(link);
    if (links.length > maxLinks) return result(undefined, "ELOOP");
    place = current;
    const { root } = parse(link.target);
    if (root !== "") current = root;
    names = [...partsOf(link.target), ...rest];
  }
  return result(current);
}

/** Whether every link is still the one that was followed. */
export async function linksUnchanged(links: Iterable<FollowedLink>): Promise<boolean> {
  for (const link of links) {
    const stats = await lstat(link.path, { bigint: true }).catch(() => undefined);
    if (stats === undefined || identityOf(stats) !== link.identity) return false;
  }
  return true;
}

async function linkAt(path: string, cache: LinkCache): Promise<FollowedLink | undefined> {
  if (cache.has(path)) return cache.get(path);
  const stats = await lstat(path, { bigint: true });
  const link = stats.isSymbolicLink() ? { path, target: await readlink(path), identity: identityOf(stats) } : undefined;
  cache.set(path, link);
  return link;
}

function partsOf(path: string): string[] {
  return path
    .slice(parse(path).root.length)
    .split(sep === "/" ? "/" : /[\\/]/)
    .filter((part) => part !== "" && part !== ".");
}

/** Why a path leads nowhere, in words. */
export function problemText({ problem = "ENOENT", links }: FollowedPath): string {
  const last = links.at(-1);
  if (problem === "ELOOP" || last === undefined) return errnoText(problem);
  return `the symbolic link ${last.path} leads to ${last.target}: ${errnoText(problem)}`;
}
