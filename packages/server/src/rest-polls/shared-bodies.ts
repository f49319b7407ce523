import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import {
  type ApiVersion,
  getOrInsert,
  inTurns,
  nameless,
  type ResourceJson,
  type ResourceName,
  type ResourceType,
  type Steps,
  XdskitError,
} from "@xdskit/api";
import { BoundedCache, type Selection } from "@xdskit/protocol";
import type { BodyEncoding, SharedBody } from "../contracts/poll-transport.js";
import type { JsonNotes } from "./json-notes.js";

/** In bytes of JSON: enough for the requests of a fleet in the moment after a change. */
const capacity = 64 << 20;
/** The approximate cost of an entry besides its text. */
const entryBytes = 500;

/** Writes the bodies of answers: one for all polls of the same state. */
export interface SharedBodies {
  /**
   * A `DiscoveryResponse` as JSON. Most of it is kept with the resources; the rest is written in slices, so that the
   * event loop gets its turn. Resources that JSON cannot express are left out.
   */
  of(type: ResourceType, api: ApiVersion, selection: Selection): Promise<SharedBody>;
}

export function createSharedBodies(json: ResourceJson, leftOut: JsonNotes["leftOut"]): SharedBodies {
  const made = new BoundedCache<SharedBody>(capacity);
  const making = new Map<string, Promise<SharedBody>>();
  return {
    async of(type: ResourceType, api: ApiVersion, selection: Selection): Promise<SharedBody> {
      const key = `${api} ${type.typeUrl} ${selection.key}`;
      const known = made.get(key) ?? making.get(key);
      if (known !== undefined) return known;
      const promise = inTurns(write(type, api, selection, json, leftOut));
      making.set(key, promise);
      try {
        const body = await promise;
        made.set(key, body, entryBytes + body.bytes.byteLength);
        return body;
      } finally {
        making.delete(key);
      }
    },
  };
}

function* write(
  type: ResourceType,
  api: ApiVersion,
  { version, resources }: Selection,
  json: ResourceJson,
  leftOut: JsonNotes["leftOut"],
): Steps<SharedBody> {
  const texts: Uint8Array[] = [];
  // Copied first: a set that is no longer the newest is slow to read, and may change between turns.
  for (const resource of [...resources]) {
    try {
      const text = json(resource, api);
      texts.push(type.nameOf === nameless ? wrapped(resource.name, text) : text);
    } catch (error) {
      if (!(error instanceof XdskitError)) throw error;
      // One such resource must not keep all others from clients.
      leftOut(resource, api, error);
    }
    yield;
  }
  const typeUrl = api === "v2" ? (type.v2TypeUrl ?? type.typeUrl) : type.typeUrl;
  const head = Buffer.from(`{"versionInfo":${JSON.stringify(version)},"resources":[`);
  // The version is also the nonce: a client that sends it back tells any replica which content it means.
  const tail = Buffer.from(`],"typeUrl":${JSON.stringify(typeUrl)},"nonce":${JSON.stringify(version)}}`);
  return sharedBody(joined(head, texts, tail));
}

/** The name of a resource without one in its message. */
function wrapped(name: ResourceName, text: Uint8Array): Uint8Array {
  const head = `{"@type":"type.googleapis.com/envoy.service.discovery.v3.Resource","name":${JSON.stringify(name)},"resource":`;
  return Buffer.concat([Buffer.from(head), text, Buffer.from("}")]);
}

const comma = 0x2c;

function joined(head: Uint8Array, texts: readonly Uint8Array[], tail: Uint8Array): Uint8Array {
  const commas = Math.max(0, texts.length - 1);
  const length = texts.reduce((sum, text) => sum + text.byteLength, head.byteLength + tail.byteLength + commas);
  const bytes = Buffer.allocUnsafeSlow(length);
  bytes.set(head);
  let at = head.byteLength;
  for (const [index, text] of texts.entries()) {
    if (index > 0) bytes[at++] = comma;
    bytes.set(text, at);
    at += text.byteLength;
  }
  bytes.set(tail, at);
  return bytes;
}

/** A body that is compressed on first demand, once for each encoding. */
export function sharedBody(bytes: Uint8Array): SharedBody {
  const compressed = new Map<BodyEncoding, Promise<Uint8Array>>();
  return {
    bytes,
    compressed: (encoding) => getOrInsert(compressed, encoding, () => compressors[encoding](bytes)),
  };
}

/** In a separate thread. Quick rather than small: configurations repeat themselves a lot. */
const compressors: { readonly [E in BodyEncoding]: (bytes: Uint8Array) => Promise<Uint8Array> } = {
  gzip: (bytes) => promisify(gzip)(bytes, { level: 3 }),
  br: (bytes) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 3 } }),
};
