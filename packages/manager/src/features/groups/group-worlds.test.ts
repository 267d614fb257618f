// Compares the roles after random changes of groups, rules and direct roles with a model that knows only the documented rules.
import { expect, test } from 'vitest'
import { createRandom, pick } from '../../../test/kit/access-worlds.ts'
import { useGroups } from '../../../test/kit/groups.ts'
import { memberCalls } from '../../../test/kit/members.ts'
import { applicationRoles, projectRoles } from '../../policy/roles.ts'

const { service, admin, project, other, provision, createGroup, patchGroup, send, rules, rolesOf } =
  useGroups()
const calls = {
  project: memberCalls('Project', () => service),
  tenant: memberCalls('Tenant', () => service),
  application: memberCalls('Application', () => service),
}

type Kind = keyof typeof calls
type Target = { kind: Kind; id: string; roles: readonly string[] }
type Rule = { id: string; groupId: string; target: Target; role: string; number: number }
type Direct = { userId: string; target: Target; role: string; id: string }

/** Returns the roles of a person according to the documentation. */
function derive(
  userId: string,
  state: { members: Map<string, Set<string>>; rules: Rule[]; direct: Direct[]; targets: Target[] },
): string[] {
  return state.targets
    .flatMap((target) => {
      const direct = state.direct.find((one) => one.userId === userId && one.target === target)
      if (direct !== undefined) return [`${target.kind} ${target.id} ${direct.role} directly`]
      const applicable = state.rules.filter(
        (rule) => rule.target === target && state.members.get(rule.groupId)?.has(userId) === true,
      )
      const [winner] = applicable.toSorted(
        (a, b) =>
          (target.kind === 'tenant' ? 0 : target.roles.indexOf(b.role) - target.roles.indexOf(a.role)) ||
          a.number - b.number,
      )
      return winner === undefined ? [] : [`${target.kind} ${target.id} ${winner.role} by rule`]
    })
    .toSorted()
}

test('[groups.rule] [groups.highest] [groups.direct-wins] after 300 random changes everybody has the roles of the model', async () => {
  const random = createRandom(20_261)
  const people = await Promise.all([1, 2, 3, 4].map(() => provision()))
  const targets: Target[] = [project, other].flatMap(({ id, tenantId, applicationId }): Target[] => [
    { kind: 'project', id, roles: projectRoles },
    { kind: 'tenant', id: tenantId, roles: ['member', 'admin', 'owner'] },
    { kind: 'application', id: applicationId, roles: applicationRoles },
  ])
  const state = {
    members: new Map<string, Set<string>>(),
    rules: [] as Rule[],
    direct: [] as Direct[],
    targets,
  }
  const addGroup = async (): Promise<void> => {
    const members = people.filter(() => random() < 0.5)
    state.members.set(await createGroup(members), new Set(members.map(({ id }) => id)))
  }
  for (let count = 0; count < 3; count++) await addGroup()
  const pickGroup = (): string => pick(random, [...state.members.keys()])
  let ruleCount = 0

  const changes: (() => Promise<void>)[] = [
    async () => {
      const [groupId, { id }] = [pickGroup(), pick(random, people)]
      await patchGroup(groupId, [{ op: 'add', path: 'members', value: [{ value: id }] }])
      state.members.get(groupId)?.add(id)
    },
    async () => {
      const [groupId, { id }] = [pickGroup(), pick(random, people)]
      await patchGroup(groupId, [{ op: 'remove', path: `members[value eq "${id}"]` }])
      state.members.get(groupId)?.delete(id)
    },
    async () => {
      const [groupId, members] = [pickGroup(), people.filter(() => random() < 0.5)]
      const value = members.map(({ id }) => ({ value: id }))
      await patchGroup(groupId, [{ op: 'replace', path: 'members', value }])
      state.members.set(groupId, new Set(members.map(({ id }) => id)))
    },
    async () => {
      const [groupId, target] = [pickGroup(), pick(random, targets)]
      const role = pick(random, target.roles)
      const { data } = await rules.create(admin, { groupId, role, [`${target.kind}Id`]: target.id })
      // A group has one rule for an object.
      if (data !== null)
        state.rules.push({ id: data.rule.id as string, groupId, target, role, number: ruleCount++ })
    },
    async () => {
      const rule = pick(random, state.rules)
      if (rule === undefined) return
      rule.role = pick(random, rule.target.roles)
      await rules.update(admin, rule.id, rule.role)
    },
    async () => {
      const rule = pick(random, state.rules)
      if (rule === undefined) return
      await rules.remove(admin, rule.id)
      state.rules = state.rules.filter((one) => one !== rule)
    },
    async () => {
      const [target, person] = [pick(random, targets), pick(random, people)]
      const role = pick(random, target.roles)
      const { data } = await calls[target.kind].add(admin, { of: target.id, userID: person.id, role })
      if (data !== null) state.direct.push({ userId: person.id, target, role, id: data.row.id as string })
    },
    async () => {
      const direct = pick(random, state.direct)
      if (direct === undefined) return
      const { error } = await calls[direct.target.kind].remove(admin, { id: direct.id })
      // The last owner of a project stays.
      if (error === null) state.direct = state.direct.filter((one) => one !== direct)
    },
    async () => {
      if (random() > 0.15) return
      const groupId = pickGroup()
      await send('DELETE', `/Groups/${groupId}`)
      state.members.delete(groupId)
      state.rules = state.rules.filter((rule) => rule.groupId !== groupId)
      await addGroup()
    },
  ]
  for (let step = 0; step < 300; step++) {
    await pick(random, changes)()
    for (const person of people)
      expect(await rolesOf(person), `step ${step}`).toEqual(derive(person.id, state))
  }
}, 60_000)
