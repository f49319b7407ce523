/** Whether a text is an IPv4 address in four decimal numbers. */
export function isIpv4(text: string): boolean {
  const parts = text.split(".");
  return parts.length === 4 && parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255);
}

/** Whether a text is an IPv6 address: eight groups, one run of them left out as `::`, the last two perhaps an IPv4 address; without a zone. */
export function isIpv6(text: string): boolean {
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
