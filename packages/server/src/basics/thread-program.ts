/**
 * Returns the program of a thread: the module of that name beside the caller, which passes its `import.meta.url`. A
 * thread does not load TypeScript just because the main thread does, so in tests of the sources a line of JavaScript
 * registers the loader first.
 */
export function threadProgram(beside: string, name: string): string | URL {
  if (!beside.endsWith(".ts")) return new URL(`./${name}.js`, beside);
  const module = JSON.stringify(new URL(`./${name}.ts`, beside));
  return `import("tsx/esm/api").then((tsx) => { tsx.register(); return import(${module}); })`;
}
