// Compares `myPermissions` with the matrix of documented rules. An object lists a permission if and only if the
// caller may run the operations that require this permission on the object.
import { TypeInfo, buildSchema, parse, visit, visitWithTypeInfo } from 'graphql'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SeededProject } from '@manager/harness/seed.ts'
import { type TestApp, startTestApp } from '../kit/app.ts'
import type { GuardedField } from '../../src/policy/guard-graphql.ts'
import { expected, projectKinds } from './matrix.ts'
import type { Operation } from './operation.ts'
import { operations } from './operations.ts'
import { type Principal, principals } from './principals.ts'
import { type MatrixWorld, createMatrixWorld, fresh } from './world.ts'

let service: TestApp
beforeAll(async () => {
  service = await startTestApp()
})
afterAll(() => service.close())

const objectKinds = ['me', 'project', 'tenant', 'application', 'endpoint', 'environment'] as const
type ObjectKind = (typeof objectKinds)[number]

const kindByScope: Record<string, ObjectKind> = {
  SYSTEM: 'me',
  // The operation passes a tenant.
  PROJECT_TENANT_OR_APPLICATION: 'tenant',
  TENANT: 'tenant',
  TENANT_SLUG: 'tenant',
  USER2TENANT: 'tenant',
  TENANT_ROLE_DEFINITION: 'tenant',
  TENANT2APPLICATION: 'tenant',
  APPLICATION: 'application',
  APPLICATION_SLUG: 'application',
  USER2APPLICATION: 'application',
  ENDPOINT: 'endpoint',
  MACHINE_USER2ENDPOINT: 'endpoint',
  ENVIRONMENT: 'environment',
}

/** Returns the kind of object that must list the permission of a field. For most fields, it is the project. */
function findKind({ scope }: Operation, policyScope: string): ObjectKind {
  if (scope === 'settings' || scope === 'row' || scope === 'tenantInvitations') return 'tenant'
  return kindByScope[policyScope] ?? 'project'
}

/**
 * Returns a function that lists the guarded fields of an operation. The caller needs the permission for each of them.
 */
function createFieldReader(app: TestApp): (operation: Operation, target: SeededProject) => GuardedField[] {
  const schema = buildSchema(app.app.describe().schema)
  const guarded = new Map(app.app.fields.map((one) => [`${one.type}.${one.field}`, one]))
  return (operation, target) => {
    const found: GuardedField[] = []
    const info = new TypeInfo(schema)
    const enter = (): void => {
      const field = guarded.get(`${info.getParentType()?.name}.${info.getFieldDef()?.name}`)
      if (field !== undefined) found.push(field)
    }
    visit(parse(operation.text(target, '')), visitWithTypeInfo(info, { Field: { enter } }))
    return found
  }
}

type Listed = Record<ObjectKind, ReadonlySet<string>>

/** Reads `myPermissions` of every object kind. An object that the caller cannot see has none. */
async function readPermissions(
  app: TestApp,
  person: MatrixWorld['people'][Principal],
  target: SeededProject,
  endpointId: string,
): Promise<Listed> {
  const fields: Record<ObjectKind, string> = {
    me: 'me',
    project: `project(slug: "${target.slug}")`,
    tenant: `tenant(projectId: "${target.id}", slug: "${target.tenantSlug}")`,
    application: `application(projectId: "${target.id}", slug: "${target.applicationSlug}")`,
    endpoint: `endpoint(application: "${target.applicationId}", id: "${endpointId}")`,
    environment: `environment(id: "${target.environmentId}")`,
  }
  const read = async (kind: ObjectKind): Promise<[ObjectKind, ReadonlySet<string>]> => {
    const { data, error } = await app.query(person, `{ found: ${fields[kind]} { myPermissions } }`)
    if (error !== null)
      expect([kind, error]).toEqual([kind, expect.stringMatching(/not found$|^not permitted/)])
    return [kind, new Set((data?.found?.myPermissions ?? []) as string[])]
  }
  return Object.fromEntries(await Promise.all(objectKinds.map(read))) as Listed
}

async function compare(app: TestApp): Promise<{ cases: number; differences: string[] }> {
  const world = await createMatrixWorld(app)
  const readFields = createFieldReader(app)
  const differences: string[] = []
  let cases = 0
  for (const projectKind of projectKinds) {
    const target = world[projectKind]
    const endpointId = await fresh.endpoint(world, target)
    const steps = operations.map((operation) => ({
      operation,
      required: readFields(operation, target).map(({ policy }) => ({
        kind: findKind(operation, policy.in),
        permission: policy.do,
      })),
    }))
    for (const principal of principals) {
      const listed = await readPermissions(app, world.people[principal], target, endpointId)
      for (const { operation, required } of steps) {
        const isListed = required.every(({ kind, permission }) => listed[kind].has(permission))
        const isAllowed = expected(operation, principal, projectKind) === 'ok'
        cases++
        if (required.length === 0 || isListed !== isAllowed)
          differences.push(
            `${operation.name} as ${principal} in ${projectKind}: ${JSON.stringify(required)}, expected ${isAllowed}`,
          )
      }
    }
  }
  return { cases, differences }
}

test('myPermissions agrees with the policy matrix for every caller and operation', async () => {
  const { cases, differences } = await compare(service)
  process.stdout.write(`myPermissions cases=${cases} differences=${differences.length}\n`)
  expect(differences).toEqual([])
  expect(cases).toBeGreaterThanOrEqual(2_000)
})

test('a field that reads the permissions of another object is noticed', async () => {
  const plant = (sdl: string): string =>
    sdl.replace(
      'myPermissions: [Permission!]! @permissions(in: TENANT)',
      'myPermissions: [Permission!]! @permissions(in: SYSTEM)',
    )
  const broken = await startTestApp({ database: service.database, transport: { alterSdl: plant } })
  const { differences } = await compare(broken)
  await broken.close()
  expect(differences.length).toBeGreaterThan(0)
  expect(differences.every((line) => line.includes('"kind":"tenant"'))).toBe(true)
})

test('every member reads the own role in the project, tenant and application', async () => {
  const { people, own } = await createMatrixWorld(service)
  const readRole = async (principal: Principal, field: string): Promise<unknown> =>
    (await service.query(people[principal], `{ found: ${field} { myRole } }`)).data?.found?.myRole
  const tenant = `tenant(projectId: "${own.id}", slug: "${own.tenantSlug}")`
  const application = `application(projectId: "${own.id}", slug: "${own.applicationSlug}")`
  expect(await readRole('developer', `project(slug: "${own.slug}")`)).toBe('developer')
  expect(await readRole('tenant admin', tenant)).toBe('admin')
  expect(await readRole('tenant member', tenant)).toBe('member')
  expect(await readRole('maintainer', tenant)).toBeNull()
  expect(await readRole('application normal', application)).toBe('normal')
  expect(await readRole('administrator', `project(slug: "${own.slug}")`)).toBeNull()
})
