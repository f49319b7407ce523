import { createHash } from "node:crypto";
import { fromJson, type JsonValue, toBinary } from "@bufbuild/protobuf";
import { envoyRegistry } from "@xdskit/api";
import type { DrivenContent } from "../../driver/driver.js";
import { typeNamed } from "../../wire/type-words.js";
import type { ReferenceContent } from "./reference-state.js";

/** What a driver is told, as it is served. Content decides the version. */
export function referenceContent(content: DrivenContent): ReferenceContent {
  const registry = envoyRegistry();
  return new Map(
    Object.entries(content).map(([type, resources]) => {
      const schema = typeNamed(type).schema!;
      const served = Object.entries(resources).map(([name, json]) => {
        const body = toBinary(schema, fromJson(schema, json as JsonValue, { registry }));
        const version = createHash("sha256").update(body).digest("hex").slice(0, 16);
        return [name, { name, version, body }] as const;
      });
      return [type, new Map(served)];
    }),
  );
}
