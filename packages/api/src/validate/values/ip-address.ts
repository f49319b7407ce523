/** Whether a text is an IPv4 address in dotted decimal notation. */
export function isIpv4(text: string): boolean {
  const { length } = text;
  if (length > 15) return false;
  let parts = 1;
  let digits = 0;
  let value = 0;
  for (let at = 0; at < length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x2e) {
      if (digits === 0) return false;
      parts += 1;
      digits = 0;
      value = 0;
      continue;
    }
    if (code < 0x30 || code > 0x39 || (digits > 0 && value === 0)) return false;
    value = value * 10 + code - 0x30;
    digits += 1;
    if (value > 255) return false;
  }
  return parts === 4 && digits > 0;
}

/**
 * Whether a text is an IPv6 address: eight groups, one run may be replaced by `::`, the last two may be an IPv4
 * address; no zone.
 */
export function isIpv6(text: string): boolean {
  // Host names are tested too, by the thousand.
  if (!text.includes(":")) return false;
  const halves = text.split("::");
  if (halves.length > 2) return false;
  let groups = 0;
  for (const [index, half] of halves.entries()) {
    if (half === "") continue;
    const parts = half.split(":");
    const last = parts.at(-1) ?? "";
    const embedded = index === halves.length - 1 && last.includes(".");
    if (embedded && !isIpv4(last)) return false;
    const hex = embedded ? parts.slice(0, -1) : parts;
    if (!hex.every((part) => /^[\da-f]{1,4}$/i.test(part))) return false;
    groups += hex.length + (embedded ? 2 : 0);
  }
  return halves.length === 2 ? groups < 8 : groups === 8;
}
