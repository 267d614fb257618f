// The objects in which group rules give roles, and the limits of the rules of a group.
import { badRequest } from '../../platform/errors.ts'
import { parseUuid } from '../../platform/ids.ts'
import { checkName, checkOneOf } from '../../platform/inputs/inputs.ts'
import { applicationRoles, projectRoles } from '../../policy/roles.ts'
import type { RuleObject } from '../memberships/index.ts'

type ObjectIds = {
  readonly projectId?: string | null
  readonly tenantId?: string | null
  readonly applicationId?: string | null
}

/** Returns the object of a stored rule. */
export function getRuleObject(rule: {
  projectId: string
  tenantId: string | null
  applicationId: string | null
}): RuleObject {
  if (rule.tenantId !== null) return { kind: 'tenant', id: rule.tenantId }
  if (rule.applicationId !== null) return { kind: 'application', id: rule.applicationId }
  return { kind: 'project', id: rule.projectId }
}

/** Reads the one object that the input names. The id is null if it is malformed, which no object has. */
export function readRuleObject(input: ObjectIds): { kind: RuleObject['kind']; id: string | null } {
  const given = [
    { kind: 'project' as const, id: input.projectId },
    { kind: 'tenant' as const, id: input.tenantId },
    { kind: 'application' as const, id: input.applicationId },
  ].filter(({ id }) => id !== null && id !== undefined)
  const [object] = given
  if (object === undefined || given.length > 1)
    throw badRequest('pass exactly one of projectId, tenantId and applicationId', 'input')
  return { kind: object.kind, id: parseUuid(object.id) }
}

/** Checks the form of a role. Whether a tenant defines the role is checked by the database. */
export function checkRuleRole(kind: RuleObject['kind'], role: string): string {
  if (kind === 'project') return checkOneOf(role, 'role', projectRoles)
  return kind === 'application' ? checkOneOf(role, 'role', applicationRoles) : checkName(role, 'role')
}

/** Maximum number of roles that the rules of a group give: members times rules. One transaction changes all of them. */
const maxRolesOfGroup = 100_000
const maxRulesOfGroup = 100

/** Throws if the rules of a group would give too many roles. */
export function assertRolesWithinLimit(memberCount: number, ruleCount: number): void {
  if (ruleCount > maxRulesOfGroup)
    throw badRequest(`a group can have at most ${maxRulesOfGroup} rules; delete one first`)
  if (memberCount * ruleCount > maxRolesOfGroup)
    throw badRequest(
      `the group would give ${memberCount * ruleCount} roles (${memberCount} people in ${ruleCount} rules), at most ${maxRolesOfGroup} are possible; split the group`,
    )
}
