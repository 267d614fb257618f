// Tests role escalation in projects: the exhaustive table of grants, and races between a grant and a demotion.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { type TestApp, startTestApp } from '../kit/app.ts'
import { waitForLockWait } from '../kit/locks.ts'
import { type SeededProject, seedMember, seedProject, seedUser } from '@manager/harness/seed.ts'

const roles = ['readonly', 'tester', 'developer', 'maintainer', 'owner'] as const
type Role = (typeof roles)[number]
const rank = (role: string | null): number => (role === null ? -1 : roles.indexOf(role as Role))

let service: TestApp
let project: SeededProject
beforeAll(async () => {
  service = await startTestApp({ env: { SVC_DATABASE_POOL_SIZE: '10' } })
  project = await seedProject(service.sql, 'escalation')
  // Add a second owner, so that the last-owner rule does not affect the table.
  await seedMember(service.sql, await seedUser(service.sql, 'spare'), 'owner', { projectId: project.id })
})
afterAll(() => service.close())

const roleOf = async (person: Person): Promise<string | null> => {
  const { rows } = await service.sql.query<{ role: string }>(
    'select role from user2projects where project_id = $1 and user_id = $2',
    [project.id, person.id],
  )
  return rows[0]?.role ?? null
}
const add = (caller: Person, target: Person, role: string) =>
  service.query(
    caller,
    'mutation($p: ID!, $u: ID!, $r: String!) { addUserToProject(projectID: $p, userID: $u, role: $r) { id } }',
    { p: project.id, u: target.id, r: role },
  )
const update = (caller: Person, id: string, role: string) =>
  service.query(caller, 'mutation($i: ID!, $r: String!) { updateUserProjectRole(id: $i, role: $r) { id } }', {
    i: id,
    r: role,
  })
const remove = (caller: Person, id: string) =>
  service.query(caller, 'mutation($i: ID!) { removeUserFromProject(id: $i) }', { i: id })

/**
 * Returns whether a change is allowed. Maintainers and owners may grant roles up to their own to people whose
 * roles are not higher than their own.
 */
const mayChange = (caller: string | null, present: string | null, granted: string | null): boolean =>
  caller === 'administrator' ||
  (rank(caller) >= rank('maintainer') && rank(granted) <= rank(caller) && rank(present) <= rank(caller))

describe('role escalation', () => {
  test('[memberships.grant-not-above-own] [memberships.target-not-above-own] every caller x target x new role', async () => {
    let [cases, escalations] = [0, 0]
    const wrong: string[] = []
    for (const callerRole of [null, ...roles, 'administrator'])
      for (const present of [null, ...roles])
        for (const granted of [null, ...roles]) {
          if (present === null && granted === null) continue
          const caller = await seedUser(
            service.sql,
            'caller',
            callerRole === 'administrator' ? 'administrator' : 'user',
          )
          const target = await seedUser(service.sql, 'target')
          if (callerRole !== null && callerRole !== 'administrator')
            await seedMember(service.sql, caller, callerRole, { projectId: project.id })
          const row =
            present === null ? '' : await seedMember(service.sql, target, present, { projectId: project.id })
          const answer =
            present === null
              ? await add(caller, target, granted as string)
              : granted === null
                ? await remove(caller, row)
                : await update(caller, row, granted)
          const after = await roleOf(target)
          const may = mayChange(callerRole, present, granted)
          cases++
          if (after !== (may ? granted : present) || (answer.error === null) !== may)
            wrong.push(`${callerRole} ${present} -> ${granted}: ${after} ${answer.error}`)
          if (callerRole !== 'administrator' && after !== present && rank(after) > rank(callerRole))
            escalations++
        }
    process.stdout.write(`escalation cases=${cases} escalations=${escalations}\n`)
    expect(wrong).toEqual([])
    expect([cases, escalations]).toEqual([7 * 35, 0])
  }, 120_000)

  test('[memberships.no-self-raise] a member may lower themselves but never raise themselves', async () => {
    for (const own of roles)
      for (const wanted of roles) {
        const person = await seedUser(service.sql, 'self')
        const row = await seedMember(service.sql, person, own, { projectId: project.id })
        const answer = await update(person, row, wanted)
        const may = rank(own) >= rank('maintainer') && rank(wanted) <= rank(own)
        expect([own, wanted, answer.error === null, await roleOf(person)]).toEqual([
          own,
          wanted,
          may,
          may ? wanted : own,
        ])
      }
  })

  test('[memberships.last-owner] two owners who remove each other at once leave one', async () => {
    for (let round = 0; round < 20; round++) {
      const lone = await seedProject(service.sql, `pair-${round}`)
      const people = [await seedUser(service.sql, 'a'), await seedUser(service.sql, 'b')] as const
      const rows = [
        await seedMember(service.sql, people[0], 'owner', { projectId: lone.id }),
        await seedMember(service.sql, people[1], 'owner', { projectId: lone.id }),
      ] as const
      await Promise.all([remove(people[0], rows[1]), update(people[1], rows[0], 'readonly')])
      const { rowCount } = await service.sql.query(
        "select 1 from user2projects where project_id = $1 and role = 'owner'",
        [lone.id],
      )
      expect(rowCount).toBe(1)
    }
  })

  test('[memberships.checked-in-transaction] a grant that races the demotion of its granter never comes after it', async () => {
    let [escalations, granted] = [0, 0]
    const owner = await seedUser(service.sql, 'demoter')
    await seedMember(service.sql, owner, 'owner', { projectId: project.id })
    for (let round = 0; round < 100; round++) {
      const granter = await seedUser(service.sql, 'granter')
      const row = await seedMember(service.sql, granter, 'maintainer', { projectId: project.id })
      const target = await seedUser(service.sql, 'target')
      // The order of the two requests alternates; the database decides which one wins.
      const calls = [() => update(owner, row, 'readonly'), () => add(granter, target, 'maintainer')]
      const [first, second] = round % 2 === 0 ? calls : calls.toReversed()
      await Promise.all([first?.(), second?.()])
      const { rows } = await service.sql.query<{ entity_id: string; seq: string }>(
        `select entity_id, seq from audit_logs where chain_id = $1 and (entity_id = $2 or (changes -> 'userId' ->> 'after') = $3) order by seq`,
        [project.id, row, target.id],
      )
      const demotedAt = Number(rows.find((entry) => entry.entity_id === row)?.seq)
      const grantedAt = rows.find((entry) => entry.entity_id !== row)?.seq
      expect(demotedAt).toBeGreaterThan(0)
      if (grantedAt !== undefined) granted++
      if (grantedAt !== undefined && Number(grantedAt) > demotedAt) escalations++
    }
    process.stdout.write(`demote-while-granting rounds=100 granted=${granted} escalations=${escalations}\n`)
    expect(escalations).toBe(0)
    // Both orders must occur; otherwise, there was no race.
    expect(granted).toBeGreaterThan(0)
    expect(granted).toBeLessThan(100)
  })

  test('[memberships.checked-in-transaction] a grant waits for a demotion under way and then fails', async () => {
    const falling = await seedUser(service.sql, 'falling', 'administrator')
    const target = await seedUser(service.sql, 'target')
    const demotion = await service.sql.connect()
    await demotion.query('begin')
    await demotion.query("update users set role = 'user' where id = $1", [falling.id])
    // The demotion is not committed yet, so the first policy check still sees an administrator.
    const grant = add(falling, target, 'owner')
    await waitForLockWait(service.sql)
    await demotion.query('commit')
    demotion.release()
    expect((await grant).error).toMatch(/^not permitted/)
    expect(await roleOf(target)).toBeNull()
  })
})
