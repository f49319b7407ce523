import type { ComponentChildren } from "preact";
import { ApiError } from "../api/request.js";
import type { FindingJson } from "../api/types.js";

/** What is shown where there is nothing: it says the next step. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}

export function Loading() {
  return (
    <p class="loading" role="status">
      Loading …
    </p>
  );
}

/** What went wrong with a question or a change. */
export function Failure({ error }: { readonly error: Error }) {
  const findings = error instanceof ApiError ? error.findings : [];
  const text = error instanceof ApiError ? error.message : "The server does not answer. The page asks again by itself.";
  return (
    <div class="failure" role="alert">
      {findings.length > 1 ? null : <p>{text}</p>}
      <Findings findings={findings.length > 1 || findings.some(({ line }) => line !== undefined) ? findings : []} />
    </div>
  );
}

/** Findings with where they are. */
export function Findings({ findings }: { readonly findings: readonly FindingJson[] }) {
  if (findings.length === 0) return null;
  return (
    <ul class="findings">
      {findings.map((finding) => (
        <li key={JSON.stringify(finding)} class={`finding-${finding.severity}`}>
          <b>{finding.severity}</b> <WhereText where={finding} />
          {finding.resource === undefined ? null : <code>{`${finding.type ?? ""} ${finding.resource}`.trim()}</code>}{" "}
          {finding.field === undefined ? "" : `${finding.field}: `}
          {finding.message} <code class="quiet">{finding.code}</code>
        </li>
      ))}
    </ul>
  );
}

/** `file:line:column`. `href`: where the page shows what is written there. */
export function WhereText({
  where: { file, line, column },
  href,
}: {
  readonly where: {
    readonly file?: string | undefined;
    readonly line?: number | undefined;
    readonly column?: number | undefined;
  };
  readonly href?: string;
}) {
  if (file === undefined) return null;
  const text = [file, line, column].filter((part) => part !== undefined).join(":");
  return (
    <>
      {href === undefined ? (
        <code class="where">{text}</code>
      ) : (
        <a class="where" href={href}>
          <code>{text}</code>
        </a>
      )}{" "}
    </>
  );
}
