import { useState } from "preact/hooks";
import { get, pathOf } from "../api/request.js";
import type { Field } from "../api/types.js";

/** What was asked before. */
const known = new Map<string, Promise<Field | undefined>>();

/** The name of a field. What it is, is asked for when somebody points at it; a click leads to Envoy's documentation. */
export function Key({
  name,
  message,
  path,
}: {
  readonly name: string;
  readonly message: string;
  readonly path: readonly string[];
}) {
  const [field, setField] = useState<Field | undefined>(undefined);
  const look = () => {
    if (message !== "" && !name.startsWith('"@')) void fieldOf(message, path).then(setField);
  };
  const title = field === undefined ? path.join(".") : textOf(field);
  if (field?.docs == null)
    return (
      // biome-ignore lint/a11y/noStaticElementInteractions: to point at it only says more in its title.
      <span class="key" title={title} onMouseEnter={look}>
        {name}
      </span>
    );
  return (
    <a class="key" title={title} href={field.docs} target="_blank" rel="noreferrer" tabIndex={-1}>
      {name}
    </a>
  );
}

function fieldOf(message: string, path: readonly string[]): Promise<Field | undefined> {
  const asked = `fields/${pathOf(message, path.join("."))}`;
  const answer = known.get(asked) ?? get<Field>(asked).catch(() => undefined);
  known.set(asked, answer);
  return answer;
}

function textOf({ name, message, type, oneof, values, deprecated, since }: Field): string {
  return [
    `${name}: ${type}`,
    `in ${message}${oneof === null ? "" : `, one of ${oneof}`}`,
    values.length === 0 ? "" : `values: ${values.join(", ")}`,
    deprecated ? "deprecated" : "",
    since === null ? "" : `since Envoy ${since}`,
  ]
    .filter((line) => line !== "")
    .join("\n");
}
