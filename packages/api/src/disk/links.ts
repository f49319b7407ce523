import { lstat, readlink } from "node:fs/promises";
import { dirname, join, parse, sep } from "node:path";
import { contentIdentity, errnoOf, errnoText, isBelow } from "./metadata.js";

/** A symbolic link at the time when it was followed. */
export interface FollowedLink {
  readonly path: string;
  readonly target: string;
  /** The link's identity: a link that was swapped away and back is another one, even with the same target. */
  readonly identity: string;
}

/** A name in a folder. If it is replaced, a path leads elsewhere. */
export interface Turn {
  readonly directory: string;
  readonly name: string;
}

/** The target of a path. */
export interface FollowedPath {
  /** The path without symbolic links; undefined if it leads nowhere. */
  readonly realPath: string | undefined;
  /** Why it leads nowhere: `ENOENT`, `ELOOP`, `EACCES` … */
  readonly problem: string | undefined;
  readonly links: readonly FollowedLink[];
  /**
   * The paths to watch, to learn that the path leads elsewhere: each link itself, the last name, and the folders on the
   * way that only a link leads through.
   */
  readonly turns: readonly Turn[];
}

/** The same limit as in Linux. */
const maxLinks = 40;

/** The result of each step, remembered for all paths of a scan. `undefined` means no link. */
export type LinkCache = Map<string, FollowedLink | undefined>;

/**
 * Follows a path by hand instead of with `realpath`: any link on the way may be swapped (Kubernetes swaps `..data`,
 * deployment tools swap `current`), so all of them must be watched, and compared after reading. Never throws.
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
  /** The location of the link that is being followed. */
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

/** Whether every link is unchanged. */
export async function linksUnchanged(links: Iterable<FollowedLink>): Promise<boolean> {
  for (const link of links) {
    const stats = await lstat(link.path, { bigint: true }).catch(() => undefined);
    if (stats === undefined || contentIdentity(stats) !== link.identity) return false;
  }
  return true;
}

async function linkAt(path: string, cache: LinkCache): Promise<FollowedLink | undefined> {
  if (cache.has(path)) return cache.get(path);
  const stats = await lstat(path, { bigint: true });
  const link = stats.isSymbolicLink()
    ? { path, target: await readlink(path), identity: contentIdentity(stats) }
    : undefined;
  cache.set(path, link);
  return link;
}

function partsOf(path: string): string[] {
  return path
    .slice(parse(path).root.length)
    .split(sep === "/" ? "/" : /[\\/]/)
    .filter((part) => part !== "" && part !== ".");
}

/** Explains why a path leads nowhere. */
export function problemText({ problem = "ENOENT", links }: FollowedPath): string {
  const last = links.at(-1);
  if (problem === "ELOOP" || last === undefined) return errnoText(problem);
  return `the symbolic link ${last.path} leads to ${last.target}: ${errnoText(problem)}`;
}
