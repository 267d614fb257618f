// Data for the mixed load: an installation that is created through the API, and projects with backends for
// trigger runs. The installation has credentials to invalidate, tenants to rename and users to notify.
import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { type Installation, type Partner, ask, createInstallation, startPartner } from '../installation.ts'
import { createMachineToken, seedUser } from '@manager/harness/seed.ts'
import type { Base } from '../base.ts'
import { type CommsWorld, createCommsWorld } from '../comms-world.ts'
import { type Sink, startSink } from '../sink.ts'
import { type World, createWorld } from '../world.ts'

/** A credential. `kind` determines how it is invalidated. */
export type Credential = { id: string; kind: 'personal' | 'machine'; authorization: string }
export type MixedWorld = {
  site: Installation
  partner: Partner
  /** Users who create and rename tenants. There are several, because the requests of one user are serialized. */
  admins: string[]
  /** Credentials in the order of their invalidation. */
  credentials: Credential[]
  /** Tenants that are renamed repeatedly. */
  registers: string[]
  comms: CommsWorld
  triggers: World
  sink: Sink
}

const personalTokens = 6
const machineTokens = 120
const registers = 8
const backends = 16
const people = 12
const admins = 16

export async function createMixedWorld({
  cluster,
  folder,
  replicas,
  registerPart,
}: Base): Promise<MixedWorld> {
  const { sql } = cluster
  const url = replicas[0]?.url ?? ''
  const partner = registerPart(await startPartner())
  const admin = await seedUser(sql, 'admin', 'administrator')
  const site = await createInstallation(url, partner, admin.id)
  const sink = registerPart(await startSink(folder, backends))
  const triggers = await createWorld(sql, sink, () => replicas)
  registerPart({ end: () => Promise.resolve(triggers.stopHeartbeats()) })
  return {
    site,
    partner,
    admins: await createAdmins(sql),
    credentials: await createCredentials(sql, url, site),
    registers: await createRegisters(sql, site),
    comms: await createCommsWorld(sql, { applications: 2, users: people }),
    triggers,
    sink,
  }
}

async function createAdmins(sql: Pool): Promise<string[]> {
  const seeded = Array.from({ length: admins }, (_, index) =>
    seedUser(sql, `admin ${index}`, 'administrator'),
  )
  return (await Promise.all(seeded)).map(({ id }) => id)
}

async function createRegisters(sql: Pool, { projectId }: Installation): Promise<string[]> {
  const ids = Array.from({ length: registers }, () => randomUUID())
  await sql.query(
    `insert into tenants (id, project_id, name, slug)
     select id, $1, 'v0', 'register-' || position from unnest($2::uuid[]) with ordinality as wanted (id, position)`,
    [projectId, ids],
  )
  return ids
}

/**
 * Creates personal tokens through the API and machine tokens with SQL, and interleaves them in the order of their
 * invalidation.
 */
async function createCredentials(
  sql: Pool,
  url: string,
  { adminId, projectId }: Installation,
): Promise<Credential[]> {
  const personal: Credential[] = []
  // The tokens are created one at a time, because only a few threads hash new tokens.
  for (let index = 0; index < personalTokens; index++) {
    const query = `mutation { made: createPersonalAccessToken(name: "load ${index}") { token personalAccessToken { id } } }`
    const { made } = await ask<{ made: { token: string; personalAccessToken: { id: string } } }>(
      url,
      adminId,
      query,
    )
    personal.push({
      id: made.personalAccessToken.id,
      kind: 'personal',
      authorization: `Bearer ${made.token}`,
    })
  }
  const machines = Array.from({ length: machineTokens }, () => ({
    id: randomUUID(),
    ...createMachineToken(),
  }))
  await sql.query(
    `insert into machine_users (id, project_id, environment_id, name, username, enabled, token_prefix, token_hash)
     select id, $1, (select id from environments where project_id = $1 order by sort_order limit 1), 'load ' || position,
       'Bearer:' || prefix, true, prefix, hash
     from unnest($2::uuid[], $3::text[], $4::bytea[]) with ordinality as wanted (id, prefix, hash, position)`,
    [
      projectId,
      machines.map(({ id }) => id),
      machines.map(({ tokenPrefix }) => tokenPrefix),
      machines.map(({ tokenHash }) => tokenHash),
    ],
  )
  const step = Math.floor(machineTokens / personalTokens)
  return machines.flatMap(({ id, token }, index): Credential[] => [
    { id, kind: 'machine', authorization: `Bearer ${token}` },
    ...(index % step === 0 ? personal.slice(index / step, index / step + 1) : []),
  ])
}
