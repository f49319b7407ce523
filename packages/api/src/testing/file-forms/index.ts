import type { FileForm } from "./file-form.js";
import { messageForms } from "./messages.js";
import { syntaxForms } from "./syntax.js";
import { valueForms } from "./values.js";

export type { FileForm } from "./file-form.js";

/** What files may say, and what they may not: each judged by real Envoy and by us. */
export const fileForms: readonly FileForm[] = [...valueForms, ...messageForms, ...syntaxForms];
