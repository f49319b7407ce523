import type { FileForm } from "./file-form.js";
import { messageForms } from "./messages.js";
import { syntaxForms } from "./syntax.js";
import { valueForms } from "./values.js";

export type { FileForm } from "./file-form.js";

/** The forms that files may and may not have: a real Envoy and our readers judge each. */
export const fileForms: readonly FileForm[] = [...valueForms, ...messageForms, ...syntaxForms];
