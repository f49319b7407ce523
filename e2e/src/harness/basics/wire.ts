/** As much of protobuf's wire format as discovery messages need, written independently of what is under test. */

type Field = readonly [number: number, value: Uint8Array | string];

/** A message of length-delimited fields; empty ones are left out. */
export function message(...fields: readonly Field[]): Buffer {
  return Buffer.concat(
    fields
      .map(([number, value]) => [number, Buffer.from(value as string)] as const)
      .filter(([, value]) => value.length > 0)
      .flatMap(([number, value]) => [varint(number * 8 + 2), varint(value.length), value]),
  );
}

/** The values of one length-delimited field. */
export function fields(bytes: Uint8Array, wanted: number): readonly Buffer[] {
  const found: Buffer[] = [];
  let offset = 0;
  const next = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[offset];
      if (byte === undefined) throw new Error("a message that is cut off");
      offset += 1;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  };
  while (offset < bytes.length) {
    const tag = next();
    switch (tag % 8) {
      case 0:
        next();
        break;
      case 2: {
        const length = next();
        if (Math.floor(tag / 8) === wanted) found.push(Buffer.from(bytes.subarray(offset, offset + length)));
        offset += length;
        break;
      }
      default:
        throw new Error(`wire type ${tag % 8} is not expected`);
    }
  }
  return found;
}

/** A number of a message, such as the seconds of a Duration; 0 if it is not there. */
export function uint(bytes: Uint8Array | undefined, wanted: number): number {
  if (bytes?.[0] !== wanted * 8) return 0;
  let value = 0;
  for (const [index, byte] of bytes.subarray(1).entries()) {
    value += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) return value;
  }
  throw new Error("a number that is cut off");
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) + 128);
  }
}

export interface Request {
  readonly type?: string;
  /** Undefined: no node. */
  readonly node?: string;
  readonly names?: readonly string[];
  readonly version?: string;
  readonly nonce?: string;
  /** The words of a NACK; undefined: it is none. */
  readonly error?: string;
}

const typeUrl = (name: string): string => `type.googleapis.com/${name}`;

export const clusterType = typeUrl("envoy.config.cluster.v3.Cluster");
export const endpointType = typeUrl("envoy.config.endpoint.v3.ClusterLoadAssignment");

/** A DiscoveryRequest. */
export const request = ({ type = "", node, names = [], version = "", nonce = "", error }: Request): Buffer =>
  message(
    [1, version],
    [2, node === undefined ? "" : message([1, node])],
    ...names.map((name): Field => [3, name]),
    [4, type],
    [5, nonce],
    [6, error === undefined ? "" : message([2, error])],
  );

/** A DeltaDiscoveryRequest; `names` are subscribed to. */
export const deltaRequest = ({ type = "", node, names = [], nonce = "" }: Request): Buffer =>
  message([1, node === undefined ? "" : message([1, node])], [2, type], ...names.map((name): Field => [3, name]), [
    6,
    nonce,
  ]);

export interface Response {
  readonly version: string;
  readonly nonce: string;
  readonly type: string;
  /** The serialized resources. */
  readonly resources: readonly Buffer[];
}

/** Reads a DiscoveryResponse. */
export const response = (bytes: Uint8Array): Response => ({
  version: fields(bytes, 1).join(""),
  nonce: fields(bytes, 5).join(""),
  type: fields(bytes, 4).join(""),
  resources: fields(bytes, 2).map((any) => fields(any, 2)[0] ?? Buffer.alloc(0)),
});
