import type { Field } from "../../api/types.js";
import { shortened } from "../../text/shortened.js";

/** Where a card stands, and how high it may be: styles in pixels of the window. */
export interface CardPlace {
  readonly left: string;
  readonly top?: string;
  readonly bottom?: string;
  readonly maxHeight: string;
}

/** Of a card, in pixels: what the style says, and the rim of the window. */
const maxWidth = 500;
const rim = 8;

/** Below the key, or above it where there is more room. A text that scrolls does not cut it off. */
export function besides(element: Element): CardPlace {
  const { left, top, bottom } = element.getBoundingClientRect();
  const side = `${Math.max(rim, Math.min(left, innerWidth - maxWidth))}px`;
  const [above, below] = [top, innerHeight - bottom];
  return below < 320 && above > below
    ? { left: side, bottom: `${innerHeight - top}px`, maxHeight: `${above - rim}px` }
    : { left: side, top: `${bottom}px`, maxHeight: `${below - rim}px` };
}

/** Letters of a comment; the link leads to the rest. */
const maxLetters = 700;

/** What a field is: its type, what its value must be, and what Envoy's protos say of it. */
export function FieldCard({
  id,
  name,
  field,
  place,
}: {
  readonly id: string;
  readonly name: string;
  /** Undefined: it is on its way, or the protos do not have it. */
  readonly field: Field | undefined;
  readonly place: CardPlace;
}) {
  return (
    <span class="field-card" id={id} role="tooltip" style={{ ...place }}>
      {field === undefined ? name : <Description field={field} />}
    </span>
  );
}

function Description({ field }: { readonly field: Field }) {
  const { name, message, type, oneof, rules, comment, values, deprecated, since, docs } = field;
  return (
    <>
      <b>{name}</b> <span class="quiet">{type}</span>
      {deprecated ? <b class="missing"> deprecated</b> : null}
      {rules.length === 0 ? null : <span class="below">Must be: {rules.join(", ")}</span>}
      {comment === null ? null : <span class="field-comment">{marked(shortened(comment, maxLetters))}</span>}
      {values.length === 0 ? null : <span class="below quiet">Values: {values.join(", ")}</span>}
      <span class="quiet below">
        in {message}
        {oneof === null ? "" : `, one of ${oneof}`}
        {since === null ? "" : `, since Envoy ${since}`}
      </span>
      {docs === null ? null : <span class="quiet below">Enter or a click leads to Envoy's documentation.</span>}
    </>
  );
}

/** Names in backticks stand in the type of code. */
function marked(text: string) {
  return text.split("`").map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part));
}
