import type { ResourceFile } from "../files/resource-file.js";
import type { ReadResourceRequestOptions, ResourceRequest } from "../files/resource-request.js";
import type { ReadJsonResponseOptions, ReadResponseJson } from "../json/json-response.js";
import type { ResourceName, TypeUrl } from "../names/identifiers.js";
import type { PositionedResource } from "../reading/file-reading.js";
import type { PackedTypes } from "../resource-types/packed-types.js";
import type { Resource } from "../resources/resource.js";
import type { ShownBody, ShownBodyOptions } from "../writing/shown-body.js";

/** The start data of the reading thread. */
export interface ThreadStart {
  /** The messages that it knows besides Envoy's: a serialized `FileDescriptorSet`. Undefined for none. */
  readonly descriptorSet: Uint8Array | undefined;
  /** The types that it knows; undefined means the built-in ones. */
  readonly types: PackedTypes | undefined;
  readonly validate: boolean | undefined;
  readonly envoy: boolean | undefined;
}

/** What the thread reads. */
export type ToRead =
  | { readonly kind: "file"; readonly path: string; readonly bytes: Uint8Array }
  | {
      readonly kind: "request";
      readonly bytes: Uint8Array;
      readonly how: Pick<ReadResourceRequestOptions, "form" | "keys" | "name">;
    }
  | {
      readonly kind: "response";
      readonly bytes: Uint8Array;
      readonly type: TypeUrl;
      readonly how: Pick<ReadJsonResponseOptions, "standInType">;
    }
  | {
      readonly kind: "resource";
      readonly bytes: Uint8Array;
      readonly type: TypeUrl;
      readonly how: Pick<ShownBodyOptions, "fieldNames">;
    };

/** Requests of the main thread: something to read, then batch after batch of its resources. */
export type ThreadRequest = ToRead | "next";

/** A resource as it is sent: its type is a URL, and names that it refers to follow each other by type. */
export interface PostedResource {
  readonly resource: Omit<Resource, "type" | "references"> & { readonly type: TypeUrl };
  readonly references: readonly (readonly [TypeUrl, ...ResourceName[]])[];
  readonly where: PositionedResource["where"];
}

/** The rests of results, by what was read. */
export interface ReadRests {
  readonly file: Omit<ResourceFile, "resources">;
  readonly request: Omit<ResourceRequest, "resources" | "named">;
  readonly response: ReadResponseJson;
  /** The JSON as text: the main thread reads it in a fraction of the time that it takes to take over its objects. */
  readonly resource: (Pick<ShownBody, "name"> & { readonly text: string }) | undefined;
}

/** The rest of a result. */
export interface ReadRest {
  readonly kind: keyof ReadRests;
  readonly rest: ReadRests[keyof ReadRests];
}

/** One batch of a result. The last one carries the rest. */
export interface ThreadAnswer {
  readonly resources: readonly PostedResource[];
  readonly named: readonly (readonly [TypeUrl, ResourceName])[];
  readonly end: ReadRest | undefined;
}
