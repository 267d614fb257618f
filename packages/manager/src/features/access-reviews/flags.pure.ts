// What the report says of an access, and what it recommends. The flags are facts, found in SQL (population.store.ts); what
// follows from them is here.

/** A closed list, in the order in which entries have them. */
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

const asksForReview: readonly Flag[] = [
  'privileged',
  'disabled',
  'no_expiry',
  'credential_not_rotated',
  'dormant',
  'self_granted',
  'unrecorded_grant',
]

/**
 * What a reviewer should do: revoke what cannot be used any more, or is not used and never was or reaches far; look at what
 * stands out; keep the rest.
 */
export function recommend(of: readonly Flag[]): Recommendation {
  const has = (flag: Flag): boolean => of.includes(flag)
  if (has('expired')) return 'revoke'
  if (has('dormant') && (has('privileged') || has('never_active'))) return 'revoke'
  return asksForReview.some(has) ? 'review' : 'keep'
}

export const principalTypes = ['user', 'machine_user', 'personal_access_token'] as const
export const scopeTypes = ['system', 'project', 'tenant', 'application', 'environment', 'endpoint'] as const
/** Days since the last activity. */
export const activities = ['under_30_days', 'under_90_days', 'under_1_year', 'older', 'never'] as const

/** Entries that are alike in everything that is counted, except their role. */
export type Group = {
  principal_type: (typeof principalTypes)[number]
  scope_type: (typeof scopeTypes)[number]
  activity: (typeof activities)[number]
  flags: Flag[]
  entries: number
}

/** How many entries there are of each kind. */
export function countGroups(groups: readonly Group[]) {
  const counts = {
    by_principal_type: zeros(principalTypes),
    by_scope_type: zeros(scopeTypes),
    by_flag: zeros(flags),
    by_recommendation: zeros(recommendations),
    by_last_activity: zeros(activities),
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

/** Where entries with these flags stand on a page: what should be revoked first, then what has most flags. */
export const rankOf = (of: readonly Flag[]): number =>
  recommendations.indexOf(recommend(of)) * 100 - of.length

export const zeros = <const Name extends string>(names: readonly Name[]): Record<Name, number> =>
  Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>
