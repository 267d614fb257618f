// Operations on the tokens of identity providers, and on who is active. Only administrators may use them.
import { randomBytes, randomUUID } from 'node:crypto'
import { seedUser } from '@manager/harness/seed.ts'
import { type Operation, op } from './operation.ts'
import { fresh, newSlug, type MatrixWorld } from './world.ts'

async function makeToken({ service, people }: MatrixWorld): Promise<string> {
  const id = randomUUID()
  await service.sql.query(
    `insert into scim_tokens (id, name, token_prefix, token_hash, creator_id, expires_at)
     values ($1, 'x', 'scim_12345678', $2, $3, now() + interval '1 day')`,
    [id, randomBytes(32), people.administrator.id],
  )
  return id
}

async function makeDeactivatedUser({ service }: MatrixWorld): Promise<string> {
  const { id } = await seedUser(service.sql, newSlug())
  await service.sql.query('update users set deactivated_by_administrator_at = now() where id = $1', [id])
  return id
}

export const scimOperations: Operation[] = [
  op('Query.scimTokens', 'system', [], () => '{ scimTokens { id } }', { make: makeToken }),
  op('ScimToken.creator', 'system', [], () => '{ scimTokens { creator { id } } }', { make: makeToken }),
  op('Mutation.createScimToken', 'system', [], () => 'mutation { createScimToken(name: "x") { token } }'),
  op(
    'Mutation.revokeScimToken',
    'system',
    [],
    (_, id) => `mutation { revokeScimToken(id: "${id}") { id } }`,
    { make: makeToken },
  ),
  op('Mutation.deactivateUser', 'system', [], (_, id) => `mutation { deactivateUser(id: "${id}") { id } }`, {
    make: fresh.user,
  }),
  op('Mutation.reactivateUser', 'system', [], (_, id) => `mutation { reactivateUser(id: "${id}") { id } }`, {
    make: makeDeactivatedUser,
  }),
]
