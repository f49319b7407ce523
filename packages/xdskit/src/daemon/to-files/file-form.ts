import {
  createResourceJson,
  type Finding,
  keptFindings,
  nameless,
  type Registry,
  type Resource,
  type Version,
  writeResources,
} from "@xdskit/api";
import type { FileFormat } from "./file-formats.js";

/** Writes files in one format. */
export interface FileForm {
  readonly format: FileFormat;
  /** A resource in the file's form. Throws an XdskitError if the format cannot express it. */
  part(resource: Resource): Uint8Array;
  /** A file with these resources. */
  file(version: Version, parts: Iterable<Uint8Array>): Uint8Array;
}

/** `incomplete` is told of values that JSON has only in base64. */
export function createFileForm(
  format: FileFormat,
  registry: Registry | undefined,
  incomplete: (findings: readonly Finding[]) => void,
): FileForm {
  return format === "json" ? jsonForm(registry, incomplete) : binaryForm(registry);
}

function jsonForm(registry: Registry | undefined, incomplete: (findings: readonly Finding[]) => void): FileForm {
  const json = createResourceJson(registry, (resource, _api, kept) => incomplete(keptFindings(resource, kept)));
  return {
    format: "json",
    part(resource) {
      const bare = json(resource, "v3");
      const { type, name, aliases } = resource;
      // A virtual host's own name is only a part of it, and a locality endpoint has none.
      const isNamed = type.services.v3?.stream !== undefined && type.nameOf !== nameless;
      if (aliases.length === 0 && isNamed) return bare;
      const wrapper = { "@type": wrapperUrl, name, ...(aliases.length === 0 ? {} : { aliases }) };
      return Buffer.from(`${JSON.stringify(wrapper).slice(0, -1)},"resource":${Buffer.from(bare)}}`);
    },
    // A resource on each line.
    file(version, parts) {
      const head = Buffer.from(`{"versionInfo":${JSON.stringify(version)},"resources":[\n`);
      const lines = Array.from(parts, (part, index) => (index === 0 ? [part] : [separator, part])).flat();
      return Buffer.concat([head, ...lines, Buffer.from("\n]}\n")]);
    },
  };
}

const separator = Buffer.from(",\n");
const wrapperUrl = "type.googleapis.com/envoy.service.discovery.v3.Resource";

/** Protobuf's readers merge concatenated responses with one resource each into one response with all of them. */
function binaryForm(registry: Registry | undefined): FileForm {
  const response = (resources: readonly Resource[], version?: Version) =>
    writeResources(resources, "binary", { registry, version }) as Uint8Array;
  return {
    format: "pb",
    part: (resource) => response([{ ...resource, ttl: undefined, variant: undefined }]),
    file: (version, parts) => Buffer.concat([response([], version), ...parts]),
  };
}
