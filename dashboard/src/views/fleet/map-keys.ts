const steps: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };

/** Arrows, Home and End go through the columns of the map. */
export function moveInMap(event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void {
  const columns = columnsOf(event.currentTarget);
  const at = columns.indexOf(event.target as HTMLElement);
  if (at < 0) return;
  const last = columns.length - 1;
  const step = steps[event.key];
  const to = event.key === "Home" ? 0 : event.key === "End" ? last : step === undefined ? undefined : at + step;
  if (to === undefined) return;
  columns[Math.min(Math.max(0, to), last)]?.focus();
  event.preventDefault();
}

/** The column that has the focus is the one to which the Tab key comes back. */
export function takeTabStop({ target, currentTarget }: FocusEvent & { readonly currentTarget: HTMLElement }): void {
  for (const column of columnsOf(currentTarget)) column.tabIndex = column === target ? 0 : -1;
}

function columnsOf(map: HTMLElement): readonly HTMLElement[] {
  return [...map.querySelectorAll<HTMLElement>(".map-columns a")];
}
