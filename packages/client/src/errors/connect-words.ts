/**
 * Explains a failed connection if the library's words hide the usual cause: a TLS port closes a plaintext connection; a
 * port for HTTP/1 breaks the rules of HTTP/2. Other texts stay as they are.
 */
export function connectWords(words: string): string {
  if (words === "Failed to connect" || words === "the connection was closed") {
    return "it closed the connection before it spoke HTTP/2: does it want TLS (--tls-ca)?";
  }
  if (words === "Protocol error") return "it does not speak HTTP/2: is this the address for gRPC?";
  return words;
}
