import { type Resource, type ResourceType, type ResourceTypes, type TypeUrl, unknownResourceType } from "@xdskit/api";

/** A resource on its way between threads: its body is shared memory, all else is copied. */
export interface PackedResource extends Omit<Resource, "type"> {
  readonly type: TypeUrl;
}

/**
 * Small bodies of one change lie together: each block of shared memory has its own price. It is kept while one of them
 * is.
 */
const blockBytes = 64 * 1024;

/** Copies bodies into shared memory, each once for all threads and for as long as the resource lives. */
export interface Packing {
  pack(resource: Resource): PackedResource;
  /**
   * Those of one change. What changes together may lie together; a body that shares a block with what came before or
   * comes after it would keep that for as long as it lives itself, and a fleet of rare changes among frequent ones a
   * block for each.
   */
  packAll(resources: readonly Resource[]): readonly PackedResource[];
}

export function createPacking(): Packing {
  const known = new WeakMap<Resource, PackedResource>();
  let block: Uint8Array = new Uint8Array(0);
  let used = 0;
  /** Bytes of the change that have no place yet. */
  let rest = 0;
  function share(body: Uint8Array): Uint8Array {
    if (body.buffer instanceof SharedArrayBuffer) return body;
    const size = body.byteLength;
    if (block.byteLength - used < size) {
      block = new Uint8Array(new SharedArrayBuffer(Math.max(size, Math.min(rest, blockBytes))));
      used = 0;
    }
    const shared = block.subarray(used, used + size);
    shared.set(body);
    used += size;
    rest -= size;
    return shared;
  }
  function packOne(resource: Resource): PackedResource {
    let packed = known.get(resource);
    if (packed === undefined) {
      packed = { ...resource, type: resource.type.typeUrl, body: share(resource.body) };
      known.set(resource, packed);
    }
    return packed;
  }
  function packAll(resources: readonly Resource[]): readonly PackedResource[] {
    rest = resources.reduce((sum, resource) => (known.has(resource) ? sum : sum + resource.body.byteLength), 0);
    const packed = resources.map(packOne);
    block = new Uint8Array(0);
    used = 0;
    return packed;
  }
  return { packAll, pack: (resource) => known.get(resource) ?? (packAll([resource])[0] as PackedResource) };
}

/** Makes resources of what came, each once as long as it lives: of what was packed once and came in one message. */
export function createUnpacking(types: ResourceTypes): (packed: PackedResource) => Resource {
  const known = new WeakMap<PackedResource, Resource>();
  return (packed) => {
    let resource = known.get(packed);
    if (resource === undefined) {
      resource = { ...packed, type: typeFrom(types, packed.type) };
      known.set(packed, resource);
    }
    return resource;
  };
}

/** A type by its URL; one that the table does not have is one that a client asked for. */
export function typeFrom(types: ResourceTypes, typeUrl: TypeUrl): ResourceType {
  return types.byTypeUrl(typeUrl)?.type ?? unknownResourceType(typeUrl);
}
