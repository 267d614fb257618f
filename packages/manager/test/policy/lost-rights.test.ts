// Tests rights that are lost during a request. Data that outlives the request, such as a new credential, is
// authorized again in the transaction that writes it.
import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, proxySecret } from '@manager/harness/callers.ts'
import { decide, openTerminal } from '@manager/harness/cli-login.ts'
import { type TestApp, startTestApp } from '../kit/app.ts'
import { postQuery } from '@manager/harness/graphql.ts'
import { waitForLockWait } from '../kit/locks.ts'
import { type SeededProject, seedMember, seedProject, seedUser } from '@manager/harness/seed.ts'

let service: TestApp
let project: SeededProject
beforeAll(async () => {
  service = await startTestApp()
  project = await seedProject(service.sql, 'main')
})
afterAll(() => service.close())

/** Runs a statement in a separate transaction and commits it once the request waits for it. */
async function during<Answer>(text: string, value: string, request: () => Promise<Answer>): Promise<Answer> {
  const client = new Client({ connectionString: service.database.url })
  await client.connect()
  await client.query('begin')
  await client.query(text, [value])
  const answer = request()
  await waitForLockWait(service.sql)
  await client.query('commit')
  await client.end()
  return answer
}

async function tokenOf(person: Person): Promise<{ id: string; token: string }> {
  const { data } = await service.query(
    person,
    'mutation { made: createPersonalAccessToken(name: "mine") { token personalAccessToken { id } } }',
  )
  const { token, personalAccessToken } = data.made as { token: string; personalAccessToken: { id: string } }
  return { id: personalAccessToken.id, token }
}
const withToken = (token: string, text: string, variables?: Record<string, unknown>) =>
  postQuery(service.url, { 'x-proxy-auth': proxySecret, authorization: `Bearer ${token}` }, text, variables)
const countTokens = async (person: Person): Promise<number> => {
  const { rows } = await service.sql.query<{ count: number }>(
    'select count(*)::int as count from personal_access_tokens where user_id = $1',
    [person.id],
  )
  return rows[0]?.count ?? Number.NaN
}

describe('a personal access token that is revoked', () => {
  test('[access-tokens.immediate] while it makes another one, makes none', async () => {
    const person = await seedUser(service.sql, 'owner')
    const { id, token } = await tokenOf(person)
    const answer = await during('update personal_access_tokens set revoked = true where id = $1', id, () =>
      withToken(token, 'mutation { createPersonalAccessToken(name: "heir") { token } }'),
    )
    expect(answer.error).toBe('the personal access token was revoked or has expired; create a new one')
    expect(await countTokens(person)).toBe(1)
  })

  test('[access-tokens.immediate] by the first mutation of a document carries out no further one', async () => {
    const person = await seedUser(service.sql, 'owner')
    const { id, token } = await tokenOf(person)
    const answer = await withToken(
      token,
      'mutation($id: ID!) { a: revokePersonalAccessToken(id: $id) { revoked } b: createPersonalAccessToken(name: "heir") { token } }',
      { id },
    )
    expect(answer.errors.map(({ message }) => message)).toEqual([
      'the personal access token was revoked or has expired; create a new one',
    ])
    expect(await countTokens(person)).toBe(1)
  })
})

describe.each(['deactivated_by_scim_at', 'deactivated_by_administrator_at'])(
  'a person who is deactivated (%s) during a request',
  (column) => {
    const deactivation = `update users set ${column} = now() where id = $1`
    const reason = 'the account of this user is deactivated; ask an administrator'
    const createTokenText = 'mutation { createPersonalAccessToken(name: "heir") { token } }'

    test('[scim.deactivate] [identity.deactivate] creates no token with a session', async () => {
      const person = await seedUser(service.sql, 'leaver')
      const answer = await during(deactivation, person.id, () => service.query(person, createTokenText))
      expect(answer.error).toBe(reason)
      expect(await countTokens(person)).toBe(0)
    })

    test('[scim.deactivate] [identity.deactivate] creates no token with another token', async () => {
      const person = await seedUser(service.sql, 'leaver')
      const { token } = await tokenOf(person)
      const answer = await during(deactivation, person.id, () => withToken(token, createTokenText))
      expect(answer.error).toBe(reason)
      expect(await countTokens(person)).toBe(1)
    })

    test('[scim.deactivate] [identity.deactivate] approves no terminal login', async () => {
      const person = await seedUser(service.sql, 'leaver')
      const { user_code } = await (await openTerminal(service)).login()
      const page = await during(deactivation, person.id, () => decide(service, person, user_code, 'approve'))
      expect(page.status).toBe(401)
      expect(await countTokens(person)).toBe(0)
    })
  },
)

test('a change of the name during a request does not count as a deactivation', async () => {
  const person = await seedUser(service.sql, 'renamed')
  const rename = `update users set external_username = 'another' where id = $1`
  const answer = await during(rename, person.id, () =>
    service.query(person, 'mutation { createPersonalAccessToken(name: "mine") { token } }'),
  )
  expect(answer.error).toBeNull()
  expect(await countTokens(person)).toBe(1)
})

describe('a maintainer who is removed', () => {
  const makeMachine = (person: Person, hashedKey: string) =>
    service.query(
      person,
      `mutation($e: ID!, $k: String!, $u: String!) {
        createMachineUserWithCredentials(environmentId: $e, input: {name: "x", username: $u, hashedKey: $k}) { machineUser { id } }
      }`,
      { e: project.environmentId, k: hashedKey, u: `u-${randomUUID()}` },
    )

  test.each(['a password to hash', '__GENERATE_TOKEN__'])(
    'while a machine user is made with %s gets none',
    async (key) => {
      const person = await seedUser(service.sql, 'maintainer')
      const row = await seedMember(service.sql, person, 'maintainer', { projectId: project.id })
      const answer = await during('delete from user2projects where id = $1', row, () =>
        makeMachine(person, key),
      )
      expect(answer.error).toMatch(/^not permitted/)
      const { rowCount } = await service.sql.query('select from machine_users where project_id = $1', [
        project.id,
      ])
      expect(rowCount).toBe(0)
    },
  )

  test('[machine-users.rotate-role] while a credential is rotated learns no new one', async () => {
    const [admin, person] = [
      await seedUser(service.sql, 'admin', 'administrator'),
      await seedUser(service.sql, 'maintainer'),
    ]
    const made = await makeMachine(admin, 'a password')
    const { id } = made.data.createMachineUserWithCredentials.machineUser as { id: string }
    const row = await seedMember(service.sql, person, 'maintainer', { projectId: project.id })
    const answer = await during('delete from user2projects where id = $1', row, () =>
      service.query(person, 'mutation($id: ID!) { rotateMachineUserToken(id: $id) { generatedToken } }', {
        id,
      }),
    )
    expect(answer.error).toMatch(/^not permitted/)
  })
})

test('a change of a system role and a grant to the same person wait in no circle', async () => {
  const [target, admin] = [randomUUID(), randomUUID()].toSorted().map((id) => ({ id })) as [Person, Person]
  for (const { id } of [target, admin])
    await service.sql.query(
      'insert into users (id, external_username, role) values ($1::uuid, $1::uuid::text, $2)',
      [id, id === admin.id ? 'administrator' : 'user'],
    )
  const both = await Promise.all(
    Array.from({ length: 20 }, (_, i) => [
      service.query(
        admin,
        'mutation($p: ID!, $u: ID!) { addUserToProject(projectID: $p, userID: $u, role: "readonly") { id } }',
        { p: project.id, u: target.id },
      ),
      service.query(
        admin,
        'mutation($u: ID!, $r: String!) { updateUserSystemRole(id: $u, role: $r) { role } }',
        { u: target.id, r: i % 2 === 0 ? 'administrator' : 'user' },
      ),
    ]).flat(),
  )
  expect(both.filter(({ error }) => error?.includes('is not responding') === true)).toEqual([])
})

test('a stranger cannot tell a free project name from a taken one by what it costs', async () => {
  const stranger = await seedUser(service.sql, 'stranger')
  const cost = async (slug: string): Promise<[number, string | null]> => {
    service.statements.length = 0
    const { error } = await service.query(stranger, 'query($s: String!) { project(slug: $s) { id } }', {
      s: slug,
    })
    return [service.statements.length, error]
  }
  const [taken, free] = [await cost('main'), await cost('free')]
  expect(free).toEqual(taken)
})
