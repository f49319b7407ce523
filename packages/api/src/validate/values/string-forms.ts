import { isIpv4, isIpv6 } from "./ip-address.js";
import { ruleCheck, type ValueCheck } from "./value-check.js";

const forms: Readonly<Record<string, { readonly what: string; readonly test: (value: string) => boolean }>> = {
  email: { what: "an email address", test: isEmail },
  hostname: { what: "a host name", test: isHostname },
  ip: { what: "an IP address", test: (value) => isIpv4(value) || isIpv6(value) },
  ipv4: { what: "an IPv4 address", test: isIpv4 },
  ipv6: { what: "an IPv6 address", test: isIpv6 },
  uri: { what: "an absolute URI", test: (value) => /^[A-Za-z][A-Za-z0-9+.-]*:/.test(value) && isUriReference(value) },
  uriRef: { what: "a URI", test: isUriReference },
  address: {
    what: "a host name or an IP address",
    test: (value) => isHostname(value) || isIpv4(value) || isIpv6(value),
  },
  uuid: {
    what: "a UUID",
    test: (value) => /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i.test(value),
  },
};

/**
 * The check of `string.email`, `string.ip` … and of the well-known regular expressions; undefined if the rule is off.
 */
export function formCheck(name: string, setting: unknown, strict: boolean): ValueCheck | undefined {
  if (name === "wellKnownRegex") return headerCheck(setting, strict);
  const form = forms[name];
  if (form === undefined || setting !== true) return undefined;
  return ruleCheck(`string.${name === "uriRef" ? "uri_ref" : name}: true`, `must be ${form.what}`, form.test);
}

/**
 * HTTP_HEADER_NAME is 1 and HTTP_HEADER_VALUE 2. If not strict, both forbid only characters that would end the header.
 */
function headerCheck(known: unknown, strict: boolean): ValueCheck | undefined {
  if (known !== 1 && known !== 2) return undefined;
  const name = known === 1 ? "HTTP_HEADER_NAME" : "HTTP_HEADER_VALUE";
  const what = known === 1 ? "the name of an HTTP header" : "the value of an HTTP header";
  const rule = `string.well_known_regex: ${name}${strict ? "" : ", strict: false"}`;
  if (!strict)
    return ruleCheck(
      rule,
      `must be ${what}, without NUL and line breaks`,
      (value: string) => !hasCode(value, endsHeader),
    );
  if (known === 1)
    return ruleCheck(rule, `must be ${what}`, (value: string) => /^:?[0-9a-zA-Z!#$%&'*+-.^_|~`]+$/.test(value));
  return ruleCheck(rule, `must be ${what}`, (value: string) => !hasCode(value, isControl));
}

function endsHeader(code: number): boolean {
  return code === 0 || code === 0x0a || code === 0x0d;
}

/** The control characters except for tab. */
function isControl(code: number): boolean {
  return (code < 0x20 && code !== 0x09) || code === 0x7f;
}

function hasCode(text: string, test: (code: number) => boolean): boolean {
  for (let at = 0; at < text.length; at++) if (test(text.charCodeAt(at))) return true;
  return false;
}

/** Labels of letters, digits and hyphens with at most 63 characters each, 253 in total. */
function isHostname(value: string): boolean {
  const host = value.endsWith(".") ? value.slice(0, -1) : value;
  if (host.length > 253) return false;
  return host.split(".").every((label) => label.length <= 63 && /^[a-z\d](?:[a-z\d-]*[a-z\d])?$/i.test(label));
}

function isEmail(value: string): boolean {
  const at = value.lastIndexOf("@");
  const local = value.slice(0, at);
  return (
    at > 0 &&
    value.length <= 254 &&
    local.length <= 64 &&
    !/[\s<>()[\],;:\\"@]/.test(local) &&
    isHostname(value.slice(at + 1))
  );
}

function isUriReference(value: string): boolean {
  return /^[^\s<>"{}|\\^`]*$/.test(value) && !hasCode(value, isControl) && !/%(?![\da-f]{2})/i.test(value);
}
