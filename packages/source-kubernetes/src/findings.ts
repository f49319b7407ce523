import { type Finding, maxFindings, XdskitError } from "@xdskit/api";
import type { KubernetesConnection } from "./connection/connection.js";
import { type ObjectFault, textOfObject } from "./objects/object-fault.js";
import { KubernetesApiError } from "./watching/api-error.js";

/** What cannot be written, by what that is, and what is not followed of objects: at most a hundred. */
export function warningsOf(
  unwritten: ReadonlyMap<string, Error>,
  faults: Iterable<ObjectFault>,
  connection: KubernetesConnection,
): readonly Finding[] {
  const found: Finding[] = [];
  for (const [what, error] of unwritten) {
    const message = `no ${what} can be written: ${failureText(error, connection)}`;
    found.push({ code: "XDSKIT_KUBERNETES", severity: "warning", message });
  }
  for (const { object, field, message, finding } of faults) {
    if (found.length === maxFindings) break;
    if (finding !== undefined) {
      found.push(finding);
      continue;
    }
    const code = object.kind === "Service" ? "XDSKIT_ANNOTATION" : "XDSKIT_KUBERNETES_OBJECT";
    found.push({
      code,
      severity: "warning",
      message,
      file: textOfObject(object),
      ...(field === "" ? {} : { field }),
    });
  }
  return found;
}

/** Why the server refuses what it was given. */
export function refusalOf(error: Error): readonly Finding[] {
  if (error instanceof XdskitError) return error.findings;
  return [{ code: "XDSKIT_KUBERNETES", severity: "error", message: error.message }];
}

/** What went wrong, and what to do. `path`: what was asked for. */
export function failureText(error: Error, { server, from }: KubernetesConnection, path = ""): string {
  const isRoute = path.startsWith("/apis/gateway.");
  if (error instanceof KubernetesApiError) {
    const role = isRoute ? "routes" : (/\/(secrets|configmaps|tokenreviews)$/.exec(path)?.[1] ?? "services");
    const orFewer = role === "tokenreviews" ? "" : ", or name the namespaces that it may read";
    const advice: Readonly<Record<number, string>> = {
      401: `; it does not accept the credentials of ${from}`,
      403: `; allow it with the role in deploy/kubernetes/${role}.yaml${orFewer}`,
      404: isRoute ? "; are the CRDs of the Gateway API installed?" : "; is there an API server of Kubernetes?",
    };
    return `the API server ${server.origin} refuses: ${error.message}${advice[error.status] ?? ""}`;
  }
  if (error instanceof XdskitError) return error.findings[0]?.message ?? error.message;
  return `the API server ${server.origin} does not answer: ${(error as NodeJS.ErrnoException).code ?? error.message}`;
}
