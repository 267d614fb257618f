type Member = { tenant_id?: string | null; user_id?: string | null; rank?: number }

/** Members have no id. If a person has several rows in a tenant, the id of the second one ends with a number. */
export function memberId({ tenant_id: tenant, user_id: user, rank = 1 }: Member): string {
  const parts = [tenant ?? '', user ?? '', ...(rank > 1 ? [String(rank)] : [])]
  return parts.some((part) => part.includes('/')) ? JSON.stringify(parts) : parts.join('/')
}
