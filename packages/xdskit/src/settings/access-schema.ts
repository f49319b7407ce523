import { tokenHash, tokenName } from "@xdskit/admin/tokens";
import { checkWhen, readNetworks, type When } from "@xdskit/server";
import { z } from "zod";
import { whenSchema } from "./identities.js";

const aTokenHash = "expected sha256: and 64 hexadecimal digits, as xdskit token create prints them";
const hashOf = z.string({ error: aTokenHash }).regex(tokenHash, { error: aTokenHash });
const tokens = z
  .record(
    z.string().regex(tokenName, { error: "expected a word of letters, digits, dots, - and _" }),
    z.union([hashOf.transform((one) => [one]), z.array(hashOf).min(1).max(10)], { error: aTokenHash }),
  )
  .refine((all) => Object.keys(all).length <= 1_000, { error: "there are at most 1000 tokens" });

const aRight = "expected read, operate, write, or write:LAYER";
const right = z.union(
  [z.enum(["read", "operate", "write"]), z.templateLiteral(["write:", z.string().regex(/^[\w.-]{1,100}$/)])],
  { error: aRight },
);
const role = z.strictObject({
  when: whenSchema
    .extend({
      user: z.string().min(1).max(256).optional(),
      network: z.union([z.string(), z.array(z.string()).min(1).max(100)]).optional(),
    })
    .superRefine(thatHold),
  // None: whoever it holds for may nothing, and no later role is asked.
  may: z.array(right, { error: aRight }),
  writes_per_second: z.number().positive().max(1_000_000).optional(),
});

const aProxy = "expected an IP address, a network such as 10.0.0.0/8, or unix";
const trustedProxies = z.strictObject({
  from: z
    .array(z.string().refine(isProxy, { error: aProxy }))
    .min(1)
    .max(100),
  host: z
    .string()
    .regex(/^[A-Za-z0-9.-]{1,253}$/, { error: "expected the name of a host" })
    .optional(),
});

/** The keys of the settings that say who may do what at the admin listener, and where that is noted. */
export const accessSettings = {
  replicas: whenSchema.pick({ spiffe: true, dns: true, uri: true, subject: true }).superRefine(thatHold).optional(),
  tokens: tokens.optional(),
  roles: z.array(role).min(1, { error: "leave it out if everybody may do everything" }).max(1_000).optional(),
  trusted_proxies: trustedProxies.optional(),
  audit: z
    .union([z.literal("stderr"), z.strictObject({ file: z.string().min(1) })], {
      error: 'expected "stderr", or a file such as { file: audit.jsonl }',
    })
    .optional(),
};

const access = z.strictObject(accessSettings);

/** Patterns that can be read, and at least one condition. */
function thatHold({ user, ...when }: When & { readonly user?: string | undefined }, context: z.RefinementCtx): void {
  if (user !== undefined && Object.keys(when).length === 0) return;
  for (const { field, message } of checkWhen(when).faults)
    context.addIssue({ code: "custom", path: field === "" ? [] : [field], message });
}

function isProxy(text: string): boolean {
  return text === "unix" || typeof readNetworks([text]) !== "string";
}

/** A role, or a caller, of a token that nobody has would be nobody's. */
export function tokensThatAreThere(
  { tokens = {}, roles = [], identities = [] }: Pick<z.output<typeof access>, "tokens" | "roles"> & CallersOfTokens,
  context: z.RefinementCtx,
): void {
  for (const [key, rules] of Object.entries({ roles, identities })) {
    for (const [index, { when }] of rules.entries()) {
      if (when.token === undefined || Object.hasOwn(tokens, when.token)) continue;
      const message = `there is no token "${when.token}" in tokens`;
      context.addIssue({ code: "custom", path: [key, index, "when", "token"], message });
    }
  }
}

/** Other servers of the store show certificates only where clients do. */
export function replicasThatFit(
  { replicas, tls }: Pick<z.output<typeof access>, "replicas"> & { readonly tls?: CertificatesAsked | undefined },
  context: z.RefinementCtx,
): void {
  if (replicas === undefined || tls?.client_ca !== undefined || tls?.sds !== undefined) return;
  const message = "without client_ca in tls, no server is asked for a certificate";
  context.addIssue({ code: "custom", path: ["replicas"], message });
}

type CertificatesAsked = Readonly<Partial<Record<"client_ca" | "sds", string | undefined>>>;

interface CallersOfTokens {
  readonly identities?: readonly { readonly when: When }[] | undefined;
}
