/**
 * Remembers which version stood for which content and complains when one stands for two, either way round
 * (rules 16 and 82: a version changes if and only if the content does).
 */
export interface VersionLedger {
  /** `subject` is the owner of the version: a type's set, or one resource. */
  note(subject: string, content: string, version: string): void;
  /** The version that was noted for a content. */
  versionOf(subject: string, content: string): string | undefined;
}

/** An empty ledger. */
export function createVersionLedger(): VersionLedger {
  const versions = new Map<string, string>();
  const contents = new Map<string, string>();
  const key = (subject: string, other: string) => `${subject}\n${other}`;
  return {
    note(subject, content, version) {
      const before = versions.get(key(subject, content));
      if (before !== undefined && before !== version) {
        throw new Error(`two versions of ${subject} for one content, ${before} and ${version}: ${content}`);
      }
      const other = contents.get(key(subject, version));
      if (other !== undefined && other !== content) {
        throw new Error(`one version of ${subject} for two contents, ${version}: ${other} | ${content}`);
      }
      versions.set(key(subject, content), version);
      contents.set(key(subject, version), content);
    },
    versionOf: (subject, content) => versions.get(key(subject, content)),
  };
}
