/** `connect ECONNREFUSED 127.0.0.1:18000`, without what gRPC says around it, such as the time. */
export function connectError(text: string): string {
  return text
    .replace(/No connection established\. Last error: (?:\w*Error: )?(.*?)\.? Resolution note:\s*/, "$1 ")
    .trimEnd()
    .replace(/ \(\d{4}-\d\d-\d\dT[\d:.]+Z\)$/, "");
}
