import { BoundedCache } from "../../model/memo.js";
import { NameSet } from "../../model/names/name-set.js";
import type { ResponseHead } from "../../wire/responses.js";
import { perishableOf } from "../acknowledgements/lifetimes.js";
import { type Content, keyOf, type Need } from "./content.js";
import { type BodyWriter, SharedBody } from "./shared-body.js";

/** How a variant makes responses. */
export interface ResponseMaker extends BodyWriter {
  content(need: Need): Content | undefined;
  bodyKey(need: Need, contentKey: string): string;
}

/** A response as all streams with the same need share it. */
export interface SharedResponse {
  readonly content: Content;
  /** Without a nonce. */
  readonly body: SharedBody;
  /** The contents with a TTL that it holds, as `identityOf` names them; empty for a client that is not told TTLs. */
  readonly perishable: NameSet;
}

/** What a response says, and which of it has a TTL, once somebody needs to know. */
interface Known {
  readonly content: Content;
  perishable: NameSet | undefined;
}

/** Weighed in bytes. A thousand streams ask for the same response within milliseconds; older ones may go. */
const bodies = new BoundedCache<{ readonly body: SharedBody; readonly bytes: Uint8Array }>(32 << 20);
/** Weighed by the bytes of their resources, which they keep from being collected. `null`: there is nothing to say. */
const contents = new BoundedCache<Known | null>(32 << 20);

/** What is to be sent for a need: worked out and encoded once, whichever streams ask. Undefined: nothing. */
export function sharedResponse(maker: ResponseMaker, need: Need, head: ResponseHead): SharedResponse | undefined {
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
 * A response by two keys: that of its content, and that of its body, since contents may differ and bodies be the same.
 * Where something has a TTL, clients that are told it have a body of their own.
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
    body = new SharedBody(maker, head, content);
    const { bytes } = body;
    bodies.set(bodyKey, { body, bytes }, entryBytes(bodyKey) + bytes.length);
  }
  return { content, body, perishable };
}

/** What an entry costs besides its value, about. A client's parameters are in its keys, of two bytes a character. */
function entryBytes(key: string): number {
  return 200 + 2 * key.length;
}

/** What a name or an error costs, about. */
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
