// Tests that a person who leaves loses all access with the answer to the identity provider. Three processes are in use while
// the first one receives the change. No request that starts after its answer may be accepted.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { seedMember } from '@manager/harness/seed.ts'
import { type TestDatabase, createScratchDatabase } from './kit/databases.ts'
import {
  type Leaver,
  type LeaverWorld,
  type Outcome,
  type Use,
  computeClosingMs,
  findAcceptedAfter,
  findRejectedBefore,
  findRejectedKinds,
  findUnused,
  findUsesAfter,
  formatOutcome,
  provisionLeaver,
  startLeaverWorld,
  useWhileLeaving,
} from './kit/leavers.ts'
import { membersOf, newGroup, patchSchema } from './kit/scim.ts'

const minUses = 10_000
const maxClosingMs = 2_000

describe('the check itself', () => {
  const rejected: Use = { kind: 'pat', url: 'a', startedAt: 11, answeredAt: 12, verdict: 'rejected' }
  const accepted: Use = { ...rejected, verdict: 'accepted' }

  test('finds one accepted request among many rejected ones', () => {
    const uses = [...Array.from({ length: minUses }, () => rejected), accepted]
    expect(findAcceptedAfter(uses, 10)).toEqual([accepted])
  })

  test('ignores requests that started before the answer, and does not count errors as rejections', () => {
    const uses: Use[] = [
      { ...accepted, startedAt: 10 },
      { ...rejected, verdict: 'failed' },
    ]
    expect(findAcceptedAfter(uses, 10)).toEqual([])
    expect(findUsesAfter(uses, 10)).toEqual([])
  })

  test('finds a request that was rejected too early, and a kind of request that was not sent', () => {
    const early: Use = { ...rejected, startedAt: 1, answeredAt: 2 }
    expect(findRejectedBefore([early, rejected, accepted], 9)).toEqual([early])
    const outcome = { uses: [{ ...early, verdict: 'accepted' }, rejected] as Use[], sockets: [] }
    const unused = findUnused({ urls: ['a', 'b'] }, { ...outcome, requestedAt: 9, answeredAt: 10 })
    expect(unused).toContain('pat at b')
    expect(unused).toContain('session at a')
    expect(unused).not.toContain('pat at a')
  })
})

describe('a person who leaves', { timeout: 180_000 }, () => {
  let database: TestDatabase
  let world: LeaverWorld
  beforeAll(async () => {
    database = await createScratchDatabase()
    world = await startLeaverWorld(database.url)
  })
  afterAll(async () => {
    await world.stop()
    await database.drop()
  })

  /** Expects that the leaver is rejected from the answer on, and that the colleague is not. */
  const expectLeft = async (outcome: Outcome, colleague: Leaver): Promise<void> => {
    const { uses, requestedAt, answeredAt, sockets } = outcome
    expect(findAcceptedAfter(uses, answeredAt).slice(0, 5)).toEqual([])
    expect(findUsesAfter(uses, answeredAt).length).toBeGreaterThanOrEqual(minUses)
    expect(findRejectedBefore(uses, requestedAt).slice(0, 5)).toEqual([])
    expect(findUnused(world, outcome)).toEqual([])
    // With an answer that comes too early, the check finds requests that were accepted.
    expect(findAcceptedAfter(uses, requestedAt - 500).length).toBeGreaterThan(0)
    expect(sockets.map(({ code }) => code)).toEqual(world.urls.map(() => 4500))
    expect(computeClosingMs(outcome)).toBeLessThan(maxClosingMs)
    expect(await findRejectedKinds(world, colleague)).toEqual([])
    expect(colleague.sockets.map(({ client }) => client.readyState)).toEqual(world.urls.map(() => 1))
    for (const { client } of colleague.sockets) client.close()
  }

  test('[scim.deactivate] [scim.sockets] after a deactivation, no process accepts a request, and the sockets close within 2 s', async () => {
    const addMember = (person: Person) =>
      seedMember(world.sql, person, 'member', {
        projectId: world.project.id,
        tenantId: world.project.tenantId,
      })
    const leaver = await provisionLeaver(world, addMember)
    const colleague = await provisionLeaver(world, addMember)
    expect(await findRejectedKinds(world, leaver)).toEqual([])
    const leave = async (): Promise<void> => {
      const { status } = await world.scim.patch(leaver.id, [{ op: 'replace', path: 'active', value: false }])
      expect(status).toBe(200)
    }
    const outcome = await useWhileLeaving(world, leaver, { leave, minUses })
    process.stdout.write(formatOutcome('leavers', outcome))
    await expectLeft(outcome, colleague)
  })

  test('[groups.removal-immediate] after the removal from the group that gave the only role, no process accepts a request, and the sockets close within 2 s', async () => {
    const { body: group, status } = await world.scim.send('POST', '/Groups', { body: newGroup() })
    expect(status).toBe(201)
    const { error } = await world.service.query(
      world.admin,
      'mutation($input: CreateGroupRuleInput!) { createGroupRule(input: $input) { id } }',
      { input: { groupId: group.id, tenantId: world.project.tenantId, role: 'member' } },
    )
    expect(error).toBeNull()
    const patchMembers = async (operation: object): Promise<void> => {
      const answer = await world.scim.send('PATCH', `/Groups/${group.id}`, {
        body: { schemas: [patchSchema], Operations: [operation] },
      })
      expect(answer.status).toBeLessThan(300)
    }
    const addMember = ({ id }: Person): Promise<void> =>
      patchMembers({ op: 'add', path: 'members', value: membersOf(id) })
    const leaver = await provisionLeaver(world, addMember)
    const colleague = await provisionLeaver(world, addMember)
    expect(await findRejectedKinds(world, leaver)).toEqual([])
    const leave = () => patchMembers({ op: 'remove', path: `members[value eq "${leaver.id}"]` })
    const outcome = await useWhileLeaving(world, leaver, { leave, minUses })
    process.stdout.write(formatOutcome('leavers of a group', outcome))
    await expectLeft(outcome, colleague)
  })
})
