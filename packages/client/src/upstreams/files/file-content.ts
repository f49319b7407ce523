import {
  canonicalName,
  type Finding,
  maxFindings,
  type PositionedResource,
  type Resource,
  type ResourceFile,
  type ResourceName,
  type ResourceType,
  type Steps,
  throwIfAny,
} from "@xdskit/api";
import { type FileContent, type ReceivedResource, receivedResource } from "@xdskit/protocol";
import type { ClientLimits } from "../../options/client-options.js";
import type { UpstreamContext } from "../contract/upstream.js";

export interface ReadContentOptions extends Pick<UpstreamContext, "types" | "registry" | "check"> {
  readonly type: ResourceType;
  readonly limits: Pick<ClientLimits, "resourcesPerResponse" | "resourcesPerType">;
}

/**
 * Takes what was read of a file, with a stop after each resource. A resource that did not change stays the same object,
 * and is not checked again. Throws an XdskitError with all problems: a file is taken whole or not at all (rules 154,
 * 156).
 */
export function* contentSteps(
  file: { readonly path: string },
  read: Pick<ResourceFile, "resources" | "findings" | "version">,
  before: FileContent | undefined,
  options: ReadContentOptions,
): Steps<FileContent> {
  const { type, types, registry, limits } = options;
  throwIfAny(read.findings.filter(({ severity }) => severity === "error").slice(0, maxFindings));
  const most = Math.min(limits.resourcesPerResponse, limits.resourcesPerType);
  if (read.resources.length > most) {
    const message = `it holds ${read.resources.length} resources, and at most ${most} are taken`;
    throwIfAny([{ code: "XDSKIT_CLIENT_LIMIT", severity: "error", message, file: file.path, type: type.name }]);
  }
  const findings: Finding[] = [];
  const resources = new Map<ResourceName, ReceivedResource>();
  const places = new Map<ResourceName, PositionedResource["where"]>();
  for (const { resource, where } of read.resources) {
    yield;
    if (findings.length >= maxFindings) break;
    const name = canonicalName(resource.name);
    if (resource.type.typeUrl !== type.typeUrl) {
      const message = `the file holds ${type.name} resources, and this one is of type ${resource.type.name}`;
      findings.push({ code: "XDSKIT_TYPE_MISMATCH", severity: "error", message, ...where });
    } else if (places.has(name)) {
      const { line } = places.get(name) ?? {};
      const message = `there is another of this name${line === undefined ? "" : ` in line ${line}`}`;
      findings.push({ code: "XDSKIT_DUPLICATE_RESOURCE", severity: "error", message, ...where });
    } else {
      places.set(name, where);
      const known = before?.resources.get(name);
      if (known !== undefined && isSameContent(known, resource)) {
        resources.set(name, known);
        continue;
      }
      const received = receivedResource(resource, read.version, { registry, types });
      for (const finding of options.check?.(type, resource.name, received.message) ?? []) {
        if (finding.severity === "error") findings.push({ ...finding, ...where, field: finding.field ?? where.field });
      }
      resources.set(name, received);
    }
  }
  throwIfAny(findings.slice(0, maxFindings));
  return { version: read.version, resources };
}

/** Compares content, not the version that the file gives. */
function isSameContent(known: ReceivedResource, resource: Resource): boolean {
  return known.resource().version === resource.version && known.name === resource.name;
}
