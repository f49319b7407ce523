const numbers = new Intl.NumberFormat("en");

/** `10,000`. */
export function numberText(count: number): string {
  return numbers.format(count);
}

/** `1 node`, `3 nodes`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${numberText(count)} ${count === 1 ? one : many}`;
}
