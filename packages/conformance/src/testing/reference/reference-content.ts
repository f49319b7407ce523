import { createHash } from "node:crypto";
import { fromJson, type JsonValue, toBinary } from "@bufbuild/protobuf";
import { envoyRegistry } from "@xdskit/api";
import type { DrivenContent } from "../../driver/driver.js";
import { typeNamed } from "../../wire/type-words.js";
import type { Mistake } from "./mistakes.js";
import type { ReferenceContent } from "./reference-state.js";

/** What a driver is told, as it is served. Content decides the version. */
export function referenceContent(content: DrivenContent, mistakes: ReadonlySet<Mistake>): ReferenceContent {
  const registry = envoyRegistry();
  return new Map(
    Object.entries(content).map(([type, resources]) => {
      const schema = typeNamed(type).schema!;
      const served = Object.entries(resources).map(([name, json]) => {
        const { resource, aliases = [], ttl } = unwrapped(json);
        const body = toBinary(schema, fromJson(schema, resource as JsonValue, { registry }));
        const about = JSON.stringify([aliases, mistakes.has("ttl-kept") ? undefined : ttl]);
        const version = createHash("sha256").update(body).update(about).digest("hex").slice(0, 16);
        const ttlMs = ttl === undefined ? undefined : Number.parseFloat(ttl) * 1_000;
        return [name, { name, version, body, aliases, ttlMs }] as const;
      });
      return [type, new Map(served)];
    }),
  );
}

interface Unwrapped {
  readonly resource: object;
  readonly aliases?: readonly string[];
  readonly ttl?: string;
}

/** A resource, and what its wrapper says of it. */
function unwrapped(json: object): Unwrapped {
  if (!("resource" in json && "@type" in json)) return { resource: json };
  const { resource, aliases, ttl } = json as Unwrapped;
  const { "@type": _, ...bare } = resource as { readonly "@type": string };
  return { resource: bare, ...(aliases === undefined ? {} : { aliases }), ...(ttl === undefined ? {} : { ttl }) };
}
