import type { EnumFacts, Life, MessageFacts, Named, PackageFacts } from "./facts.js";

/** Since when elements of Envoy's API exist, and until when removed ones did. */
export interface History {
  /**
   * The lives of a message, an enum, a service, or of a field, a value or a method, which have their parent's name as a
   * prefix: `envoy.config.cluster.v3.Cluster.stats_matcher`. There are several if a field changed its type or number,
   * since older versions read it as something else. The current one comes first. Empty if there never was one.
   */
  livesOf(name: string): readonly Life[];
}

/** The history in a table. An element that appeared together with its parent has the parent's life. */
export function historyOf(packages: readonly PackageFacts[]): History {
  const lives = new Map<string, readonly Life[]>();

  function add({ name, since, removed }: Named, prefix: string, outer: Life = {}): readonly [string, Life] {
    const life = { since: since ?? outer.since, removed: removed ?? outer.removed };
    const fullName = `${prefix}.${name}`;
    const others = lives.get(fullName) ?? [];
    lives.set(fullName, removed === undefined ? [life, ...others] : [...others, life]);
    return [fullName, life];
  }
  function addTypes(
    messages: readonly MessageFacts[],
    enums: readonly EnumFacts[],
    prefix: string,
    outer?: Life,
  ): void {
    for (const message of messages) {
      const [name, life] = add(message, prefix, outer);
      for (const field of message.fields) add(field, name, life);
      addTypes(message.messages, message.enums, name, life);
    }
    for (const each of enums) {
      const [name, life] = add(each, prefix, outer);
      for (const value of each.values) add(value, name, life);
    }
  }

  for (const { name, files, removedMessages, removedEnums } of packages) {
    for (const { messages, enums, services } of files) {
      addTypes(messages, enums, name);
      for (const service of services) {
        const [fullName, life] = add(service, name);
        for (const method of service.methods) add(method, fullName, life);
      }
    }
    addTypes(removedMessages, removedEnums, name);
  }
  return { livesOf: (name) => lives.get(name) ?? [] };
}
