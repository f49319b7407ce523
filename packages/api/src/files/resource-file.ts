import type { Finding } from "../errors/errors.js";
import { hasErrors } from "../errors/findings.js";
import { parseJson } from "../json/json-source.js";
import type { Adoption } from "../reading/adoption-record.js";
import { addFinding, type FileReading, type PositionedResource, stopReading } from "../reading/file-reading.js";
import { readBinary } from "../reading/message-items.js";
import { mayLeaveOutSecrets } from "../redact/left-out-secrets.js";
import { envoyRegistry, type Registry } from "../registry/registry.js";
import type { ResourceTypes } from "../resource-types/resource-type.js";
import { resourceTypes } from "../resource-types/resource-types.js";
import { decodeText, type FileText } from "../text/file-text.js";
import { listNames } from "../text/list-names.js";
import { readTextFormat } from "../text-format/text-file.js";
import { yamlDocuments } from "../yaml/yaml-source.js";
import { readSource } from "./source-items.js";

/** The content of a file: its valid resources, and all problems. */
export interface ResourceFile {
  readonly resources: readonly PositionedResource[];
  /** At most 100, in the order of the file. */
  readonly findings: readonly Finding[];
  /** The `version_info` of a `DiscoveryResponse`; empty if there is none. */
  readonly version: string;
  /** The parts that were taken from other forms, such as an Envoy's bootstrap. Usually empty. */
  readonly adoptions: readonly Adoption[];
}

/** How to read a resource file. */
export interface ReadResourcesOptions {
  /** Knows every message that may occur. Default: Envoy's messages. */
  readonly registry?: Registry | undefined;
  /** Default: all types that Envoy knows. */
  readonly types?: ResourceTypes | undefined;
  /**
   * Whether to check resources by the rules in their protos, and for `[redacted]` instead of a secret. Default: true.
   */
  readonly validate?: boolean | undefined;
  /**
   * Whether to look also for values that Envoy itself refuses without a rule in the protos. Default: the value of
   * `validate`.
   */
  readonly envoy?: boolean | undefined;
  /**
   * Whether resources can say where they name other resources. Default: false, since that keeps the whole file in
   * memory.
   */
  readonly places?: boolean | undefined;
}

/** The extensions of resource files with their forms. */
export const resourceFileForms = {
  ".yaml": "yaml",
  ".yml": "yaml",
  ".json": "json",
  ".pb": "binary",
  ".pb_text": "text",
  ".textproto": "text",
} as const;

/** The form of a resource file. */
export type ResourceFileForm = (typeof resourceFileForms)[keyof typeof resourceFileForms];

/** The form of a file by its extension, in any case. Undefined if it is not a resource file. */
export function resourceFileForm(path: string): ResourceFileForm | undefined {
  const extension = path.slice(path.lastIndexOf(".")).toLowerCase();
  return Object.hasOwn(resourceFileForms, extension)
    ? resourceFileForms[extension as keyof typeof resourceFileForms]
    : undefined;
}

/**
 * Reads a resource file: YAML, JSON, binary or text, by the path's extension. It holds one resource, a list of
 * resources, a `DiscoveryResponse`, or (in YAML) several such documents. In YAML and JSON it may also be a bootstrap or
 * a dump from an Envoy or its control plane (`adoptions`). Never throws because of a file's content: problems become
 * findings. A resource with an error is left out.
 *
 * @example
 * ```ts
 * import { readFileSync } from "node:fs";
 * import { describe, readResources } from "@xdskit/api";
 *
 * const path = "config/clusters.yaml";
 * const { resources, findings } = readResources({ path, bytes: readFileSync(path) });
 * for (const finding of findings) console.error(describe(finding));
 * for (const { resource } of resources) console.log(resource.name);
 * ```
 */
export function readResources(
  file: { readonly path: string; readonly bytes: Uint8Array },
  options: ReadResourcesOptions = {},
): ResourceFile {
  return readInForm(file.path, file.bytes, resourceFileForm(file.path), options);
}

/** The same of a known form, whatever the path; undefined: it is not known. */
export function readInForm(
  path: string,
  bytes: Uint8Array,
  form: ResourceFileForm | undefined,
  options: ReadResourcesOptions,
): ResourceFile {
  const reading = readingOf(path, bytes, form, options);
  try {
    if (form === "binary") readBinary(reading, bytes);
    else if (form !== undefined) readText(reading, bytes, form);
    else {
      const message = `a resource file ends with one of ${Object.keys(resourceFileForms).join(", ")}`;
      addFinding(reading, { at: () => undefined }, "XDSKIT_FILE_FORM", message);
    }
  } catch (error) {
    stopReading(reading, error);
  }
  tellOfNothing(reading);
  const { resources, findings, version } = reading;
  return { resources, findings, version, adoptions: reading.adoptions.map(({ adoption }) => adoption) };
}

/** Reports a file from which nothing was taken. Otherwise it would be served like an empty file. */
function tellOfNothing(reading: FileReading): void {
  const [record] = reading.adoptions;
  if (record === undefined || reading.resources.length > 0) return;
  if (hasErrors(reading.findings)) return;
  const { form, leftOut } = record.adoption;
  const rest = leftOut.length === 0 ? "" : ` (left out: ${listNames(leftOut)})`;
  const message = `this is ${form}, and nothing in it can be served${rest}`;
  addFinding(reading, { at: () => ({ line: 1, column: 1 }) }, "XDSKIT_NOTHING_TAKEN", message);
}

/** What readers of a file or a body share. */
export function readingOf(
  path: string,
  bytes: Uint8Array,
  form: ResourceFileForm | undefined,
  options: ReadResourcesOptions,
): FileReading {
  const { registry = envoyRegistry(), types = resourceTypes, validate = true, envoy = true, places = false } = options;
  return {
    path,
    registry,
    types,
    validate,
    envoy,
    places,
    mayLeaveOutSecrets: validate && mayLeaveOutSecrets(bytes),
    views: form !== "json",
    resources: [],
    findings: [],
    errors: 0,
    adoptions: [],
    version: "",
  };
}

function readText(reading: FileReading, bytes: Uint8Array, form: Exclude<ResourceFileForm, "binary">): void {
  const text = decodeText(bytes, form);
  const { problem } = text;
  if (problem !== undefined)
    addFinding(reading, { at: () => text.at(problem.offset) }, "XDSKIT_SYNTAX", problem.message);
  else if (form === "text") readTextFormat(reading, text);
  else readStructured(reading, text, form);
}

function readStructured(reading: FileReading, text: FileText, form: "json" | "yaml"): void {
  if (isEmpty(text)) return;
  const isJson = form === "json";
  readSource(
    reading,
    text,
    isJson ? parseJson(text.text, "envoy") : yamlDocuments(text.text, "envoy", { splits: true }),
  );
}

function isEmpty({ text }: FileText): boolean {
  return !/\S/.test(text);
}
