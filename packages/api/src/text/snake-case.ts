/** `connectTimeout` as protos and settings write it: `connect_timeout`. What has no capital letter stays. */
export function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
