import { isAscii } from "node:buffer";
import type { Adoption } from "./adoption/adoption.js";
import { tellOfNothing } from "./adoption/document-taker.js";
import type { BodyMemory } from "./compiled/body-slabs.js";
import type { Finding } from "./errors.js";
import { addFinding, type FileReading, type PositionedResource } from "./file-reading.js";
import { decodeText, type FileText } from "./file-text.js";
import { partsOfList } from "./json-parts.js";
import { parseJson } from "./json-source.js";
import { readJsonText } from "./json-text-resources.js";
import { isLong, NoList } from "./list-parts.js";
import { readBinary } from "./message-items.js";
import { mayLeaveOutSecrets } from "./redact/left-out-secrets.js";
import { envoyRegistry, type Registry } from "./registry.js";
import type { ResourceTypes } from "./resource-types/resource-type.js";
import { resourceTypes } from "./resource-types/resource-types.js";
import { isCompiled, readSource } from "./source-items.js";
import { readTextFormat } from "./text-format/text-file.js";
import { partsOfYamlList } from "./yaml-parts.js";
import { parseYaml } from "./yaml-source.js";

/** What a file holds: all that is well, and all that is not. */
export interface ResourceFile {
  readonly resources: readonly PositionedResource[];
  /** At most 100, in the order of the file. */
  readonly findings: readonly Finding[];
  /** The `version_info` of a `DiscoveryResponse`; empty where the file holds none, or does not say it. */
  readonly version: string;
  /** What was taken of it where it is of another form, such as an Envoy's bootstrap; mostly nothing is. */
  readonly adoptions: readonly Adoption[];
}

/** How a resource file is to be read. */
export interface ReadResourcesOptions {
  /** Every message that may occur; by default Envoy's own. */
  readonly registry?: Registry | undefined;
  /** By default all that Envoy knows. */
  readonly types?: ResourceTypes | undefined;
  /** Whether resources are checked by the rules in their protos, and for `[redacted]` in the place of a secret; by default they are. */
  readonly validate?: boolean | undefined;
  /** Whether they are checked for what Envoy refuses by itself, too, though no rule says so; by default they are, if they are checked at all. */
  readonly envoy?: boolean | undefined;
  /** Whether resources are to say where they name others; by default not, for they hold the whole file in memory then. */
  readonly places?: boolean | undefined;
  /** Where bodies are put: of files that are read and kept together, all may lie in the same. By default each file has its own. */
  readonly bodies?: BodyMemory | undefined;
}

/** The extensions of resource files, each with its form. */
export const resourceFileForms = {
  ".yaml": "yaml",
  ".yml": "yaml",
  ".json": "json",
  ".pb": "binary",
  ".pb_text": "text",
  ".textproto": "text",
} as const;

/** How a resource file is written. */
export type ResourceFileForm = (typeof resourceFileForms)[keyof typeof resourceFileForms];

/** The form of a file by its extension, in any case; undefined for one that is no resource file. */
export function resourceFileForm(path: string): ResourceFileForm | undefined {
  const extension = path.slice(path.lastIndexOf(".")).toLowerCase();
  return Object.hasOwn(resourceFileForms, extension)
    ? resourceFileForms[extension as keyof typeof resourceFileForms]
    : undefined;
}

/**
 * Reads a resource file: YAML, JSON, binary or text by the path's extension. It holds one resource, a list of them, a `DiscoveryResponse`, or (YAML)
 * several such documents. In YAML and JSON it may also be what an Envoy or its control plane has: a bootstrap or a dump (`adoptions`). Never throws for what the file holds: that becomes findings. A resource with an error is left out.
 *
 * Bodies of small resources of one file lie in pieces of memory of up to 64 kB, and each keeps its whole piece. Who keeps a few of a file of many for long keeps
 * copies instead: `{ ...resource, body: new Uint8Array(resource.body) }`. With `bodies`, that is so of all files that share them.
 */
export function readResources(
  file: { readonly path: string; readonly bytes: Uint8Array },
  options: ReadResourcesOptions = {},
): ResourceFile {
  const form = resourceFileForm(file.path);
  const reading: FileReading = {
    path: file.path,
    registry: options.registry ?? envoyRegistry(),
    types: options.types ?? resourceTypes,
    validate: options.validate ?? true,
    envoy: options.envoy ?? true,
    mayLeaveOutSecrets: (options.validate ?? true) && mayLeaveOutSecrets(file.bytes),
    places: options.places ?? false,
    views: form !== "json",
    bodies: options.bodies,
    resources: [],
    findings: [],
    adoptions: [],
    version: "",
  };
  if (form === undefined) {
    const message = `a resource file ends with one of ${Object.keys(resourceFileForms).join(", ")}`;
    addFinding(reading, { at: () => undefined }, "XDSKIT_FILE_FORM", message);
  } else if (form === "binary") {
    readBinary(reading, file.bytes);
  } else if (form !== "json" || !isReadAsBytes(reading, file.bytes)) {
    const text = decodeText(file.bytes);
    const { problem } = text;
    if (problem !== undefined)
      addFinding(reading, { at: () => text.at(problem.offset) }, "XDSKIT_SYNTAX", problem.message);
    else if (form === "text") readTextFormat(reading, text);
    else readStructured(reading, text, form);
  }
  tellOfNothing(reading);
  const { resources, findings, version } = reading;
  return { resources, findings, version, adoptions: reading.adoptions.map(({ adoption }) => adoption) };
}

/** Whether JSON was read without a text of it. */
function isReadAsBytes(reading: FileReading, bytes: Uint8Array): boolean {
  return isCompiled(reading) && isAscii(bytes) && attempt(reading, () => readJsonText(reading, bytes));
}

function readStructured(reading: FileReading, text: FileText, form: "json" | "yaml"): void {
  if (isLong(text.text)) {
    const documents = form === "json" ? partsOfList(text.text) : partsOfYamlList(text.text);
    if (attempt(reading, () => readSource(reading, text, { documents, problems: [] }))) return;
  }
  if (isEmpty(text)) return;
  readSource(reading, text, form === "json" ? parseJson(text.text, "envoy") : parseYaml(text.text, "envoy"));
}

/** Whether a text could be read in one way; if not, it is as if that had not been tried. */
function attempt(reading: FileReading, read: () => void): boolean {
  try {
    read();
    return true;
  } catch (error) {
    if (!(error instanceof NoList)) throw error;
    reading.resources.length = 0;
    reading.findings.length = 0;
    reading.adoptions.length = 0;
    return false;
  }
}

function isEmpty({ text }: FileText): boolean {
  return !/\S/.test(text);
}
