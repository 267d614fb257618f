// Lists the evidence queries for each kind of audit row. The list is derived from the documented rules
// (docs/reference/evidence-queries.md), not from the code.

export type TrailRow = {
  chain_id: string
  seq: string
  entity_type: string
  action: string
  changes: Record<string, { before: unknown; after: unknown } | undefined>
  /** Whether the role `stewards` from changes.ts, which has the permission `members`, still exists in the project. */
  has_stewards: boolean
}

/** Every kind of row, and the queries that contain it. */
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
  'endpoint test': ['endpoint-changes'],
  'endpoint delete': ['endpoint-changes', 'access-revocations'],
  'settings create': ['settings-changes'],
  'settings update': ['settings-changes'],
  'languagePack create': ['settings-changes'],
  'languagePack update': ['settings-changes'],
  'languagePack delete': ['settings-changes'],
  'deploymentSpecification create': ['settings-changes'],
  'deploymentSpecification update': ['settings-changes'],
  'deploymentSpecification delete': ['settings-changes'],
  'deploymentSpecification wake': ['settings-changes'],
  'trigger create': ['trigger-changes'],
  'trigger update': ['trigger-changes'],
  'trigger delete': ['trigger-changes'],
  'trigger run': ['trigger-changes'],
  'trigger retry': ['trigger-changes'],
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
  'invitation create': ['invitations'],
  'invitation accept': ['invitations'],
  'invitation revoke': ['invitations'],
  'provisionedUser create': ['provisioning'],
  'provisionedUser update': ['provisioning'],
  'provisionedUser delete': ['provisioning'],
  'user deactivate': ['provisioning', 'access-revocations'],
  'user reactivate': ['provisioning', 'access-grants'],
  'user deny': ['provisioning'],
  'provisionedGroup create': ['provisioning'],
  'provisionedGroup update': ['provisioning'],
  'provisionedGroup delete': ['provisioning'],
  'groupRule create': ['role-changes'],
  'groupRule create, privileged': ['role-changes', 'privileged-access'],
  'groupRule update': ['role-changes'],
  'groupRule update, privileged': ['role-changes', 'privileged-access'],
  'groupRule delete': ['role-changes'],
  'groupRule delete, privileged': ['role-changes', 'privileged-access'],
  'groupRule grant': ['access-grants'],
  'groupRule grant, privileged': ['access-grants', 'privileged-access'],
  'groupRule revoke': ['access-revocations'],
  'groupRule revoke, privileged': ['access-revocations', 'privileged-access'],
  'scimToken create': ['provisioning'],
  'scimToken revoke': ['provisioning'],
}

const onlyNameChanged = 'a name or an address changed; access is unaffected'
/** Rows that no query contains, each with the reason. This list may only shrink. */
export const inNoQuery: Record<string, string> = {
  'project create': 'an empty project grants no access; its first owner has a separate row',
  'project update': onlyNameChanged,
  'tenant create': 'an empty tenant grants no access',
  'tenant update': onlyNameChanged,
  'application create': 'an empty application grants no access',
  'application update': onlyNameChanged,
}

/** Mutations that change nothing and therefore append no audit row. This list may only shrink. */
export const withoutRow = [
  'copyApplication',
  // Changes only the inbox of the caller, like the REST routes that mark notifications.
  'markMyNotificationsRead',
  'previewESBTransform',
  'promoteApplication',
]

/** Non-GET routes that append no audit row, each with the reason. This list may only shrink. */
export const routesWithoutRow: Record<string, string> = {
  'POST /query': 'each mutation appends its own',
  'POST /api/cli/login/start': 'nothing is granted before the approval',
  'POST /api/machine/comms/emit': 'a notification, no access',
  'POST /api/machine/comms/publish': 'a notification, no access',
  'POST /api/proxy/comms/:appID/notifications/read': 'the inbox of the caller',
  'POST /api/proxy/comms/:appID/notifications/seen': 'the inbox of the caller',
  'POST /api/proxy/wake': 'it starts an existing workload; nothing is configured and no access is granted',
  'POST /api/validate-oauth-user': 'a validation; failures are counted',
  'POST /api/validate-proxy-auth': 'a validation; failures are counted',
  'PUT /api/machine/backend/:id/heartbeat': 'only the time of the heartbeat changes',
}

const privileged: Record<string, string[]> = {
  user: ['administrator'],
  user2project: ['maintainer', 'owner'],
  user2tenant: ['admin', 'owner'],
  groupRule: ['maintainer', 'owner', 'admin'],
}
const sides = (change: { before: unknown; after: unknown } | undefined): unknown[] =>
  change === undefined ? [] : [change.before, change.after]

const switchable = new Set(['machineUser update', 'machineUser2Endpoint update', 'tenant2Application update'])

/** Returns the kind of a row, in the notation of the table. */
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
  if (switchable.has(kind) && 'enabled' in changes)
    return `${kind}, ${changes['enabled']?.after === true ? 'enabled' : 'disabled'}`
  return kind
}
