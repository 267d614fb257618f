// The access review report of the API, and the decisions about its entries.
export const decisions = ['approve', 'modify', 'revoke'] as const
export type Decision = (typeof decisions)[number]

export const principalTypes = ['user', 'machine_user', 'personal_access_token', 'scim_token'] as const
export const scopeTypes = ['system', 'project', 'tenant', 'application', 'environment', 'endpoint'] as const
/** From the most to the least urgent. */
export const recommendations = ['revoke', 'review', 'keep'] as const
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

/** One access right: a role of a person, an environment or endpoint of a machine user, or a token. */
export type Entry = {
  readonly entry_id: string
  readonly principal_type: (typeof principalTypes)[number]
  readonly principal_id: string
  readonly name: string
  /** Empty for machine users. */
  readonly email: string
  readonly scope_type: (typeof scopeTypes)[number]
  readonly scope_id: string | null
  readonly scope_name: string
  readonly project_id: string | null
  readonly role: string
  readonly enabled: boolean
  readonly granted_at: string | null
  /** The id of a person or a machine user, or the name of a command. */
  readonly granted_by: string | null
  readonly last_activity_at: string | null
  readonly expires_at: string | null
  readonly flags: readonly (typeof flags)[number][]
  readonly recommendation: (typeof recommendations)[number]
  readonly last_attestation: EntryAttestation | null
}

type EntryAttestation = {
  readonly attestation_id: string
  readonly attested_at: string
  readonly attested_by: string
  readonly decision: Decision
}

type Chain = {
  readonly status: 'ok' | 'broken' | 'empty'
  readonly entries: number
  readonly reason: string | null
  readonly verified_at: string
}

export type Report = {
  readonly report_id: string
  readonly generated_at: string
  readonly scope:
    { readonly type: 'system' } | { readonly type: 'project'; readonly id: string; readonly name: string }
  readonly population_hash: string
  readonly entries: readonly Entry[]
  readonly chain: Chain
}

/** The address parameter for a review of the whole installation; other reviews have the id of their project. */
export const systemScope = 'system'
