import { readExtensions } from "../../schema/extensions.js";

/** An extension: its name, and the message that configures it. */
export interface Extension {
  readonly name: string;
  readonly type: string;
}

/**
 * The extensions compiled into Envoy, by category. An extension with several messages is listed once for each of them.
 */
export type Extensions = ReadonlyMap<string, readonly Extension[]>;

/** The extensions of a plain Envoy 1.40, without those that have no own configuration. */
export function configurableExtensions(): Extensions {
  const extensions = new Map<string, Extension[]>();
  for (const { category, name, types } of readExtensions()) {
    const members = extensions.get(category) ?? [];
    members.push(...types.map((type) => ({ name, type })));
    if (members.length > 0) extensions.set(category, members);
  }
  return extensions;
}
