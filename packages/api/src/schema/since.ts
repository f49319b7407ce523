import type { EnumFacts, MessageFacts, Named, PackageFacts } from "./facts.js";

/**
 * The versions of Envoy that introduced elements, by full name: `envoy.config.cluster.v3.Cluster.stats_matcher` is
 * `1.40`. Elements as old as their message or enum, or as the oldest version in the table, are left out.
 */
export function sinceByName(packages: readonly PackageFacts[]): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  function note({ name, since, removed }: Named, prefix: string): string {
    const fullName = `${prefix}.${name}`;
    if (since !== undefined && removed === undefined) found[fullName] = since;
    return fullName;
  }
  function addTypes(messages: readonly MessageFacts[], enums: readonly EnumFacts[], prefix: string): void {
    for (const message of messages) {
      const name = note(message, prefix);
      for (const field of message.fields) note(field, name);
      addTypes(message.messages, message.enums, name);
    }
    for (const each of enums) {
      const name = note(each, prefix);
      for (const value of each.values) note(value, name);
    }
  }
  for (const { name, files } of packages) for (const file of files) addTypes(file.messages, file.enums, name);
  return found;
}
