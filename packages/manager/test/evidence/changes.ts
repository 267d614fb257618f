// Makes every change that the service supports through its public API: the mutations of the policy matrix,
// variants with different values, and REST changes. Audit rows of commands and background jobs are appended
// directly.
import { randomUUID } from 'node:crypto'
import { type AuditAction, createAudit, createSystemActor } from '../../src/platform/audit/append.ts'
import type { TestApp } from '../kit/app.ts'
import { headersOf } from '@manager/harness/callers.ts'
import { register, unregister } from '@manager/harness/backends.ts'
import { decide, openTerminal } from '@manager/harness/cli-login.ts'
import { runEvidence } from '../kit/evidence.ts'
import { piletPath, uploadPilet } from '@manager/harness/pilets.ts'
import { seedMachineUser } from '@manager/harness/seed.ts'
import { op } from '../policy/operation.ts'
import { operations } from '../policy/operations.ts'
import { type MatrixWorld, createMatrixWorld, fresh, newSlug } from '../policy/world.ts'
import { changeOverScim } from './scim-changes.ts'

export type Change = { name: string; run: (world: MatrixWorld) => Promise<void>; consumes?: true }

/** Every operation in the policy matrix that changes something. */
const ofMatrix = operations.filter(({ name }) => name.startsWith('Mutation.'))

const mutation = (text: string): string => `mutation { ${text} }`
const member = (of: 'project' | 'tenant') => (world: MatrixWorld, target: MatrixWorld['own']) =>
  fresh.member(world, target, of)
/** The same operations with different values, which match other evidence queries. */
const variants = [
  op(
    'Mutation.addUserToProject',
    'system',
    [],
    (t, id) => mutation(`addUserToProject(projectID: "${t.id}", userID: "${id}", role: "owner") { id }`),
    { make: fresh.user },
  ),
  op(
    'Mutation.updateUserProjectRole',
    'system',
    [],
    (_, id) => mutation(`updateUserProjectRole(id: "${id}", role: "maintainer") { id }`),
    { make: member('project') },
  ),
  op(
    'Mutation.addUserToTenant',
    'system',
    [],
    (t, id) =>
      mutation(`addUserToTenant(tenantID: "${t.tenantId}", userID: "${id}", roleName: "admin") { id }`),
    { make: fresh.user },
  ),
  op(
    'Mutation.addUserToTenant',
    'system',
    [],
    (t, id) =>
      mutation(`addUserToTenant(tenantID: "${t.tenantId}", userID: "${id}", roleName: "stewards") { id }`),
    {
      make: async (world, target) => {
        await world.service.sql.query(
          `insert into tenant_role_definitions (id, project_id, tenant_id, name, permissions)
           values (gen_random_uuid(), $1, $2, 'stewards', '{members}') on conflict do nothing`,
          [target.id, target.tenantId],
        )
        return fresh.user(world)
      },
    },
  ),
  op('Mutation.createTenantRoleDefinition', 'system', [], (t, id) =>
    mutation(
      `createTenantRoleDefinition(tenantId: "${t.tenantId}", input: {name: "${id}", permissions: ["members"]}) { id }`,
    ),
  ),
  op(
    'Mutation.updateTenantRoleDefinition',
    'system',
    [],
    (_, id) => mutation(`updateTenantRoleDefinition(id: "${id}", input: {permissions: ["members"]}) { id }`),
    { make: fresh.role },
  ),
  op(
    'Mutation.deleteTenantRoleDefinition',
    'system',
    [],
    (_, id) => mutation(`deleteTenantRoleDefinition(id: "${id}")`),
    {
      make: async (world, target) =>
        changed(
          world,
          'tenant_role_definitions',
          "permissions = '{members}'",
          await fresh.role(world, target),
        ),
    },
  ),
  op(
    'Mutation.removeUserFromProject',
    'system',
    [],
    (_, id) => mutation(`removeUserFromProject(id: "${id}")`),
    {
      make: async (world, target) =>
        changed(world, 'user2projects', "role = 'maintainer'", await fresh.member(world, target, 'project')),
    },
  ),
  op(
    'Mutation.removeUserFromTenant',
    'system',
    [],
    (_, id) => mutation(`removeUserFromTenant(id: "${id}")`),
    {
      make: async (world, target) =>
        changed(world, 'user2tenants', "role_name = 'admin'", await fresh.member(world, target, 'tenant')),
    },
  ),
  op(
    'Mutation.updateMachineUser',
    'system',
    [],
    (_, id) => mutation(`updateMachineUser(id: "${id}", input: {enabled: false}) { id }`),
    { make: fresh.machineUser },
  ),
  op(
    'Mutation.updateMachineUser',
    'system',
    [],
    (_, id) => mutation(`updateMachineUser(id: "${id}", input: {enabled: true}) { id }`),
    {
      make: async (world, target) =>
        changed(world, 'machine_users', 'enabled = false', await fresh.machineUser(world, target)),
    },
  ),
  op(
    'Mutation.updateMachineUser2Endpoint',
    'system',
    [],
    (_, id) => mutation(`updateMachineUser2Endpoint(id: "${id}", input: {enabled: true}) { id }`),
    {
      make: async (world, target) =>
        changed(
          world,
          'machine_user2endpoints',
          'enabled = false',
          (await fresh.endpointAccess(world, target)).id,
        ),
    },
  ),
  op(
    'Mutation.updateTenant2Application',
    'system',
    [],
    (_, id) => mutation(`updateTenant2Application(id: "${id}", input: {enabled: true}) { id }`),
    {
      make: async (world, target) =>
        changed(world, 'tenant2applications', 'enabled = false', await fresh.row(world, target)),
    },
  ),
  op(
    'Mutation.updateEndpoint',
    'system',
    [],
    (_, id) =>
      mutation(`updateEndpoint(id: "${id}", input: {authType: Bearer, authToken: "${newSlug()}"}) { id }`),
    { make: fresh.endpoint },
  ),
]

async function changed({ service }: MatrixWorld, table: string, to: string, id: string): Promise<string> {
  await service.sql.query(`update ${table} set ${to} where id = $1`, [id])
  return id
}

const ofGraphql = (operation: (typeof operations)[number]): Change => ({
  name: operation.name,
  run: async (world) => {
    const text = operation.text(world.own, await operation.make(world, world.own))
    const { error } = await world.service.query(world.people.administrator, text)
    if (error !== null && operation.alwaysFailsWith?.test(error) !== true)
      throw new Error(`${operation.name}: ${error}`)
  },
  ...(operation.consumes === true ? { consumes: true } : {}),
})

const assertStatus = (what: string, { status }: { status: number }): void => {
  if (status !== 200) throw new Error(`${what} answered ${status}`)
}

/** Registers a backend, registers it again with a different URL, and unregisters it. */
async function backend({ service, own }: MatrixWorld): Promise<void> {
  const { token } = await seedMachineUser(service.sql, own)
  const body = { application_id: own.applicationId, callback_url: 'https://one.example.com/run' }
  const { body: answer } = await register(service, token, body)
  await register(service, token, { ...body, callback_url: 'https://two.example.com/run' })
  assertStatus(
    'unregister',
    await unregister(service, token, (answer as { registered_id: string }).registered_id),
  )
}

async function pilet({ service, own, people }: MatrixWorld): Promise<void> {
  const key = { projectId: own.id, name: newSlug(), version: '1.0.0' }
  assertStatus('upload', await uploadPilet(service, people.administrator, key))
  const headers = headersOf(people.administrator)
  assertStatus('delete', await fetch(`${service.url}${piletPath(key)}`, { method: 'DELETE', headers }))
}

async function terminalLogin({ service, people }: MatrixWorld): Promise<void> {
  const terminal = await openTerminal(service)
  const [approved, denied] = [await terminal.login(), await terminal.login()]
  assertStatus('approve', await decide(service, people.administrator, approved.user_code, 'approve'))
  assertStatus('deny', await decide(service, people.administrator, denied.user_code, 'deny'))
  assertStatus('poll', await terminal.poll(approved.session_id))
}

/** Kinds of audit rows that commands, jobs, exports and reviews append. */
const appendedElsewhere = [
  'user update',
  'installation rotate',
  'piletSigningKey create',
  'piletSigningKey update',
  'piletSigningKey delete',
  'trigger_run update',
  'cliLogin update',
  'auditTrail export',
  'accessReview read',
  'accessReview attest',
]
async function elsewhere({ service: { world } }: MatrixWorld): Promise<void> {
  const events = appendedElsewhere.map((kind) => {
    const [entityType = '', action = ''] = kind.split(' ')
    const role = entityType === 'user' ? { role: 'user' } : { id: 'x' }
    const before = entityType === 'user' ? { role: 'administrator' } : null
    return {
      projectId: null,
      entityType,
      entityId: entityType === 'user' ? randomUUID() : newSlug(),
      action: action as AuditAction,
      description: kind,
      classes: { role: 'public' as const, id: 'public' as const },
      before,
      after: role,
    }
  })
  await world.database.db.transaction((tx) =>
    createAudit(world.clock).append(tx, createSystemActor('a command'), ...events),
  )
}

export const changes: Change[] = [
  ...[...ofMatrix, ...variants].map(ofGraphql),
  { name: 'backends', run: backend },
  { name: 'pilets', run: pilet },
  { name: 'logins from terminals', run: terminalLogin },
  { name: 'an identity provider', run: changeOverScim },
  { name: 'what no caller starts', run: elsewhere },
  {
    name: 'evidence',
    run: async ({ service, people }) =>
      assertStatus('evidence', await runEvidence(service, people.administrator, 'cli-logins')),
  },
]

/**
 * Makes the changes in this order. After a change that consumes its test data, new test data is created for
 * the next change.
 */
export async function makeChanges(
  service: TestApp,
  which: readonly Change[],
  onChange: (change: Change) => Promise<void> = () => Promise.resolve(),
): Promise<MatrixWorld> {
  let world = await createMatrixWorld(service)
  for (const change of which) {
    await change.run(world)
    await onChange(change)
    if (change.consumes === true) world = await createMatrixWorld(service)
  }
  return world
}
