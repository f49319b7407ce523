import { BoundedCache } from "../../model/basics/memo.js";
import { NameSet } from "../../model/names/name-set.js";
import type { ResponseHead } from "../../wire/responses/responses.js";
import { perishableOf } from "../acknowledgements/lifetimes.js";
import { type Content, keyOf, type ResponseNeed } from "./content.js";
import { type BodyWriter, SharedResponseBody } from "./shared-body.js";

/** How SotW or delta makes responses. */
export interface ResponseMaker extends BodyWriter {
  content(need: ResponseNeed): Content | undefined;
  bodyKey(need: ResponseNeed, contentKey: string): string;
}

/** A response that all streams with the same need share. */
export interface SharedResponse {
  readonly content: Content;
  /** The body, without a nonce. */
  readonly body: SharedResponseBody;
  /** Its contents with a TTL, as `identityOf` names them; empty for a client that is not told TTLs. */
  readonly perishable: NameSet;
}

/** The content of a response, and its resources with a TTL once they are needed. */
interface KnownResponse {
  readonly content: Content;
  perishable: NameSet | undefined;
}

/** Weighed in bytes. A thousand streams ask for the same response within milliseconds; older bodies may go. */
const bodies = new BoundedCache<{ readonly body: SharedResponseBody; readonly bytes: Uint8Array }>(32 << 20);
/** Weighed by the bytes of their resources, which they keep alive. `null`: there is nothing to send. */
const contents = new BoundedCache<KnownResponse | null>(32 << 20);

/** The response for a need, worked out and encoded once for all streams. Undefined if there is none. */
export function sharedResponse(
  maker: ResponseMaker,
  need: ResponseNeed,
  head: ResponseHead,
): SharedResponse | undefined {
  const contentKey = keyOf(need);
  return share(
    maker,
    head,
    contentKey,
    () => maker.content(need),
    () => maker.bodyKey(need, contentKey),
  );
}

/**
 * A response by two keys, one for its content and one for its body, since different contents may have the same body. If
 * a resource has a TTL, clients that are told TTLs have a separate body.
 */
export function share(
  maker: ResponseMaker,
  head: ResponseHead,
  contentKey: string,
  contentOf: () => Content | undefined,
  bodyKeyOf: () => string,
): SharedResponse | undefined {
  let known = contents.get(contentKey);
  if (known === undefined) {
    const content = contentOf();
    known = content === undefined ? null : { content, perishable: undefined };
    contents.set(contentKey, known, entryBytes(contentKey) + (content === undefined ? 0 : bytesOf(content)));
  }
  if (known === null) return undefined;
  const { content } = known;
  if (head.ttl) known.perishable ??= perishableOf([...content.resources, ...(content.heartbeats ?? [])]);
  const perishable = (head.ttl ? known.perishable : undefined) ?? NameSet.empty;
  const bodyKey = perishable.size === 0 ? bodyKeyOf() : `ttl ${bodyKeyOf()}`;
  let body = bodies.get(bodyKey)?.body;
  if (body === undefined) {
    body = new SharedResponseBody(maker, head, content);
    const { bytes } = body;
    bodies.set(bodyKey, { body, bytes }, entryBytes(bodyKey) + bytes.length);
  }
  return { content, body, perishable };
}

/**
 * The approximate cost of an entry besides its value. Its key holds a client's parameters, at two bytes a character.
 */
function entryBytes(key: string): number {
  return 200 + 2 * key.length;
}

/** The approximate cost of a name or an error. */
const nameBytes = 200;

function bytesOf({
  resources,
  removed,
  removedVariants = [],
  unresolved,
  errors = [],
  heartbeats = [],
}: Content): number {
  const names = (removed.length + removedVariants.length + unresolved.length + 2 * errors.length) * nameBytes;
  let sum = names;
  for (const { body } of resources) sum += body.length + 8;
  for (const { body } of heartbeats) sum += body.length + 8;
  return sum;
}
