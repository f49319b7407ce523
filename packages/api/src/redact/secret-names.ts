/**
 * Whether a name says that its value is a secret: `access_token`, `clientSecret`, `X-Api-Key`, `db.password`. Not if it
 * only leads to one: `token_endpoint`, `password_file`, `secret_name`.
 */
export function isSecretName(name: string): boolean {
  return secretName.test(inSnakeCase(name));
}

/** The same for headers. Some hold secrets under any name. */
export function isSecretHeader(name: string): boolean {
  return secretHeader.test(name) || isSecretName(name);
}

const secretName =
  /(^|_)(pass_?word|passwd|pwd|pass_?phrase|secret|token|credential|((private|secret|access|api|json|session|signing|encryption|hmac)_?key))s?(_(id|data|value|string|bytes))?$/;
const secretHeader = /^(proxy-)?authorization$|^(set-)?cookie$/i;

function inSnakeCase(name: string): string {
  return name
    .slice(-200)
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/[^A-Za-z0-9]+/g, "_")
    .toLowerCase();
}
