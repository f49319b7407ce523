import type { ResponseHead } from "../messages/responses.js";
import { BoundedCache } from "./bounded-cache.js";
import { type Content, isUnconcerned, keyOf, type Need } from "./content.js";

/** How a variant makes responses. */
export interface ResponseMaker {
  content(need: Need): Content | undefined;
  bodyKey(need: Need, contentKey: string): string;
  write(head: ResponseHead, content: Content): Uint8Array;
}

/** A response as all streams with the same need share it. */
export interface SharedResponse {
  readonly content: Content;
  /** Without a nonce. */
  readonly body: Uint8Array;
}

/** In bytes. A change that a thousand streams need is asked for a thousand times within milliseconds; what is older may go. */
const bodies = new BoundedCache<Uint8Array>(32 << 20);
/** By the bytes of the resources, which it would keep from being collected. `null`: there is nothing to say. */
const contents = new BoundedCache<Content | null>(32 << 20);

/** What is to be sent for a need: worked out and encoded once, whichever streams ask. Undefined: nothing. */
export function sharedResponse(maker: ResponseMaker, need: Need, head: ResponseHead): SharedResponse | undefined {
  if (isUnconcerned(need)) return undefined;
  const contentKey = keyOf(need);
  let content = contents.get(contentKey);
  if (content === undefined) {
    content = maker.content(need) ?? null;
    contents.set(contentKey, content, content === null ? entryBytes : bytesOf(content));
  }
  if (content === null) return undefined;
  const bodyKey = maker.bodyKey(need, contentKey);
  let body = bodies.get(bodyKey);
  if (body === undefined) {
    body = maker.write(head, content);
    bodies.set(bodyKey, body, entryBytes + body.length);
  }
  return { content, body };
}

/** What an entry costs besides its value, about. */
const entryBytes = 200;

function bytesOf({ resources, removed, unresolved }: Content): number {
  const names = (removed.length + unresolved.length) * entryBytes;
  return resources.reduce((sum, { body }) => sum + body.length + 8, entryBytes + names);
}
