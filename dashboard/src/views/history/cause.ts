import type { RevisionJson } from "../../api/types.js";

/** Why a revision was made, in a few words. `nameOf` knows other revisions by their ids. */
export function causeText(
  { cause }: RevisionJson,
  nameOf: (id: string) => string | undefined = () => undefined,
): string {
  const { kind } = cause;
  switch (kind) {
    case "files": {
      const files = Array.isArray(cause.files) ? cause.files.map(String) : [];
      const commit =
        typeof cause.commit === "string" ? `, commit ${cause.commit.replace(/^([0-9a-f]{10})[0-9a-f]*/, "$1")}` : "";
      return `${files.slice(0, 3).join(", ")}${files.length > 3 ? ` and ${files.length - 3} more` : ""}${commit}`;
    }
    case "api":
      return `over the API from ${String(cause.caller)}`;
    case "rollback":
      // Before its first revision a layer had nothing.
      if (cause.to === "") return "a rollback to an empty layer";
      return `a rollback to ${nameOf(String(cause.to)) ?? String(cause.to).slice(0, 12)}`;
    case "lease-ended":
      return "a lease ended";
    default:
      return kind;
  }
}
