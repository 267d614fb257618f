// Which queries hold which row of the audit trail, written from the rules for people (docs/reference/evidence-queries.md)
// and not from the code.

export type TrailRow = {
  chain_id: string
  seq: string
  entity_type: string
  action: string
  changes: Record<string, { before: unknown; after: unknown } | undefined>
  /** Whether the role `stewards` of changes.ts, which holds `members`, is still defined in the project. */
  has_stewards: boolean
}

/** Every kind of row, and the queries that hold it. */
export const expectedQueries: Record<string, string[]> = {
  'user2project grant': ['access-grants'],
  'user2project grant, privileged': ['access-grants', 'privileged-access'],
  'user2project update': ['role-changes'],
  'user2project update, privileged': ['role-changes', 'privileged-access'],
  'user2project revoke': ['access-revocations'],
  'user2project revoke, privileged': ['access-revocations', 'privileged-access'],
  'user2tenant grant': ['access-grants'],
  'user2tenant grant, privileged': ['access-grants', 'privileged-access'],
  'user2tenant update, privileged': ['role-changes', 'privileged-access'],
  'user2tenant revoke': ['access-revocations'],
  'user2tenant revoke, privileged': ['access-revocations', 'privileged-access'],
  'user2application grant': ['access-grants'],
  'user2application update': ['role-changes'],
  'user2application revoke': ['access-revocations'],
  'user update, privileged': ['role-changes', 'privileged-access'],
  'tenantRoleDefinition create': ['role-changes'],
  'tenantRoleDefinition create, privileged': ['role-changes', 'privileged-access'],
  'tenantRoleDefinition update': ['role-changes'],
  'tenantRoleDefinition update, privileged': ['role-changes', 'privileged-access'],
  'tenantRoleDefinition delete': ['role-changes'],
  'tenantRoleDefinition delete, privileged': ['role-changes', 'privileged-access'],
  'machineUser2Endpoint create': ['access-grants'],
  'machineUser2Endpoint update, enabled': ['access-grants'],
  'machineUser2Endpoint update, disabled': ['access-revocations'],
  'machineUser2Endpoint delete': ['access-revocations'],
  'tenant2Application create': ['access-grants'],
  'tenant2Application update, enabled': ['access-grants'],
  'tenant2Application update, disabled': ['access-revocations'],
  'tenant2Application delete': ['access-revocations'],
  'project delete': ['access-revocations'],
  'tenant delete': ['access-revocations'],
  'application delete': ['access-revocations'],
  'machineUser create': ['machine-user-lifecycle'],
  'machineUser update': ['machine-user-lifecycle'],
  'machineUser update, enabled': ['machine-user-lifecycle'],
  'machineUser update, disabled': ['machine-user-lifecycle', 'access-revocations'],
  'machineUser rotate': ['machine-user-lifecycle', 'credential-rotations'],
  'machineUser delete': ['machine-user-lifecycle', 'access-revocations'],
  'installation rotate': ['credential-rotations'],
  'piletSigningKey create': ['credential-rotations'],
  'piletSigningKey update': ['credential-rotations'],
  'piletSigningKey delete': ['credential-rotations'],
  'personalAccessToken create': ['pat-lifecycle'],
  'personalAccessToken revoke': ['pat-lifecycle'],
  'personalAccessToken delete': ['pat-lifecycle'],
  'cliLogin approve': ['cli-logins'],
  'cliLogin deny': ['cli-logins'],
  'cliLogin deliver': ['cli-logins'],
  'cliLogin update': ['cli-logins'],
  'endpoint create': ['endpoint-changes'],
  'endpoint update': ['endpoint-changes'],
  'endpoint update, secret': ['endpoint-changes', 'credential-rotations'],
  'endpoint delete': ['endpoint-changes', 'access-revocations'],
  'settings create': ['settings-changes'],
  'settings update': ['settings-changes'],
  'languagePack create': ['settings-changes'],
  'languagePack update': ['settings-changes'],
  'languagePack delete': ['settings-changes'],
  'deploymentSpecification create': ['settings-changes'],
  'deploymentSpecification update': ['settings-changes'],
  'deploymentSpecification delete': ['settings-changes'],
  'trigger create': ['trigger-changes'],
  'trigger update': ['trigger-changes'],
  'trigger delete': ['trigger-changes'],
  'trigger_run update': ['trigger-changes'],
  'backendRegistration create': ['trigger-changes'],
  'backendRegistration update': ['trigger-changes'],
  'backendRegistration delete': ['trigger-changes'],
  'piletPackage create': ['pilet-releases'],
  'piletPackage update': ['pilet-releases'],
  'evidence read': ['audit-access'],
  'auditTrail export': ['audit-access'],
  'accessReview read': ['audit-access'],
  'accessReview attest': ['access-review-attestations'],
}

const aName = 'a name or an address changed; nobody has more or less access by it'
/** Rows that no query holds, and why. May only become fewer. */
export const inNoQuery: Record<string, string> = {
  'project create': 'an empty project gives nobody access; its first owner has a row of their own',
  'project update': aName,
  'tenant create': 'an empty tenant gives nobody access',
  'tenant update': aName,
  'application create': 'an empty application gives nobody access',
  'application update': aName,
}

/** Mutations that change nothing, so the trail has no row of them. May only become fewer. */
export const withoutRow = ['copyApplication', 'previewESBTransform', 'promoteApplication']

/** Requests of other methods than GET that append nothing, and why. May only become fewer. */
export const routesWithoutRow: Record<string, string> = {
  'POST /query': 'each mutation appends its own',
  'POST /api/cli/login/start': 'nothing is granted before somebody decides',
  'POST /api/machine/comms/emit': 'a notification, no access',
  'POST /api/machine/comms/publish': 'a notification, no access',
  'POST /api/proxy/comms/:appID/notifications/read': 'their own inbox',
  'POST /api/proxy/comms/:appID/notifications/seen': 'their own inbox',
  'POST /api/proxy/wake': 'what runs already may run; nothing is configured and nobody gets access',
  'POST /api/validate-oauth-user': 'a question; failures are counted',
  'POST /api/validate-proxy-auth': 'a question; failures are counted',
  'PUT /api/machine/backend/:id/heartbeat': 'a sign of life',
}

const privileged: Record<string, string[]> = {
  user: ['administrator'],
  user2project: ['maintainer', 'owner'],
  user2tenant: ['admin', 'owner'],
}
const sides = (change: { before: unknown; after: unknown } | undefined): unknown[] =>
  change === undefined ? [] : [change.before, change.after]

const isSwitched = new Set(['machineUser update', 'machineUser2Endpoint update', 'tenant2Application update'])

/** What kind of row it is, as the table names it. */
export function kindOf({ entity_type, action, changes, has_stewards }: TrailRow): string {
  const kind = `${entity_type} ${action}`
  const roles = [...sides(changes['role']), ...sides(changes['roleName'])]
  const permissions = sides(changes['permissions']).flat()
  if (roles.some((role) => privileged[entity_type]?.includes(String(role)) === true))
    return `${kind}, privileged`
  if (entity_type === 'user2tenant' && has_stewards && roles.includes('stewards'))
    return `${kind}, privileged`
  if (entity_type === 'tenantRoleDefinition' && permissions.includes('members')) return `${kind}, privileged`
  if (kind === 'endpoint update' && ('authPassword' in changes || 'authToken' in changes))
    return `${kind}, secret`
  if (isSwitched.has(kind) && 'enabled' in changes)
    return `${kind}, ${changes['enabled']?.after === true ? 'enabled' : 'disabled'}`
  return kind
}
