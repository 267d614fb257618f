// Keeps the memberships that group rules give in agreement with the rules, in the transaction that changes a rule, the
// members of a group, or a role that was given directly.
import type { AuditEvent } from '../../platform/audit/append.ts'
import type { Tx } from '../../platform/postgres/handles.ts'
import { maxListedIds } from '../../platform/audit/entity.ts'
import { conflict } from '../../platform/errors.ts'
import { splitList } from '../../platform/postgres/split-list.ts'
import { findTenantRoleByName } from './authority.store.ts'
import * as store from './group-roles.store.ts'
import { withdrawOfMembers } from './withdrawn-invitations.service.ts'

/** A project, a tenant or an application. */
export type RuleObject = { kind: store.ObjectKind; id: string }
export type GroupRolesService = typeof groupRolesService

// Objects are locked in this order, so that two changes of the same objects cannot deadlock.
const kinds = ['project', 'tenant', 'application'] as const
// Each statement must finish within the statement timeout, whatever the size of the group.
const maxPeoplePerStatement = 2_000

const selectIds = (objects: readonly RuleObject[], kind: store.ObjectKind): string[] => [
  ...new Set(objects.filter((object) => object.kind === kind).map(({ id }) => id)),
]

/** Functions for groups/ and for direct roles. They run in the transaction of the caller. */
export const groupRolesService = {
  /** Locks the members of objects. Afterwards, no concurrent change is missed. */
  lock: async (tx: Tx, objects: readonly RuleObject[]): Promise<void> => {
    for (const kind of kinds) {
      const objectIds = selectIds(objects, kind)
      if (objectIds.length > 0) await store.lockObjects(tx, kind, objectIds)
    }
  },

  /** Whether a tenant defines a role. The definition stays until the transaction ends. */
  hasTenantRole: async (tx: Tx, tenantId: string, role: string): Promise<boolean> =>
    (await findTenantRoleByName(tx, tenantId, role)) !== null,

  /** Returns the role that a person has without a direct role, or null. Call `lock` first. */
  findRole: (tx: Tx, userId: string, { kind, id }: RuleObject): Promise<string | null> =>
    store.findWantedRole(tx, kind, { userId, objectId: id }),

  /**
   * Gives the people the roles of the rules in the objects, and takes roles that no rule gives anymore. Returns the events for
   * the audit trail, and those of invitations that end with a membership. Call `lock` first.
   */
  apply: async (
    tx: Tx,
    userIds: readonly string[],
    objects: readonly RuleObject[],
    excludedRuleIds: readonly string[] = [],
  ): Promise<AuditEvent[]> => {
    const events: AuditEvent[] = []
    for (const kind of kinds) {
      const objectIds = selectIds(objects, kind)
      if (objectIds.length === 0) continue
      for (const part of splitList(userIds, maxPeoplePerStatement)) {
        const changes = await store.applyRules(tx, kind, { userIds: part, objectIds, excludedRuleIds })
        for (const change of changes)
          events.push(...createEvents(change), ...(await withdrawOfMembers(tx, change, change.lostUserIds)))
      }
    }
    return events
  },

  /** Returns the events of a direct role. It can be a new role, or replace a direct role or that of a rule. */
  describe: async <Row extends DirectRole>(
    tx: Tx,
    createEvent: (action: 'grant' | 'update', rows: { before: Row | null; after: Row }) => AuditEvent,
    { before, after }: { before: Row | null; after: Row },
  ): Promise<AuditEvent[]> => {
    if (before === null) return [createEvent('grant', { before, after })]
    if (before.groupRuleId === null) return [createEvent('update', { before, after })]
    const rule = await store.findRule(tx, before.groupRuleId)
    const replaced =
      rule === undefined ? [] : createEvents({ ...rule, action: 'revoke', userIds: [after.userId] })
    return [...replaced, createEvent('grant', { before: null, after })]
  },
}

type DirectRole = { userId: string; groupRuleId: string | null }

/** The conflict error for the removal of a role that a rule gives. */
export const createGroupRoleError = (): Error =>
  conflict(
    'a group of the identity provider gives this role; remove the person from the group, or ask an administrator to change the group rule',
  )

const classes = { groupId: 'public', tenantId: 'public', applicationId: 'public', role: 'public' } as const

/** One event covers many people, because a rule can give roles to thousands of them. */
const createEvents = ({ userIds, ...change }: Omit<store.GroupRoleChange, 'lostUserIds'>): AuditEvent[] =>
  splitList(userIds, maxListedIds).map((part) => createEvent({ ...change, userIds: part }))

function createEvent(change: Omit<store.GroupRoleChange, 'lostUserIds'>): AuditEvent {
  const { ruleId, projectId, groupId, tenantId, applicationId, role, action, userIds } = change
  const people = userIds.length === 1 ? '1 person' : `${userIds.length} people`
  const given = { groupId, tenantId, applicationId, role }
  const [verb, preposition] = action === 'grant' ? ['granted', 'to'] : ['revoked', 'from']
  return {
    projectId,
    entityType: 'groupRule',
    entityId: ruleId,
    action,
    description: `groupRule ${role} of group ${groupId} ${verb} ${preposition} ${people}`,
    classes,
    before: action === 'grant' ? null : given,
    after: action === 'grant' ? given : null,
    metadata: { people: userIds.length, userIds },
  }
}
