import type { Version } from "../identifiers.js";
import type { ResourceType } from "../resource-types/resource-type.js";

/** What was taken of a file that is no list of resources and no discovery response, such as an Envoy's bootstrap. */
export interface Adoption {
  /** What the file is: `an Envoy bootstrap`. */
  readonly form: string;
  /** How many resources were taken, by the name of their type, in delivery order. */
  readonly taken: Readonly<Record<string, number>>;
  /** What was left out: `admin`, `2 warming clusters`. */
  readonly leftOut: readonly string[];
  /** Clusters that resources name as the management servers of their parts: a client that is an Envoy must have them in its own bootstrap. */
  readonly serverClusters: readonly string[];
}

/** Keys of a file are named, which may be as many and as long as it likes. */
const mostKinds = 50;
const longestKind = 100;
const otherPart = "other part";

/** What was taken of one form while a file is read. */
export class AdoptionRecord {
  readonly form: string;
  /** The version of each resource that was taken, by type and name: dumps say some of them twice. */
  readonly versions = new Map<string, Version>();
  private readonly taken = new Map<ResourceType, number>();
  private readonly leftOut = new Map<string, number>();
  private readonly serverClusters = new Set<string>();

  constructor(form: string) {
    this.form = form;
  }

  take(type: ResourceType): void {
    this.taken.set(type, (this.taken.get(type) ?? 0) + 1);
  }

  /** Notes what is left out: `warming cluster`, 2; 0 is for what is not counted. */
  leaveOut(what: string, count: number): void {
    const isTooMuch = what.length > longestKind || (this.leftOut.size >= mostKinds && !this.leftOut.has(what));
    if (isTooMuch && what !== otherPart) this.leaveOut(otherPart, Math.max(count, 1));
    else this.leftOut.set(what, (this.leftOut.get(what) ?? 0) + count);
  }

  nameServer(cluster: string): void {
    if (cluster.length <= longestKind && this.serverClusters.size < mostKinds) this.serverClusters.add(cluster);
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

/** The record of a form: parts of a file that are of the same form have one. */
export function recordOf(records: AdoptionRecord[], form: string): AdoptionRecord {
  const known = records.find((record) => record.form === form);
  if (known !== undefined) return known;
  const record = new AdoptionRecord(form);
  records.push(record);
  return record;
}

/** `2 warming clusters`; the noun may have something behind it: `2 routes inside a listener`. */
function counted(count: number, what: string): string {
  if (count === 1) return `1 ${what}`;
  const [, noun = what, rest = ""] = /^(.*?)( (?:of|inside|without|with|that) .*)?$/.exec(what) ?? [];
  return `${count} ${noun.endsWith("s") ? noun : `${noun}s`}${rest}`;
}
