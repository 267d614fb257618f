// Creates principals and objects for the matrix: two projects, and one person of each kind in the first project.
import { randomUUID } from 'node:crypto'
import type { Person } from '@manager/harness/callers.ts'
import type { TestApp } from '../kit/app.ts'
import { seedEndpoint, seedEndpointAccess } from '../kit/endpoints.ts'
import { seedPilet } from '../kit/seeded-pilets.ts'
import {
  type SeededProject,
  seedAccessToken,
  seedMachineUser,
  seedMember,
  seedProject,
  seedTenant,
  seedUser,
} from '@manager/harness/seed.ts'
import { seedTrigger } from '../kit/triggers.ts'
import { type Principal, applicationRoles, principals, projectRoles, tenantRoles } from './principals.ts'

export type MatrixWorld = {
  service: TestApp
  people: Record<Principal, Person>
  own: SeededProject
  other: SeededProject
}

export async function createMatrixWorld(service: TestApp): Promise<MatrixWorld> {
  const { sql } = service
  const tag = randomUUID().slice(0, 8)
  const [own, other] = [await seedProject(sql, `own-${tag}`), await seedProject(sql, `other-${tag}`)]
  const people = {} as Record<Principal, Person>
  for (const principal of principals)
    people[principal] = await seedUser(
      sql,
      `${principal.replace(' ', '-')}-${tag}`,
      principal === 'administrator' ? principal : 'user',
    )
  for (const role of projectRoles) await seedMember(sql, people[role], role, { projectId: own.id })
  for (const principal of tenantRoles)
    await seedMember(sql, people[principal], principal.slice(7), {
      projectId: own.id,
      tenantId: own.tenantId,
    })
  for (const principal of applicationRoles)
    await seedMember(sql, people[principal], principal.slice(12), {
      projectId: own.id,
      applicationId: own.applicationId,
    })
  await seedMember(sql, people['other owner'], 'owner', { projectId: other.id })
  return { service, people, own, other }
}

export const newSlug = (): string => `s${randomUUID().slice(0, 8)}`

/** Functions that create an object for a single call, which may consume the object. */
export const fresh = {
  user: async ({ service }: MatrixWorld): Promise<string> => (await seedUser(service.sql, newSlug())).id,
  tenant: async ({ service }: MatrixWorld, target: SeededProject): Promise<string> => {
    const id = randomUUID()
    await seedTenant(service.sql, target.id, id, newSlug())
    return id
  },
  application: async ({ service }: MatrixWorld, target: SeededProject): Promise<string> => {
    const id = randomUUID()
    await service.sql.query(
      "insert into applications (id, project_id, name, slug) values ($1, $2, 'x', $3)",
      [id, target.id, newSlug()],
    )
    return id
  },
  row: async (world: MatrixWorld, target: SeededProject): Promise<string> => {
    const id = randomUUID()
    const applicationId = await fresh.application(world, target)
    await world.service.sql.query(
      'insert into tenant2applications (id, project_id, tenant_id, application_id, enabled) values ($1, $2, $3, $4, true)',
      [id, target.id, target.tenantId, applicationId],
    )
    return id
  },
  member: async (
    world: MatrixWorld,
    target: SeededProject,
    of: 'project' | 'tenant' | 'application',
  ): Promise<string> => {
    const user = await seedUser(world.service.sql, newSlug())
    const { id: projectId, tenantId, applicationId } = target
    if (of === 'tenant') return seedMember(world.service.sql, user, 'member', { projectId, tenantId })
    return seedMember(
      world.service.sql,
      user,
      'readonly',
      of === 'project' ? { projectId } : { projectId, applicationId },
    )
  },
  settings: async (
    world: MatrixWorld,
    target: SeededProject,
    owner: 'project' | 'tenant' | 'application' | 'row',
  ): Promise<string> => {
    const { id, tenantId, applicationId } = target
    const ids = {
      project: [null, null],
      tenant: [tenantId, null],
      application: [null, applicationId],
      row: [tenantId, applicationId],
    }[owner]
    const { rows } = await world.service.sql.query<{ id: string }>(
      `insert into settings (project_id, tenant_id, application_id) values ($1, $2, $3)
       on conflict on constraint settings_layer_key do update set updated_at = now() returning id`,
      [id, ...ids],
    )
    return rows[0]?.id as string
  },
  /** Creates settings with content and returns their id. */
  filledSettings: async (
    world: MatrixWorld,
    target: SeededProject,
    owner: 'project' | 'tenant' | 'row',
  ): Promise<string> => {
    const id = await fresh.settings(world, target, owner)
    await world.service.sql.query(
      `update settings set backend_module_config = jsonb_build_object('EnabledModules', jsonb_build_array($2::text)),
         frontend_module_config = jsonb_build_object('DefaultTheme', $2::text) where id = $1`,
      [id, newSlug()],
    )
    return id
  },
  languagePack: async ({ service }: MatrixWorld, target: SeededProject): Promise<string> => {
    const id = randomUUID()
    await service.sql.query('insert into language_packs (id, project_id, name) values ($1, $2, $3)', [
      id,
      target.id,
      `de-${newSlug().slice(1)}`,
    ])
    return id
  },
  /** Seeds a version of a new pilet and returns its name. */
  pilet: ({ service }: MatrixWorld, target: SeededProject, enabled = true): Promise<string> =>
    seedPilet(service.sql, target, { name: newSlug(), enabled }),
  accessToken: ({ service, people }: MatrixWorld): Promise<string> =>
    seedAccessToken(service.sql, people.administrator),
  machineUser: async ({ service }: MatrixWorld, target: SeededProject): Promise<string> =>
    (await seedMachineUser(service.sql, target)).id,
  endpoint: ({ service }: MatrixWorld, target: SeededProject): Promise<string> =>
    seedEndpoint(service.sql, target),
  endpointAccess: async (
    world: MatrixWorld,
    target: SeededProject,
  ): Promise<{ endpointId: string; id: string }> => {
    const endpointId = await fresh.endpoint(world, target)
    const machineUserId = await fresh.machineUser(world, target)
    const of = { projectId: target.id, endpointId, machineUserId }
    return { endpointId, id: await seedEndpointAccess(world.service.sql, of) }
  },
  trigger: ({ service }: MatrixWorld, target: SeededProject): Promise<string> =>
    seedTrigger(service.sql, target),
  role: async ({ service }: MatrixWorld, target: SeededProject): Promise<string> => {
    const id = randomUUID()
    await service.sql.query(
      "insert into tenant_role_definitions (id, project_id, tenant_id, name, permissions) values ($1, $2, $3, $4, '{}')",
      [id, target.id, target.tenantId, newSlug()],
    )
    return id
  },
}
