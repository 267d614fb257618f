// The SQL condition for people who may use the Manager. An identity provider deactivates a person over SCIM, and an
// administrator through GraphQL; the person is active if neither has done so.

/** SQL that is true if the person is active; `alias` is the alias of a row of `users`, from the code. */
export const buildIsActiveSql = (alias: string): string =>
  `(${alias}.deactivated_by_scim_at is null and ${alias}.deactivated_by_administrator_at is null)`
