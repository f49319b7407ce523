/** The views of the page: their place in the link, their name, and the keys that lead there. */
export const views = [
  ["fleet", "Fleet", "g f"],
  ["config", "Configuration", "g c"],
  ["change", "Change", "g n"],
  ["rollouts", "Rollouts", "g r"],
  ["history", "History", "g h"],
  ["problems", "Problems", "g p"],
  ["audit", "Audit", "g a"],
  ["services", "Services", "g s"],
] as const;

/** The name of a view; undefined: there is none at this place. */
export function viewName(place: string): string | undefined {
  return views.find(([one]) => one === place)?.[1];
}
