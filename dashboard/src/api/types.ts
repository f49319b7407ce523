/** What the API answers. The types come from the schemas that its OpenAPI document is made of. */
export type * from "@xdskit/admin/answers";
