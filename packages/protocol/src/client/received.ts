import type { Message } from "@bufbuild/protobuf";
import type { Resource, ResourceName, ResourceType, TypeUrl, Version } from "@xdskit/api";

/** One resource as a server sent it, decoded once. Immutable, and shared by all that watch it. */
export interface ReceivedResource<Shape extends Message = Message> {
  readonly type: ResourceType;
  /** As the server writes it. */
  readonly name: ResourceName;
  /** The server's, opaque. SotW: of the response that brought it; delta: the resource's own. */
  readonly version: Version;
  readonly aliases: readonly ResourceName[];
  /** Time to live in milliseconds, counted from each time that it came or was kept alive; undefined is for ever. */
  readonly ttl: number | undefined;
  /** In the messages of v3, whatever was sent. Shared: not to be changed. */
  readonly message: Shape;
  /** As it stood on the wire: v2's or v3's. */
  readonly typeUrl: TypeUrl;
  readonly value: Uint8Array;
  /** The same as a resource of a snapshot; made when first asked for. Throws what `createResource` throws. */
  resource(): Resource;
}
