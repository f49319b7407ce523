import {
  createResourceJson,
  type Finding,
  type Registry,
  type ResourceType,
  readResources,
  type Version,
} from "@xdskit/api";
import { type ReceivedResource, receivedResource } from "@xdskit/protocol";
import { responseText, wrapped } from "../files/resource-text.js";

/** What a file of the cache holds. */
export interface CachedType {
  readonly type: ResourceType;
  readonly resources: readonly ReceivedResource[];
  /** The set's, of the origin. */
  readonly version: Version;
}

/** Writes resources as a file of the cache: a `DiscoveryResponse` of wrappers with the origin's versions. */
export function createCacheText(registry: Registry | undefined): (cached: CachedType) => string {
  const json = createResourceJson(registry);
  const texts = new WeakMap<ReceivedResource, string>();

  function textOf(received: ReceivedResource): string | undefined {
    // For how long nobody was heard who keeps it alive is not known after a restart.
    if (received.ttl !== undefined) return undefined;
    const known = texts.get(received);
    if (known !== undefined) return known;
    let bare: string;
    try {
      bare = Buffer.from(json(received.resource(), "v3")).toString();
    } catch {
      // Such as an extension that only the clients know: it comes again after a restart.
      return undefined;
    }
    const { name, version, aliases } = received;
    // For people to read.
    const text = JSON.stringify(JSON.parse(wrapped({ name, version, aliases }, bare)), undefined, 1);
    texts.set(received, text);
    return text;
  }

  return ({ resources, version }) => {
    const written = resources.map(textOf);
    const isWhole = written.every((text) => text !== undefined);
    // A set that lacks something is not the one of that version.
    return responseText(
      isWhole ? version : "",
      written.filter((text) => text !== undefined),
    );
  };
}

/** What of a file of the cache could be read, and what could not. */
export interface ReadCache extends CachedType {
  readonly findings: readonly Finding[];
}

/** The fields that only the cache has; whatever stands there. */
interface CacheText {
  readonly versionInfo?: unknown;
  readonly resources?: readonly ({ readonly name?: unknown; readonly version?: unknown } | null)[];
}

/**
 * Reads a file of the cache. What is wrong in it is left out and told in the findings. `isSame`: the origin is the one whose versions it has; without that nothing is
 * known of versions.
 */
export function readCacheFile(
  file: { readonly path: string; readonly bytes: Uint8Array },
  type: ResourceType,
  isSame: boolean,
  registry: Registry | undefined,
): ReadCache {
  const { resources: read, findings } = readResources(file, { registry });
  const ofType = read.filter(({ resource }) => resource.type === type);
  const isWhole = findings.length === 0 && ofType.length === read.length;
  const text: CacheText = isSame && isWhole ? (JSON.parse(Buffer.from(file.bytes).toString()) as CacheText) : {};
  const versions = new Map(text.resources?.map((each) => [each?.name, each?.version]));
  const resources = ofType.map(({ resource }) => {
    const version = versions.get(resource.name);
    return receivedResource(resource, typeof version === "string" ? version : "", { registry });
  });
  return { type, resources, version: typeof text.versionInfo === "string" ? text.versionInfo : "", findings };
}
