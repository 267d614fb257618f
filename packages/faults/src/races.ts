// Concurrent calls that compete for the same object, spread over all replicas, and their outcomes.
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { createSecrets, createEncryptionRing, getTokenLocation } from '@manager/manager/sealing'
import { type Person, headersOf, masterKey } from '@manager/harness/callers.ts'
import { callbackUrl, register } from '@manager/harness/backends.ts'
import { bearer } from '@manager/harness/credentials.ts'
import { postQuery } from '@manager/harness/graphql.ts'
import { piletPath, uploadPilet } from '@manager/harness/pilets.ts'
import { type SeededProject, seedMachineUser } from '@manager/harness/seed.ts'
import type { Replica } from './replicas.ts'

export type RaceWorld = { sql: Pool; replicas: readonly Replica[]; admin: Person; project: SeededProject }
/**
 * `won` contains the hashes of the accepted uploads, `stored` the hashes in the database, and `served` the
 * hashes of the bytes that each replica serves.
 */
export type UploadRace = { statuses: number[]; won: string[]; stored: string[]; served: string[] }
/** `stored` contains the tokens of the stored rows. */
export type RegisterRace = { statuses: number[]; ids: string[]; tokens: string[]; stored: string[] }
/**
 * `steps` contains the audited token prefixes before and after each rotation. `works` is the number of
 * replicas that accept each token.
 */
export type RotateRace = {
  tokens: string[]
  failed: string[]
  steps: { before: string; after: string }[]
  works: number[]
  replicas: number
}

/** Starts `count` concurrent calls, spread over the replicas. */
const callConcurrently = <T>(
  { replicas }: RaceWorld,
  count: number,
  act: (service: { url: string }, index: number) => Promise<T>,
): Promise<T[]> =>
  Promise.all(
    Array.from({ length: count }, (_, index) => act(replicas[index % replicas.length] as Replica, index)),
  )

const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** Uploads the same version several times concurrently, each time with different bytes. */
export async function raceUploads(world: RaceWorld, count: number): Promise<UploadRace> {
  const { sql, replicas, admin, project } = world
  const pilet = { projectId: project.id, name: `race-${randomUUID()}`, version: '1.0.0' }
  const answers = await callConcurrently(world, count, async (service) => {
    const bytes = randomBytes(20_000)
    return {
      status: (await uploadPilet(service, admin, { ...pilet, bytes })).status,
      hash: sha256Of(bytes),
    }
  })
  const { rows } = await sql.query<{ hash: string }>('select hash from pilet_packages where name = $1', [
    pilet.name,
  ])
  const served: string[] = []
  for (const { url } of replicas) {
    const response = await fetch(url + piletPath(pilet), { headers: headersOf(admin) })
    served.push(sha256Of(new Uint8Array(await response.arrayBuffer())))
  }
  return {
    statuses: answers.map(({ status }) => status),
    won: answers.filter(({ status }) => status < 300).map(({ hash }) => hash),
    stored: rows.map(({ hash }) => hash),
    served,
  }
}

/** Sends `count` concurrent registrations of the same backend. */
export async function raceRegistrations(world: RaceWorld, count: number): Promise<RegisterRace> {
  const { sql, project } = world
  const machine = await seedMachineUser(sql, project)
  const body = { application_id: project.applicationId, callback_url: callbackUrl }
  const answers = await callConcurrently(world, count, (service) => register(service, machine.token, body))
  const { rows } = await sql.query<{ id: string; callback_token: Buffer }>(
    'select id, callback_token from backend_registrations where machine_user_id = $1',
    [machine.id],
  )
  const secrets = createSecrets(createEncryptionRing(Buffer.from(masterKey, 'base64'), new Map()))
  return {
    statuses: answers.map(({ status }) => status),
    ids: answers.map((answer) => String(answer.body.registered_id)),
    tokens: answers.map((answer) => String(answer.body.token)),
    stored: rows.map(({ id, callback_token }) => secrets.open(callback_token, getTokenLocation(id))),
  }
}

const isAccepted = async ({ url }: Replica, token: string): Promise<boolean> => {
  const response = await fetch(`${url}/api/machine/check`, { headers: bearer(token) })
  return (await response.text()).includes('"authenticated":true')
}

/** Sends `count` concurrent token rotations for the same machine user. */
export async function raceRotations(world: RaceWorld, count: number): Promise<RotateRace> {
  const { sql, replicas, admin, project } = world
  const { id, token: first } = await seedMachineUser(sql, project)
  const text = 'mutation($id: ID!) { made: rotateMachineUserToken(id: $id) { generatedToken } }'
  const answers = await callConcurrently(world, count, ({ url }) =>
    postQuery(url, headersOf(admin), text, { id }),
  )
  const failed = answers.flatMap(({ error }) => (error === null ? [] : [error]))
  const tokens = [
    first,
    ...answers.filter(({ error }) => error === null).map(({ data }) => String(data.made.generatedToken)),
  ]
  const { rows } = await sql.query<{ changes: { tokenPrefix: { before: string; after: string } } }>(
    "select changes from audit_logs where entity_id = $1 and action = 'rotate' order by seq",
    [id],
  )
  const works: number[] = []
  for (const token of tokens) {
    const seen = await Promise.all(replicas.map((replica) => isAccepted(replica, token)))
    works.push(seen.filter(Boolean).length)
  }
  const steps = rows.map(({ changes }) => changes.tokenPrefix)
  return { tokens, failed, steps, works, replicas: replicas.length }
}
