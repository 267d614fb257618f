/** Members have no id of their own; of two rows for one person in a tenant, the second has a number. */
export const memberId = (row: {
  tenant_id?: string | null
  user_id?: string | null
  rank?: number
}): string =>
  [row.tenant_id ?? '', row.user_id ?? '', ...((row.rank ?? 1) > 1 ? [String(row.rank)] : [])].join('/')
