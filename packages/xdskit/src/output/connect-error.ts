/** `connect ECONNREFUSED 127.0.0.1:18000`, without what gRPC says around it. */
export function connectError(text: string): string {
  return text
    .replace(/No connection established\. Last error: (?:\w*Error: )?(.*?)\.? Resolution note:\s*/, "$1 ")
    .trimEnd();
}
