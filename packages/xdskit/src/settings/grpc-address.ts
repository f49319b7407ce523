import { XdskitError } from "@xdskit/api";
import { parseAddress } from "@xdskit/server/address";

/** The address of a server over gRPC, as people type it. Throws an XdskitError (XDSKIT_CLIENT_OPTION) for what can be none: a typing error is not tried for ever. */
export function grpcAddress(text: string): string {
  if (parseAddress(text) !== undefined || /^(?:dns|ipv4|ipv6|unix|unix-abstract):./.test(text)) return text;
  const wanted = "HOST:PORT, such as 127.0.0.1:18000, nor a target such as unix:/run/xds.sock";
  // What stands before an @ may be a password.
  const shown = JSON.stringify(text.replace(/^.*@/s, "[redacted]@"));
  throw XdskitError.of("XDSKIT_CLIENT_OPTION", `${shown} is not ${wanted}`);
}
