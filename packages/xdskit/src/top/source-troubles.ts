import type { FleetSummary, ProblemEntry, SourceJson } from "@xdskit/admin/answers";
import { errorsIn, XdskitError } from "@xdskit/api";
import type { SourceTrouble } from "@xdskit/server/status-client";

/** Sources whose newest content is not served, and servers that do not answer, as `status` over gRPC tells of them. */
export function sourceTroubles(
  sources: readonly SourceJson[],
  silent: FleetSummary["silent"],
): readonly SourceTrouble[] {
  const all = [
    ...sources.flatMap(ofSource),
    ...silent.map(({ replica, reason }): SourceTrouble => ({ source: replica, kind: "silent", message: reason })),
  ];
  // Several servers may read the same.
  return [...new Map(all.map((one) => [JSON.stringify(one), one])).values()];
}

function ofSource({ name: source, state, findings, rolledBack }: SourceJson): readonly SourceTrouble[] {
  const [first, ...more] = errorsIn(findings);
  const troubles: SourceTrouble[] = [];
  if (first !== undefined) {
    const kind = state === "partial" ? "partial" : "errors";
    troubles.push({ source, kind, message: new XdskitError([first, ...more]).message });
  }
  if (rolledBack != null) {
    const message = `revision ${rolledBack.to} is served since ${rolledBack.time}, after a rollback`;
    troubles.push({ source, kind: "rolled-back", message });
  }
  return troubles;
}

/**
 * What is wrong with the settings of the server itself, with what keeps its state, and with clients that get nowhere.
 * Sources have error codes.
 */
export function serverTroubles(problems: readonly ProblemEntry[]): readonly SourceTrouble[] {
  const own = problems.filter(
    ({ kind, code }) => kind === "settings" || kind === "client" || (kind === "store" && code === null),
  );
  return own.map(({ kind, title, detail, where }) => {
    const place = [where?.file, where?.line, where?.column].filter((part) => part !== undefined).join(":");
    const message = [title, place, detail].filter((part) => part !== "").join(": ");
    return { source: kind, kind: "incomplete", message };
  });
}
