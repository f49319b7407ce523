import { type Finding, maxFindings } from "@xdskit/api";
import { dropOldest, type ServerEvent, type XdsServer } from "@xdskit/server";

/** The served resources of a group that JSON, for polls, cannot express completely. */
export function createJsonFindings(
  server: Pick<XdsServer, "on" | "snapshotOf">,
): (group: string) => readonly Finding[] {
  const known = new Map<string, Extract<ServerEvent, { readonly kind: "json-incomplete" }>>();
  server.on(
    (event) => {
      if (event.kind !== "json-incomplete") return;
      const key = `${event.api} ${event.type.typeUrl} ${event.name}`;
      known.delete(key);
      known.set(key, event);
      dropOldest(known, maxFindings);
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
