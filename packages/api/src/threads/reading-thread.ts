import type { Finding } from "../errors/errors.js";
import { messageOf } from "../errors/findings.js";
import {
  type ReadResourcesOptions,
  type ResourceFile,
  type ResourceFileForm,
  resourceFileForm,
} from "../files/resource-file.js";
import {
  type NamedInRequest,
  type ReadResourceRequestOptions,
  type ResourceRequest,
  readResourceRequest,
} from "../files/resource-request.js";
import { type ReadJsonResponseOptions, type ReadResponseJson, readJsonResponse } from "../json/json-response.js";
import type { PositionedResource } from "../reading/file-reading.js";
import { descriptorSetOf } from "../registry/registry.js";
import { type PackedTypes, packTypes } from "../resource-types/packed-types.js";
import type { ResourceType } from "../resource-types/resource-type.js";
import { resourceTypes } from "../resource-types/resource-types.js";
import type { Resource } from "../resources/resource.js";
import { type ShownBody, type ShownBodyOptions, shownBody } from "../writing/shown-body.js";
import { ReadingLane } from "./reading-lane.js";
import type { PostedResource, ReadRest, ReadRests, ToRead } from "./thread-messages.js";

/**
 * From this many bytes on, what somebody sends or writes may take longer than others may wait. YAML takes ten times as
 * long as JSON.
 */
const longText = { yaml: 32 * 1024, text: 100 * 1024, binary: 100 * 1024, json: 100 * 1024 };
/**
 * The same at a start, when nobody waits: JSON is read sooner than its resources could be sent, unless there is so much
 * that its memory should be the thread's.
 */
const longAtStart = { ...longText, yaml: 128 * 1024, json: 16 * 1024 * 1024 };

/** From this many bytes on, a text has the other thread: shorter ones do not wait for it. */
const veryLongText = { yaml: 512 * 1024, text: 4 * 1024 * 1024, binary: 4 * 1024 * 1024, json: 4 * 1024 * 1024 };

/**
 * The time for which others wait for the body of a request or an answer, from which on it is not read: a multiple of
 * what the largest bodies of usual content need. A folder's files have no such limit: nobody else can write them.
 */
const graceMs = 30_000;
const msPerMib = 4_000;

/**
 * The one way in which a program reads content that others write, when it has something else to do: what is long is
 * read in a separate thread, one after the other, and what is very long in a second one.
 */
export class ReadingThread {
  readonly #options: ReadResourcesOptions;
  readonly #types: PackedTypes | undefined;
  readonly #long: ReadingLane;
  readonly #veryLong: ReadingLane;
  #isClosed = false;

  constructor(options: ReadResourcesOptions = {}) {
    this.#options = options;
    this.#types = packTypes(options.types);
    const { registry, validate, envoy } = options;
    // Descriptors are packed when a thread starts.
    const start = () => ({ descriptorSet: registry && descriptorSetOf(registry), types: this.#types, validate, envoy });
    this.#long = new ReadingLane(start);
    this.#veryLong = new ReadingLane(start);
  }

  /** Whether a file belongs here. A program's own types may hold functions, which cannot be sent to a thread. */
  takes(path: string, bytes: number, atStart = false): boolean {
    const form = resourceFileForm(path);
    return form !== undefined && this.#takes(form, bytes, atStart);
  }

  #takes(form: ResourceFileForm, bytes: number, atStart = false): boolean {
    if (this.#isClosed || this.#options.places === true || this.#types?.isWhole === false) return false;
    return bytes >= (atStart ? longAtStart : longText)[form];
  }

  /**
   * Reads a file as `readResources` does. May take over the memory of `bytes`.
   * @throws Error if the thread ends before it has read the file: it needed more memory than there is, or was closed
   */
  async file(path: string, bytes: Uint8Array): Promise<ResourceFile> {
    const { resources, end } = await this.#read({ kind: "file", path, bytes }, resourceFileForm(path) ?? "binary");
    return { resources, ...restOf(end, "file") };
  }

  /**
   * Reads a request as `readResourceRequest` does, a long one in the thread. One that takes too much memory or time is
   * a finding.
   */
  async request(
    bytes: Uint8Array,
    how: Pick<ReadResourceRequestOptions, "form" | "keys" | "name">,
  ): Promise<ResourceRequest> {
    if (!this.#takes(how.form, bytes.length)) return readResourceRequest(bytes, { ...this.#options, ...how });
    const maxMs = maxMsOf(bytes);
    try {
      const { resources, named, end } = await this.#read({ kind: "request", bytes, how }, how.form, maxMs);
      return { resources, named, ...restOf(end, "request") };
    } catch (error) {
      const message = `is not read: ${messageOf(error)}; send less at once`;
      const findings: Finding[] = [{ code: "XDSKIT_SYNTAX", severity: "error", message, file: how.name }];
      return { fields: {}, places: {}, resources: [], named: [], findings };
    }
  }

  /** The same for a server's answer, which is read as `readJsonResponse` does. */
  async response(
    bytes: Uint8Array,
    { type, ...how }: Pick<ReadJsonResponseOptions, "type" | "standInType">,
  ): Promise<ReadResponseJson> {
    if (!this.#takes("json", bytes.length)) return readJsonResponse(bytes, { ...this.#options, type, ...how });
    const maxMs = maxMsOf(bytes);
    try {
      const { end } = await this.#read({ kind: "response", bytes, type: type.typeUrl, how }, "json", maxMs);
      return restOf(end, "response");
    } catch (error) {
      return { kind: "problem", message: `the body is not read: ${messageOf(error)}` };
    }
  }

  /** Whether a resource takes so long to show that it belongs here. */
  shows({ body }: Pick<Resource, "body">): boolean {
    return this.#takes("binary", body.length);
  }

  /**
   * Shows a resource as `shownBody` does, a long one in the thread. Rejects if the thread ends before: it needed more
   * memory than there is, or was closed.
   */
  async shown(resource: Resource, fieldNames: ShownBodyOptions["fieldNames"]): Promise<ShownBody | undefined> {
    const { type, body } = resource;
    if (!this.shows(resource)) return shownBody(resource, { registry: this.#options.registry, fieldNames });
    const what: ToRead = { kind: "resource", bytes: new Uint8Array(body), type: type.typeUrl, how: { fieldNames } };
    const shown = restOf((await this.#read(what, "binary")).end, "resource");
    return shown && { name: shown.name, json: JSON.parse(shown.text) as ShownBody["json"] };
  }

  /** Ends the threads. A reading in progress fails. */
  close(): void {
    this.#isClosed = true;
    this.#long.close();
    this.#veryLong.close();
  }

  async #read(what: ToRead, form: ResourceFileForm, maxMs?: number): Promise<ReadAll> {
    const all: ReadAll = { resources: [], named: [], end: undefined };
    const lane = what.bytes.length < veryLongText[form] ? this.#long : this.#veryLong;
    await lane.read(what, maxMs, ({ resources, named, end }) => {
      for (const each of resources) all.resources.push(this.#arrived(each));
      for (const [type, name] of named) all.named.push({ type: this.#typeOf(type), name });
      all.end = end;
    });
    return all;
  }

  #arrived({ resource, references: runs, where }: PostedResource): PositionedResource {
    const references = runs.flatMap(([type, ...names]) => names.map((name) => ({ type, name })));
    return { resource: { ...resource, type: this.#typeOf(resource.type), references }, where };
  }

  #typeOf(url: string): ResourceType {
    const type = (this.#options.types ?? resourceTypes).byTypeUrl(url)?.type;
    if (type === undefined) throw new Error(`${url} is no type of resources`);
    return type;
  }
}

interface ReadAll {
  readonly resources: PositionedResource[];
  readonly named: NamedInRequest[];
  end: ReadRest | undefined;
}

function restOf<K extends keyof ReadRests>(end: ReadRest | undefined, kind: K): ReadRests[K] {
  if (end?.kind !== kind) throw new Error(`the thread answered with another thing than a ${kind}`);
  return end.rest as ReadRests[K];
}

function maxMsOf({ length }: Uint8Array): number {
  return graceMs + (length / (1024 * 1024)) * msPerMib;
}
