// Operations on effective access.
import { type Operation, type Rest, op } from './operation.ts'
import { everyone, tenantStaff } from './principals.ts'
import { fresh } from './world.ts'

// The user has no role, so only administrators find this user.
const stranger: Rest = { make: fresh.user, alwaysFailsWith: /^user not found$/ }

const createLinkOperation = (field: string): Operation =>
  op(
    `EffectiveAccess.${field}`,
    'system',
    everyone,
    (_, id) => `{ effectiveAccess(user: "${id}") { nodes { ${field} { id } } } }`,
    stranger,
  )

export const accessOperations: Operation[] = [
  op(
    'Query.effectiveAccess',
    'system',
    everyone,
    (_, id) => `{ effectiveAccess(user: "${id}") { nodes { role } } }`,
    stranger,
  ),
  op(
    'Query.whoCanReach',
    'tenantMembers',
    tenantStaff,
    (t) => `{ whoCanReach(tenant: "${t.tenantId}") { nodes { role } } }`,
  ),
  ...['user', 'project', 'tenant', 'application'].map(createLinkOperation),
]
