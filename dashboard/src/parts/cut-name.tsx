/** So much of the end of a name is always seen: ids that are alike differ there. */
const endLength = 10;

/** A name that is cut in its middle where there is too little room; all of it is its text. */
export function CutName({ name }: { readonly name: string }) {
  if (name.length <= 2 * endLength) return <>{name}</>;
  return (
    <span class="cut-name">
      <span>{name.slice(0, -endLength)}</span>
      <span>{name.slice(-endLength)}</span>
    </span>
  );
}
