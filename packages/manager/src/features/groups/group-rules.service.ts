// Rules that give the members of a group a role. A rule, the roles that it gives, and their audit rows change in one
// transaction. It locks the group first and then the object, so that no concurrent change of either is missed.
import type { Actor } from '../../policy/actor.ts'
import { recheckSystemPermission } from '../../policy/recheck.ts'
import { type RefWithRevision, checkRevision } from '../../policy/revisions.ts'
import type { Audit } from '../../platform/audit/append.ts'
import { createEventBuilder } from '../../platform/audit/entity.ts'
import type { Db, Tx } from '../../platform/postgres/handles.ts'
import { badRequest, orNotFound } from '../../platform/errors.ts'
import { parseUuid } from '../../platform/ids.ts'
import { checkFields, checkInput } from '../../platform/inputs/fields.ts'
import { type ListArgs, readPage } from '../../platform/lists/filters.ts'
import type { MembershipsApi, RuleObject } from '../memberships/index.ts'
import { assertRolesWithinLimit, checkRuleRole, getRuleObject, readRuleObject } from './rule-objects.pure.ts'
import * as groups from './groups.store.ts'
import * as store from './group-rules.store.ts'

export type GroupRulesDeps = { db: Db; audit: Audit; memberships: Pick<MembershipsApi, 'groupRoles'> }
export type GroupRulesService = ReturnType<typeof createGroupRulesService>

export type NewRule = {
  readonly groupId: string
  readonly projectId?: string | null
  readonly tenantId?: string | null
  readonly applicationId?: string | null
  readonly role: string
}

export const groupRuleEvent = createEventBuilder<store.GroupRule>({
  type: 'groupRule',
  classes: {
    id: 'public',
    projectId: 'ignored',
    groupId: 'public',
    tenantId: 'public',
    applicationId: 'public',
    role: 'public',
    creatorId: 'ignored',
    createdAt: 'ignored',
  },
  nameOf: ({ role, groupId }) => `${role} of group ${groupId}`,
  projectOf: ({ projectId }) => projectId,
})

const tables = { project: 'projects', tenant: 'tenants', application: 'applications' } as const

type GroupRoles = GroupRulesDeps['memberships']['groupRoles']

/** Throws unless a tenant role is defined. The other roles are constants. */
async function assertDefined(
  tx: Tx,
  groupRoles: GroupRoles,
  { object, role, path }: { object: RuleObject; role: string; path: string },
): Promise<void> {
  if (object.kind === 'tenant' && !(await groupRoles.hasTenantRole(tx, object.id, role)))
    throw badRequest(`role ${role} is not a role definition of this tenant`, path)
}

/** Returns a function that locks the group of a rule, the object and the rule. */
const createLockRule =
  (groupRoles: GroupRoles) =>
  async (tx: Tx, actor: Actor, { id, expectedRevision }: RefWithRevision) => {
    await recheckSystemPermission(tx, actor, 'GROUP_WRITE')
    const ruleId = orNotFound(parseUuid(id), 'group rule')
    const rule = orNotFound(await store.findRule(tx, ruleId), 'group rule')
    await groups.lockGroup(tx, rule.groupId)
    const object = getRuleObject(rule)
    await groupRoles.lock(tx, [object])
    // The rule is read again under the locks, because a concurrent change may have committed first.
    const before = orNotFound(await store.findRule(tx, ruleId), 'group rule')
    await checkRevision(tx, actor, before, expectedRevision)
    return { before, object }
  }

export function createGroupRulesService({ db, audit, memberships: { groupRoles } }: GroupRulesDeps) {
  const lockRule = createLockRule(groupRoles)
  return {
    list: (args: ListArgs): Promise<store.GroupRule[]> =>
      store.listRules(db.read, readPage(store.groupRuleFields, args)),

    create: (actor: Actor, { role, groupId: givenGroupId, ...ids }: NewRule): Promise<store.GroupRule> => {
      const { kind, id } = readRuleObject(ids)
      const checked = checkInput({ role: () => checkRuleRole(kind, role) })
      return db.transaction(async (tx) => {
        await recheckSystemPermission(tx, actor, 'GROUP_WRITE')
        const groupId = orNotFound(parseUuid(givenGroupId), 'group')
        const { memberCount } = orNotFound(await groups.lockGroup(tx, groupId), 'group')
        const projectId = id === null ? undefined : await store.findProjectOf(tx, tables[kind], id)
        const object = { kind, id: orNotFound(projectId === undefined ? null : id, kind) }
        await groupRoles.lock(tx, [object])
        await assertDefined(tx, groupRoles, { object, role: checked.role, path: 'input.role' })
        const rules = await store.listRulesOfGroups(tx, [groupId])
        assertRolesWithinLimit(memberCount, rules.length + 1)
        const after = await store.insertRule(tx, {
          projectId: projectId as string,
          groupId,
          tenantId: kind === 'tenant' ? object.id : null,
          applicationId: kind === 'application' ? object.id : null,
          role: checked.role,
          creatorId: actor.user.id,
        })
        const roleEvents = await groupRoles.apply(tx, await groups.listMemberIds(tx, groupId), [object])
        await audit.append(tx, actor, groupRuleEvent('create', { before: null, after }), ...roleEvents)
        return after
      })
    },

    updateRole: (actor: Actor, ref: RefWithRevision, role: string): Promise<store.GroupRule> =>
      db.transaction(async (tx) => {
        const { before, object } = await lockRule(tx, actor, ref)
        const checked = checkFields({ role: () => checkRuleRole(object.kind, role) })
        if (checked.role === before.role) return before
        await assertDefined(tx, groupRoles, { object, role: checked.role, path: 'role' })
        const after = await store.updateRule(tx, before.id, checked.role)
        const roleEvents = await groupRoles.apply(tx, await groups.listMemberIds(tx, before.groupId), [
          object,
        ])
        await audit.append(tx, actor, groupRuleEvent('update', { before, after }), ...roleEvents)
        return after
      }),

    delete: (actor: Actor, ref: RefWithRevision): Promise<true> =>
      db.transaction(async (tx) => {
        const { before, object } = await lockRule(tx, actor, ref)
        const userIds = await groups.listMemberIds(tx, before.groupId)
        const roleEvents = await groupRoles.apply(tx, userIds, [object], [before.id])
        await store.deleteRule(tx, before.id)
        await audit.append(tx, actor, ...roleEvents, groupRuleEvent('delete', { before, after: null }))
        return true as const
      }),
  }
}
