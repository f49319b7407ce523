import { longestErrorText } from "../../model/basics/limits.js";
import { type Blame, type CarriedNames, namesOfParts, quoted, type TextReader } from "./blame-text.js";

const clusters = "Error adding/updating cluster(s) ";
const listeners = "Error adding/updating listener(s) ";
const scopes = "Error adding/updating scoped route(s)";

/** `Error adding/updating cluster(s) a: REASON, b: REASON`: Envoy uses the others (Envoy on the wire, 10). */
const clusterTexts: TextReader = (text, carried) =>
  text.startsWith(clusters)
    ? { names: namesOfParts(text, carried, { from: clusters.length, separator: ", ", end: ": " }), usesRest: true }
    : undefined;

/**
 * The same for listeners, one a line. A reason may be a message in text format. Its lines look like a listener whose
 * name is that of a field.
 */
const listenerTexts: TextReader = (text, carried) =>
  text.startsWith(listeners)
    ? {
        names: namesOfParts(
          text,
          carried,
          { from: listeners.length, separator: "\n", end: ": " },
          (from) => !isField(text, from),
        ),
        usesRest: true,
      }
    : undefined;

/** A field in text format; the last one of a text may be cut. */
const field = /[a-z_][a-z_0-9]*: (?:"|(?:-?[0-9][0-9a-fA-Fx.e+-]*|[A-Z][A-Z_0-9]*|true|false|)(?:\n|…?$)|[a-z]*…$)/y;

function isField(text: string, from: number): boolean {
  field.lastIndex = from;
  return field.test(text);
}

/** Two scopes that conflict: Envoy uses nothing of the response. */
const scopeTexts: TextReader = (text, carried) => {
  if (!text.startsWith(scopes)) return undefined;
  const names = [
    behind(text, "first scope is '", "', second scope is '", carried),
    behind(text, "', second scope is '", "'", carried),
    behind(text, "duplicate scoped route configuration '", "' found", carried),
  ];
  return { names: names.filter((name) => name !== undefined), usesRest: false };
};

function behind(text: string, opening: string, end: string, carried: CarriedNames): string | undefined {
  const at = text.indexOf(opening);
  return at < 0 ? undefined : carried.at(text, at + opening.length, end);
}

/** Matches if the message in the text is a resource. Other messages with such a text are inside of a resource. */
const broken =
  /Proto constraint validation failed \((?:Cluster|Listener|(?:Scoped)?RouteConfiguration|ClusterLoadAssignment|Secret|VirtualHost|Runtime|TypedExtensionConfig)ValidationError\./;
const ownName = /^(?:cluster_)?name: (?=")/m;

/**
 * A resource that breaks a rule of its proto. Today the message stands before the reason, so a long one cuts off the
 * reason; older Envoys put it behind. Envoy reads all resources before it uses any, so it uses nothing of the response.
 */
const constraintTexts: TextReader = (text, carried) => {
  const reason = broken.exec(text);
  let from = 0;
  if (!text.startsWith("goo.gle/debug")) {
    if (reason?.index !== 0) return undefined;
    from = text.indexOf("): ") + 3;
    if (from < 3) return undefined;
  } else if (
    reason === null &&
    (text.length < longestErrorText || text.includes("Proto constraint validation failed"))
  ) {
    return undefined;
  }
  const message = text.slice(from);
  const at = ownName.exec(message);
  const name = at === null ? undefined : quoted(message, at.index + at[0].length)?.value;
  return name === undefined ? undefined : named(name, carried);
};

/**
 * Texts that end with the name: `Duplicate entry of domain a.com in route NAME`, `Unexpected EDS cluster (expecting a):
 * NAME`.
 */
const endings = [
  /^Only (?:a single|unique) .*? in route /s,
  /^Unexpected (?:RDS configuration|EDS cluster|SDS secret|RTDS runtime) \(expecting .*?\): /s,
  /^Unexpected resource name in ExtensionConfigDS response: /,
];

const endingTexts: TextReader = (text, carried) => {
  const start = endings.map((ending) => ending.exec(text)?.[0]).find((found) => found !== undefined);
  if (start === undefined) return undefined;
  return named(text.slice(start.length), carried);
};

const duplicate = "duplicate name ";

/** Delta: `duplicate name NAME found among added/updated resources`. */
const duplicateTexts: TextReader = (text, carried) => {
  if (!text.startsWith(duplicate)) return undefined;
  const name =
    carried.at(text, duplicate.length, " found among ") ??
    carried.at(text, duplicate.length, " found in the union of ");
  return { names: name === undefined ? [] : [name], usesRest: false };
};

function named(name: string, carried: CarriedNames): Blame {
  return { names: carried.has(name) ? [name] : [], usesRest: false };
}

/** Envoy's texts, also through the Istio agent, which forwards them. */
export const envoyTexts: readonly TextReader[] = [
  clusterTexts,
  listenerTexts,
  scopeTexts,
  constraintTexts,
  endingTexts,
  duplicateTexts,
];
