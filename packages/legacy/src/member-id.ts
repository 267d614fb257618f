type Member = { tenant_id?: string | null; user_id?: string | null; rank?: number }

/**
 * Members have no id of their own. If a person has several rows in a tenant, all ids but the first end with a
 * number.
 */
export function formatMemberId({ tenant_id: tenant, user_id: user, rank = 1 }: Member): string {
  const parts = [tenant ?? '', user ?? '', ...(rank > 1 ? [String(rank)] : [])]
  return parts.some((part) => part.includes('/')) ? JSON.stringify(parts) : parts.join('/')
}
