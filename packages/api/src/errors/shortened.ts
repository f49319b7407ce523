/** A text of any length, cut to a part that is worth reading in a message. */
export function shortened(text: string, most = 100): string {
  return text.length <= most ? text : `${text.slice(0, most)}…`;
}
