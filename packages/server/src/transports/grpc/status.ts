/** A status message that can travel in a header: bounded, and without lone surrogates, which cannot be encoded. */
export function asDetails(message: string): string {
  return message.slice(0, 2_000).replace(/\p{Surrogate}/gu, "\u{fffd}");
}
