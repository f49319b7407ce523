/** As much of a revision's id as people need to name it. */
export function shortId(id: string): string {
  return id.slice(0, 10);
}
