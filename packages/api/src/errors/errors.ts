import type { XdskitErrorCode } from "./error-codes.js";
import { shortened } from "./shortened.js";

/** The place of a problem, as far as it is known. All of it may be shown to people: it never contains a secret. */
export interface Where {
  readonly file?: string | undefined;
  /** From 1. */
  readonly line?: number | undefined;
  /** From 1. */
  readonly column?: number | undefined;
  /** A field path such as `load_assignment.endpoints[0].locality`, in the proto's own spelling. */
  readonly field?: string | undefined;
  readonly resource?: string | undefined;
  /** A type URL or a type's name. */
  readonly type?: string | undefined;
  readonly node?: string | undefined;
}

/** One problem, or possible problem, in an input. */
export interface Finding extends Where {
  readonly code: XdskitErrorCode;
  /** An `error` keeps the change from being applied; a `warning` does not. */
  readonly severity: "error" | "warning";
  readonly message: string;
  /** The validation rule that is broken, such as `string.min_len: 1`. */
  readonly rule?: string | undefined;
}

/**
 * A finding on one line: `config/cluster.yaml:12:5: cluster "web", connect_timeout: must be more than 0s (duration.gt:
 * 0s) [XDSKIT_…]`. Long names and texts are cut.
 */
export function describe(finding: Omit<Finding, "severity">): string {
  const { file, line, column, type, resource, field, node, rule } = finding;
  const place = [file, line, line === undefined ? undefined : column].filter((part) => part !== undefined).join(":");
  const subject = [
    resource === undefined ? cut(type) : `${cut(type) ?? "resource"} ${JSON.stringify(cut(resource))}`,
    cut(field),
    node === undefined ? undefined : `node ${JSON.stringify(cut(node))}`,
  ];
  const what = subject.filter((part) => part !== undefined).join(", ");
  const start = [place, what].filter((part) => part !== "").map((part) => `${part}: `);
  const text = `${start.join("")}${shortened(finding.message, 2_000)}${rule === undefined ? "" : ` (${rule})`}`;
  const code = ` [${finding.code}]`;
  // The words of another error may end with it.
  return text.endsWith(code) ? text : text + code;
}

function cut<Text extends string | undefined>(text: Text): Text | string {
  return text === undefined ? text : shortened(text, 500);
}

/** The only error class of xdskit. `findings` has at least one entry, and `message` describes the first. */
export class XdskitError extends Error {
  override readonly name = "XdskitError";
  readonly code: XdskitErrorCode;
  readonly findings: readonly Finding[];

  constructor(findings: readonly [Finding, ...Finding[]], options?: ErrorOptions) {
    const more = findings.length === 1 ? "" : ` (and ${findings.length - 1} more)`;
    super(`${describe(findings[0])}${more}`, options);
    this.code = findings[0].code;
    this.findings = findings;
  }

  /** An error with a single finding. */
  static of(code: XdskitErrorCode, message: string, where: Where = {}, options?: ErrorOptions): XdskitError {
    return new XdskitError([{ code, severity: "error", message, ...where }], options);
  }
}
