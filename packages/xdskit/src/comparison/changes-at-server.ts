import {
  envoyRegistry,
  type Registry,
  type ResourceTypes,
  readResources,
  resourceTypes,
  stringifyJson,
  typeNameIn,
  writeYaml,
} from "@xdskit/api";
import { receivedResource } from "@xdskit/protocol";
import type { ChangedResource, ResourceView } from "../api-client/api-types.js";
import { createResourceView } from "../asking/output/resource-view.js";
import type { ShownChange, ShownContent } from "./shown-change.js";

/** What messages and types are known. */
export interface KnownMessages {
  readonly registry?: Registry | undefined;
  readonly types?: ResourceTypes | undefined;
}

/** The same where another layer has a resource, too: what nodes are served, group by group. */
export function forNodes(changed: readonly ChangedResource[]): readonly ServedResource[] {
  return changed.flatMap(({ served, ...change }) => {
    if (served === undefined) return [change];
    return served.length === 0 ? [{ ...change, groups: [] }] : served.map((one) => ({ ...change, ...one }));
  });
}

/** A change with the groups whose nodes are served it; undefined: it is about a layer. */
interface ServedResource extends ChangedResource {
  readonly groups?: readonly string[] | undefined;
}

/** What a server says that differs, to be shown. `layer`: where it is said. */
export function changesAtServer(
  changed: readonly ServedResource[],
  layer: string | undefined,
  { registry = envoyRegistry(), types = resourceTypes }: KnownMessages = {},
): readonly ShownChange[] {
  const view = createResourceView(registry, false);
  const yamlOf = (resource: ResourceView): string | undefined => {
    const bytes = Buffer.from(stringifyJson(resource));
    // It was checked when the server took it, and its secrets are left out.
    const read = readResources({ path: "answer.json", bytes }, { registry, types, validate: false });
    const [only] = read.resources;
    if (only === undefined || read.findings.length > 0 || read.resources.length > 1) return undefined;
    return view.yaml(receivedResource(only.resource, only.resource.version, { registry, types }));
  };
  return changed.map(({ type, name, groups, before, after }) => {
    let texts: readonly string[] | undefined;
    const yamls = () => {
      if (texts !== undefined) return texts;
      const read = [before, after].map((each) => (each === null ? "" : yamlOf(each)));
      // With the names of fields as files have them; both in the same form, or all of it would differ.
      texts = read.every((text) => text !== undefined) ? read : [before, after].map((each) => writeYaml(each));
      return texts;
    };
    const contentOf = (resource: ResourceView | null, index: number): ShownContent | undefined =>
      resource === null ? undefined : { json: () => resource, yaml: () => yamls()[index] ?? "" };
    const about = { type: typeNameIn(types, type), typeUrl: type, name, layer, groups };
    return { ...about, before: contentOf(before, 0), after: contentOf(after, 1) };
  });
}
