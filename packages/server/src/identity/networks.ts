import { BlockList, isIP, isIPv6 } from "node:net";

/** Networks of IP addresses. */
export interface Networks {
  /** Whether an address is in one of them. What is no address is in none. */
  has(address: string): boolean;
}

/** Reads addresses and networks, such as `10.0.0.0/8`; a text says what is wrong with them. */
export function readNetworks(networks: readonly string[]): Networks | string {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", bits, ...more] = network.split("/");
    const family = isIP(address);
    const most = family === 4 ? 32 : 128;
    const prefix = bits === undefined ? most : Number(bits);
    const isFine =
      family !== 0 && more.length === 0 && (bits === undefined || /^\d{1,3}$/.test(bits)) && prefix <= most;
    if (!isFine) return `${JSON.stringify(network)} is no network such as 10.0.0.0/8 or fd00::/8`;
    list.addSubnet(address, prefix, family === 4 ? "ipv4" : "ipv6");
  }
  return {
    has: (address) => isIP(address) !== 0 && list.check(address, isIPv6(address) ? "ipv6" : "ipv4"),
  };
}
