import { useEffect, useRef, useState } from "preact/hooks";
import { counted } from "../text/counts.js";

/** How long after the last key the search begins, in milliseconds. */
const pauseMs = 200;

/** A field for a search. `/` leads here, Escape leaves it. */
export function Search({
  value,
  label,
  change,
}: {
  readonly value: string;
  readonly label: string;
  change(value: string): void;
}) {
  const [text, setText] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const said = useRef(value);
  useEffect(() => () => clearTimeout(timer.current), []);
  useEffect(() => {
    // Somebody else changed it: the way back, or a link.
    if (value !== said.current) setText(value);
    said.current = value;
  }, [value]);
  return (
    <label class="search">
      <span class="hidden">{label}</span>
      <input
        type="search"
        placeholder={`${label}  /`}
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
          clearTimeout(timer.current);
          timer.current = setTimeout(() => {
            said.current = currentTarget.value;
            change(currentTarget.value);
          }, pauseMs);
        }}
        onKeyDown={({ key, currentTarget }) => {
          if (key === "Escape") currentTarget.blur();
        }}
      />
    </label>
  );
}

/** A choice among names; empty is all of them. */
export function Select({
  label,
  value,
  options,
  change,
}: {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (string | readonly [value: string, text: string])[];
  change(value: string): void;
}) {
  return (
    <label class="select">
      <span>{label}</span>
      <select value={value} onChange={({ currentTarget }) => change(currentTarget.value)}>
        {options.map((option) => {
          const [key, text] = typeof option === "string" ? [option, option === "" ? "all" : option] : option;
          return (
            <option key={key} value={key}>
              {text}
            </option>
          );
        })}
      </select>
    </label>
  );
}

/** How many of a list are not shown, if any. */
export function Further({ total, shown }: { readonly total: number; readonly shown: number }) {
  if (total <= shown) return null;
  return <p class="quiet">{counted(total - shown, "more: search for it", "more: search for them")}</p>;
}
