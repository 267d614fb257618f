// Derives recommendations, counts and ranks from flags. SQL determines the flags themselves
// (population.store.ts).

/** All flags, in the order in which an entry lists them. */
export const flags = [
  'privileged',
  'disabled',
  'expired',
  'expires_soon',
  'no_expiry',
  'credential_not_rotated',
  'never_active',
  'dormant',
  'self_granted',
  'unrecorded_grant',
] as const
export type Flag = (typeof flags)[number]

export const recommendations = ['revoke', 'review', 'keep'] as const
export type Recommendation = (typeof recommendations)[number]

const reviewFlags: readonly Flag[] = [
  'privileged',
  'disabled',
  'no_expiry',
  'credential_not_rotated',
  'dormant',
  'self_granted',
  'unrecorded_grant',
]

/**
 * Returns `revoke` for expired access, and for dormant access that is privileged or was never used. Returns `review`
 * for access with any other notable flag, and otherwise `keep`.
 */
export function recommend(entryFlags: readonly Flag[]): Recommendation {
  const hasFlag = (flag: Flag): boolean => entryFlags.includes(flag)
  if (hasFlag('expired')) return 'revoke'
  if (hasFlag('dormant') && (hasFlag('privileged') || hasFlag('never_active'))) return 'revoke'
  return reviewFlags.some(hasFlag) ? 'review' : 'keep'
}

export const principalTypes = ['user', 'machine_user', 'personal_access_token', 'scim_token'] as const
export const scopeTypes = ['system', 'project', 'tenant', 'application', 'environment', 'endpoint'] as const
/** Ranges for the time since the last activity. */
export const activities = ['under_30_days', 'under_90_days', 'under_1_year', 'older', 'never'] as const

/** A group of entries that have the same value in every counted field except the role. */
export type Group = {
  principal_type: (typeof principalTypes)[number]
  scope_type: (typeof scopeTypes)[number]
  activity: (typeof activities)[number]
  flags: Flag[]
  entries: number
}

/** Returns the number of entries for each value of each counted field. */
export function countEntriesByValue(groups: readonly Group[]) {
  const counts = {
    by_principal_type: createZeroCounts(principalTypes),
    by_scope_type: createZeroCounts(scopeTypes),
    by_flag: createZeroCounts(flags),
    by_recommendation: createZeroCounts(recommendations),
    by_last_activity: createZeroCounts(activities),
  }
  for (const group of groups) {
    counts.by_principal_type[group.principal_type] += group.entries
    counts.by_scope_type[group.scope_type] += group.entries
    counts.by_last_activity[group.activity] += group.entries
    counts.by_recommendation[recommend(group.flags)] += group.entries
    for (const flag of group.flags) counts.by_flag[flag] += group.entries
  }
  return counts
}

/**
 * Returns the sort rank of an entry on a page. Entries to revoke come first. Entries with the same recommendation are
 * sorted by their number of flags, highest first.
 */
export const computeRank = (entryFlags: readonly Flag[]): number =>
  recommendations.indexOf(recommend(entryFlags)) * 100 - entryFlags.length

export const createZeroCounts = <const Name extends string>(names: readonly Name[]): Record<Name, number> =>
  Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>
