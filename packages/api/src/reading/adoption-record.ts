import { maxFindings } from "../errors/limits.js";
import type { Version } from "../names/identifiers.js";
import type { ResourceType } from "../resource-types/resource-type.js";
import type { Resource } from "../resources/resource.js";

/**
 * The parts taken from a file that is not a list of resources or a discovery response, such as an Envoy's bootstrap.
 */
export interface Adoption {
  /** The kind of file: `an Envoy bootstrap`. */
  readonly form: string;
  /** The number of resources by type name, in delivery order. */
  readonly taken: Readonly<Record<string, number>>;
  /** The parts that were left out: `admin`, `2 warming clusters`. */
  readonly leftOut: readonly string[];
  /** Clusters that resources name as management servers. An Envoy client must have them in its own bootstrap. */
  readonly serverClusters: readonly string[];
}

/** Files may have any number of keys, of any length. */
const longestKind = 100;
const otherPart = "other part";

/** Records the parts taken from one form while a file is read. */
export class AdoptionRecord {
  readonly form: string;
  /** Whether the program that wrote it hides secrets, and lists some resources twice. */
  readonly isDump: boolean;
  /** The version of each resource that was taken from a dump, by type and name: dumps list some of them twice. */
  private readonly versions = new Map<string, Version>();
  private readonly taken = new Map<ResourceType, number>();
  private readonly leftOut = new Map<string, number>();
  private readonly serverClusters = new Set<string>();

  constructor(form: string, isDump: boolean) {
    this.form = form;
    this.isDump = isDump;
  }

  /**
   * Counts a resource. False: the same one was taken before from a dump. `isState`: also if it was another one, which
   * is then left out.
   */
  take({ type, key, version }: Resource, isState: boolean): boolean {
    const name = `${type.typeUrl} ${key}`;
    const known = this.isDump ? this.versions.get(name) : undefined;
    if (known === version) return false;
    if (known !== undefined && isState) {
      this.leaveOut(`${type.name} with another state of its endpoints`, 1);
      return false;
    }
    this.versions.set(name, version);
    this.taken.set(type, (this.taken.get(type) ?? 0) + 1);
    return true;
  }

  /** Notes a part that is left out: `warming cluster`, 2. The count 0 means that it is not counted. */
  leaveOut(what: string, count: number): void {
    const isTooMuch = what.length > longestKind || (this.leftOut.size >= maxFindings && !this.leftOut.has(what));
    if (isTooMuch && what !== otherPart) this.leaveOut(otherPart, Math.max(count, 1));
    else this.leftOut.set(what, (this.leftOut.get(what) ?? 0) + count);
  }

  nameServer(cluster: string): void {
    if (cluster.length <= longestKind && this.serverClusters.size < maxFindings) this.serverClusters.add(cluster);
  }

  get adoption(): Adoption {
    const taken = [...this.taken].sort(([a], [b]) => a.deliveryOrder - b.deliveryOrder);
    return {
      form: this.form,
      taken: Object.fromEntries(taken.map(([{ name }, count]) => [name, count])),
      leftOut: Array.from(this.leftOut, ([what, count]) => (count === 0 ? what : counted(count, what))),
      serverClusters: [...this.serverClusters],
    };
  }
}

/** The record of a form. Parts of a file with the same form share one. */
export function recordOf(records: AdoptionRecord[], form: string, isDump: boolean): AdoptionRecord {
  const known = records.find((record) => record.form === form);
  if (known !== undefined) return known;
  const record = new AdoptionRecord(form, isDump);
  records.push(record);
  return record;
}

/** `2 warming clusters`. The noun may be followed by more: `2 routes inside a listener`. */
function counted(count: number, what: string): string {
  if (count === 1) return `1 ${what}`;
  const [, noun = what, rest = ""] = /^(.*?)( (?:of|inside|without|with|that) .*)?$/.exec(what) ?? [];
  return `${count} ${noun.endsWith("s") ? noun : `${noun}s`}${rest}`;
}
