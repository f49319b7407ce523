import type { PackedTypes, Resource, ResourceFile, TypeUrl, Where } from "@xdskit/api";

/** The start data of the reading thread. */
export interface ThreadStart {
  /** The messages that it knows besides Envoy's: a serialized `FileDescriptorSet`. Undefined for none. */
  readonly descriptorSet: Uint8Array | undefined;
  /** The types that it knows; undefined means the built-in ones. */
  readonly types: PackedTypes | undefined;
  readonly validate: boolean | undefined;
  readonly envoy: boolean | undefined;
}

/** Requests of the main thread: a file, then batch after batch of its resources. */
export type ThreadRequest = { readonly path: string; readonly bytes: Uint8Array } | "next";

/** A resource as it is sent: its type is a URL. */
export interface SentResource {
  readonly resource: Omit<Resource, "type"> & { readonly type: TypeUrl };
  readonly where: Where;
}

/** One batch of a file's resources. The last one carries the rest of the result. */
export interface ThreadAnswer {
  readonly resources: readonly SentResource[];
  readonly end: Omit<ResourceFile, "resources"> | undefined;
}
