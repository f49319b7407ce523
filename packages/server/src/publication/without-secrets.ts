import type { TypeUrl } from "@xdskit/api";
import { emptyResourceSet, type Snapshot, snapshotOf } from "@xdskit/protocol";

/** The type whose resources are secrets (SDS). */
export const secretTypeUrl: TypeUrl = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret";

const known = new WeakMap<Snapshot, Snapshot>();

/**
 * The same snapshot without secrets: one for all clients that get none. Without any secret it is the same object.
 */
export function withoutSecrets(snapshot: Snapshot): Snapshot {
  const secrets = snapshot.sets.get(secretTypeUrl);
  if (secrets === undefined || secrets.size === 0) return snapshot;
  let bare = known.get(snapshot);
  if (bare === undefined) {
    const sets = new Map(snapshot.sets);
    sets.set(secretTypeUrl, emptyResourceSet(secrets.type));
    bare = snapshotOf(sets);
    known.set(snapshot, bare);
  }
  return bare;
}

/** The types that are supplied on demand to a client that gets no secrets. */
export function withoutSecretType(types: ReadonlySet<TypeUrl> | undefined): ReadonlySet<TypeUrl> | undefined {
  if (types === undefined || !types.has(secretTypeUrl)) return types;
  return new Set([...types].filter((type) => type !== secretTypeUrl));
}
