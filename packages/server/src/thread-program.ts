/**
 * What a thread is to run: the module of that name beside the one that asks, which gives its `import.meta.url`. A thread does not load TypeScript because the main
 * thread does: in tests of the sources it has to be told, by JavaScript in place of the module.
 */
export function threadProgram(beside: string, name: string): string | URL {
  if (!beside.endsWith(".ts")) return new URL(`./${name}.js`, beside);
  const module = JSON.stringify(new URL(`./${name}.ts`, beside));
  return `import("tsx/esm/api").then((tsx) => { tsx.register(); return import(${module}); })`;
}
