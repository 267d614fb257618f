type Member = { tenant_id?: string | null; user_id?: string | null; rank?: number }

/**
 * Members have no separate id. If a person has several rows in a tenant, the rank is appended to every id except the
 * first.
 */
export function formatMemberId({ tenant_id: tenant, user_id: user, rank = 1 }: Member): string {
  const parts = [tenant ?? '', user ?? '', ...(rank > 1 ? [String(rank)] : [])]
  return parts.some((part) => part.includes('/')) ? JSON.stringify(parts) : parts.join('/')
}
