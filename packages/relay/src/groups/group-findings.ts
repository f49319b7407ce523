import { canonicalName, type Finding, maxFindings, type ResourceName, type ResourceType } from "@xdskit/api";

/** What is wrong at present with the things that an origin or the cache gave a group. */
export function createGroupFindings() {
  /** By subject; the newest last. At most `maxFindings` findings. */
  const current = new Map<string, readonly Finding[]>();

  return {
    get all(): readonly Finding[] {
      return [...current.values()].flat();
    },
    /** Replaces the earlier findings about the same resources and files. */
    report(found: readonly Finding[]) {
      const fresh = new Map<string, Finding[]>();
      for (const finding of found) {
        const same = fresh.get(subjectOf(finding));
        if (same === undefined) fresh.set(subjectOf(finding), [finding]);
        else same.push(finding);
      }
      for (const [subject, findings] of fresh) {
        current.delete(subject);
        current.set(subject, findings.slice(0, maxFindings));
      }
      let count = 0;
      for (const findings of current.values()) count += findings.length;
      for (const [subject, findings] of current) {
        if (count <= maxFindings) break;
        current.delete(subject);
        count -= findings.length;
      }
    },
    /**
     * The last change of a resource is served, or nobody asks for the resource any more. Ends the findings about it,
     * and those that name no resource. Costs nothing if nothing is wrong.
     */
    served(type: ResourceType, name: ResourceName) {
      if (current.size === 0) return;
      current.delete(resourceSubject(type.name, name));
      current.delete(resourceSubject(type.name, undefined));
      current.delete(resourceSubject(undefined, undefined));
    },
    /** The cache has a new file of a type. */
    cached: (type: ResourceType) => void current.delete(fileSubject(type.name)),
  };
}

/** Only findings about the cache have a file. */
function subjectOf({ file, type, resource }: Finding): string {
  return file === undefined ? resourceSubject(type, resource) : fileSubject(type);
}

function resourceSubject(type: string | undefined, name: ResourceName | undefined): string {
  return `${type ?? ""} ${name === undefined ? "" : canonicalName(name)}`;
}

function fileSubject(type: string | undefined): string {
  return `file ${type ?? ""}`;
}
