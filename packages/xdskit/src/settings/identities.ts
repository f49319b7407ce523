import { dirname, resolve } from "node:path";
import { everyNode, type IdentityRule, identityFaults, type When } from "@xdskit/server";
import { z } from "zod";
import { duration } from "./options/duration-schema.js";

const text = z.string().min(1);
const textOrList = z.union([text, z.array(text).min(1)], { error: "expected a text, or a list of texts" });

const jwt = z.strictObject({
  issuer: text,
  audience: textOrList,
  jwks: text.optional(),
  review: z.literal(true, { error: "expected true" }).optional(),
  claims: z.record(text, text).optional(),
  algorithms: z.array(text).min(1).optional(),
});

const unixUsers = z.strictObject({
  uid: z.union([z.number(), z.array(z.number())], { error: "expected the number of a user, such as 1000, or a list" }),
});

/** Conditions on who calls: all must hold. */
export const whenSchema = z.strictObject({
  spiffe: text.optional(),
  dns: text.optional(),
  uri: text.optional(),
  subject: text.optional(),
  jwt: jwt.optional(),
  unix: z.union([z.boolean(), unixUsers], { error: "expected true, false, or { uid: 1000 }" }).optional(),
  network: textOrList.optional(),
  token: text.optional(),
});

const aNode = "expected the nodes that the caller may be, such as { id: edge-*, cluster: edge }; {} is every node";
const identity = z
  .strictObject({
    when: whenSchema,
    node: z.strictObject({ id: text.optional(), cluster: text.optional() }, { error: aNode }).optional(),
    deny: z.boolean({ error: "expected true or false" }).optional(),
    groups: z.array(text).min(1, { error: "name a group, or leave it out" }).optional(),
    secrets: z.boolean({ error: "expected true or false" }).optional(),
    max_age: duration.optional(),
  })
  .transform(({ max_age: maxAgeMs, ...rule }) => ({ ...rule, maxAgeMs }));

/** Who may be which node. */
export const identitiesSchema = z.array(identity).superRefine((rules, context) => {
  for (const { field, message } of identityFaults(rules)) {
    const path = field
      .split(/[.[\]]+/)
      .flatMap((part) => (part === "" ? [] : /^\d+$/.test(part) ? Number(part) : part));
    context.addIssue({ code: "custom", message, path });
  }
});

interface WithIdentities {
  readonly identities?: readonly IdentityRule[] | undefined;
  readonly groups?: readonly { readonly name: string }[] | undefined;
  readonly tls?: Readonly<Partial<Record<"client_ca" | "client_certs" | "sds", string | undefined>>> | undefined;
}

/** Checks them against the rest of the settings. */
export function identitiesThatFit({ identities, groups, tls }: WithIdentities, context: z.RefinementCtx): void {
  const known = groups?.map(({ name }) => name) ?? [everyNode];
  for (const [index, rule] of identities?.entries() ?? []) {
    for (const [at, name] of rule.groups?.entries() ?? []) {
      if (known.includes(name)) continue;
      const message = `there is no group ${JSON.stringify(name)}; known are ${known.join(", ")}`;
      context.addIssue({ code: "custom", message, path: ["identities", index, "groups", at] });
    }
  }
  if (tls?.client_certs !== "optional") return;
  const path = ["tls", "client_certs"];
  if (identities === undefined) {
    const message =
      "without identities, whoever has no certificate would be every node: add them, or require certificates";
    context.addIssue({ code: "custom", message, path });
  }
  if (tls.client_ca === undefined && tls.sds === undefined) {
    context.addIssue({ code: "custom", message: "without client_ca, no client is asked for a certificate", path });
  }
}

/** The same rules with the files of their keys: paths in the settings are relative to the settings file. */
export function rulesFrom<Rule extends { readonly when: When }>(rules: readonly Rule[], file: string): Rule[] {
  return rules.map((rule) => ({ ...rule, when: whenFrom(rule.when, file) }));
}

/** The same for the conditions of one rule. */
export function whenFrom(when: When, file: string): When {
  const { jwt } = when;
  if (jwt?.jwks === undefined || /^https:/i.test(jwt.jwks)) return when;
  return { ...when, jwt: { ...jwt, jwks: resolve(dirname(file), jwt.jwks) } };
}
