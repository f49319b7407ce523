import type { JsonObject } from "@bufbuild/protobuf";
import type { XdskitErrorCode } from "../errors/error-codes.js";
import type { Finding } from "../errors/errors.js";
import { type FieldStep, formatFieldPath } from "../errors/field-path.js";
import { parseJson } from "../json/json-source.js";
import { addFinding, type FileReading, type PositionedResource } from "../reading/file-reading.js";
import { readBinarySteps } from "../reading/message-items.js";
import { mayLeaveOutSecrets } from "../redact/left-out-secrets.js";
import { envoyRegistry } from "../registry/registry.js";
import { resourceTypes } from "../resource-types/resource-types.js";
import { decodeText } from "../text/file-text.js";
import { isObject, type SourceDocument } from "../text/source-document.js";
import { inTurns, type Steps } from "../timing/in-turns.js";
import { parseYaml } from "../yaml/yaml-source.js";
import type { ReadResourcesOptions } from "./resource-file.js";
import { itemReader } from "./source-items.js";

/** A request with resources in it: its valid ones, and all problems. */
export interface ResourceRequest {
  /** The other fields of the mapping. Empty if the text is none. */
  readonly fields: JsonObject;
  readonly resources: readonly PositionedResource[];
  /** At most 100, in the order of the text. */
  readonly findings: readonly Finding[];
  /** A finding about a part of the text. The message must not contain anything that may be a secret. */
  finding(code: XdskitErrorCode, message: string, steps: readonly (string | number)[]): Finding;
}

/** How to read a request. */
export interface ReadResourceRequestOptions extends Omit<ReadResourcesOptions, "places"> {
  readonly form: "json" | "yaml";
  /** The key whose list holds the resources. Undefined if the text is one resource. */
  readonly list: string | undefined;
  /** The name of the text in findings. */
  readonly name: string;
}

/**
 * Reads a text in JSON or YAML that is a mapping with a list of resources, or one resource. Resources are read as
 * `readResources` reads them, a few in a turn of the event loop: a large request must not hold up the clients. Never
 * rejects because of the text: problems become findings, with their positions.
 */
export async function readResourceRequest(
  bytes: Uint8Array,
  options: ReadResourceRequestOptions,
): Promise<ResourceRequest> {
  const { form, list, name } = options;
  const text = decodeText(bytes);
  const reading = readingOf(bytes, options, false);
  const { documents, problems } =
    text.problem !== undefined
      ? { documents: [], problems: [text.problem] }
      : form === "json"
        ? parseJson(text.text, "envoy")
        : parseYaml(text.text, "envoy");
  const [document, second] = documents;
  const at = (steps: readonly FieldStep[]) => text.at(document?.locate(steps) ?? 0);
  const wrong = (message: string, steps: readonly FieldStep[] = []) =>
    addFinding(reading, { at }, "XDSKIT_API_REQUEST", message, steps);
  const { resources, findings } = reading;
  for (const { offset, message } of problems)
    addFinding(reading, { at: () => text.at(offset) }, "XDSKIT_SYNTAX", message);
  if (second !== undefined)
    addFinding(reading, { at: () => text.at(second.offset) }, "XDSKIT_SYNTAX", "a second document: there must be one");
  const request: ResourceRequest = {
    fields: {},
    resources,
    findings,
    finding: (code, message, steps) => {
      return { code, severity: "error", message, file: name, ...at(steps), field: formatFieldPath(steps) };
    },
  };
  if (findings.length > 0) return request;
  const value = document?.value;
  if (document === undefined || !isObject(value)) {
    wrong("expected a mapping");
    return request;
  }
  const items = itemReader(reading, text, document as SourceDocument);
  try {
    if (list === undefined) {
      items.read(value, []);
      return request;
    }
    const { [list]: listed, ...fields } = value;
    if (Array.isArray(listed)) {
      const read = function* (): Steps<void> {
        for (const [index, item] of listed.entries()) yield items.read(item, [list, index]);
      };
      await inTurns(read());
    } else if (listed !== undefined && listed !== null) wrong("expected a list of resources", [list]);
    return { ...request, fields };
  } finally {
    items.end();
  }
}

/** The same for a serialized `DiscoveryResponse`: its resources, and all problems. */
export async function readBinaryRequest(
  bytes: Uint8Array,
  options: Omit<ReadResourceRequestOptions, "form" | "list">,
): Promise<Pick<ResourceRequest, "resources" | "findings">> {
  const reading = readingOf(bytes, options, true);
  await inTurns(readBinarySteps(reading, bytes));
  return reading;
}

/** `views`: whether bodies are parts of `bytes`. */
function readingOf(
  bytes: Uint8Array,
  options: Omit<ReadResourceRequestOptions, "form" | "list">,
  views: boolean,
): FileReading {
  const { name, registry = envoyRegistry(), types = resourceTypes, validate = true, envoy = true } = options;
  return {
    ...{ path: name, registry, types, validate, envoy, places: false, views },
    mayLeaveOutSecrets: validate && mayLeaveOutSecrets(bytes),
    ...{ resources: [], findings: [], adoptions: [], version: "" },
  };
}
