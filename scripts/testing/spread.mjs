/**
 * Spreads the tests that mostly wait, for the programs that they start, evenly among those that mostly compute: so the
 * processors are busy all the time.
 */
export function spread(files) {
  const waiting = files.filter((file) => file.startsWith("e2e/"));
  const computing = files.filter((file) => !file.startsWith("e2e/"));
  const placed = (each, index, all) => ({ file: each, at: (index + 0.5) / all.length });
  return [...waiting.map(placed), ...computing.map(placed)].sort((a, b) => a.at - b.at).map(({ file }) => file);
}
