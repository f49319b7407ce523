import type { Finding } from "@xdskit/api";
import type { ServerEvent, XdsServer } from "@xdskit/server";

type Incomplete = Extract<ServerEvent, { readonly kind: "json-incomplete" }>;

/** More than anybody reads; what came last stays. */
const mostResources = 100;

/** What JSON, for polls, has not all of: the findings of what a group is served now. */
export function createJsonFindings(
  server: Pick<XdsServer, "on" | "snapshotOf">,
): (group: string) => readonly Finding[] {
  const known = new Map<string, Incomplete>();
  server.on(
    (event) => {
      if (event.kind !== "json-incomplete") return;
      const key = `${event.api} ${event.type.typeUrl} ${event.name}`;
      known.delete(key);
      known.set(key, event);
      const [oldest = key] = known.size > mostResources ? known.keys() : [];
      if (oldest !== key) known.delete(oldest);
    },
    (kind) => kind === "json-incomplete",
  );
  return (group) => {
    const snapshot = server.snapshotOf(group);
    return Array.from(known.values()).flatMap(({ type, name, version, findings }) =>
      snapshot?.of(type).get(name)?.version === version ? findings : [],
    );
  };
}
