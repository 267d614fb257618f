// Tests `expectedRevision` in every update and delete mutation. A mutation with an outdated revision changes nothing
// and returns CONFLICT with the current revision. A mutation with the current revision is accepted.
import {
  type GraphQLField,
  type GraphQLInputObjectType,
  type GraphQLSchema,
  Kind,
  type ObjectFieldNode,
  buildSchema,
  getNamedType,
  isInputObjectType,
  isObjectType,
  parse,
  print,
  visit,
} from 'graphql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, startTestApp } from '../kit/app.ts'
import type { Operation } from './operation.ts'
import { operations } from './operations.ts'
import { type MatrixWorld, createMatrixWorld } from './world.ts'

let service: TestApp
let schema: GraphQLSchema
beforeAll(async () => {
  service = await startTestApp()
  schema = buildSchema(service.app.describe().schema)
})
afterAll(() => service.close())

type Mutation = GraphQLField<unknown, unknown>
const findInput = ({ args }: Mutation): GraphQLInputObjectType | null => {
  const type = getNamedType(args.find(({ name }) => name === 'input')?.type)
  return isInputObjectType(type) ? type : null
}
const acceptsRevision = (mutation: Mutation): boolean =>
  mutation.args.some(({ name }) => name === 'expectedRevision') ||
  findInput(mutation)?.getFields()['expectedRevision'] !== undefined

const listMutations = (): Mutation[] => Object.values(schema.getMutationType()?.getFields() ?? {})

/** Selects the revision and the time of the last change in the result of a mutation. */
function selectRevision(text: string): string {
  let depth = 0
  return print(
    visit(parse(text), {
      Field: {
        enter(node) {
          if (depth++ > 0) return undefined
          const type = getNamedType(schema.getMutationType()?.getFields()[node.name.value]?.type)
          const names = ['revision', 'updatedAt'].filter(
            (name) => isObjectType(type) && name in type.getFields(),
          )
          const selections = names.map(
            (value) => ({ kind: Kind.FIELD, name: { kind: Kind.NAME, value } }) as const,
          )
          return { ...node, selectionSet: { kind: Kind.SELECTION_SET, selections } }
        },
        leave() {
          depth--
        },
      },
    }),
  )
}

/** Adds `expectedRevision` to the call of a mutation, and selects the revision of the result. */
function withRevision(text: string, expected: number): string {
  const revision = {
    name: { kind: Kind.NAME, value: 'expectedRevision' },
    value: { kind: Kind.INT, value: String(expected) },
  } as const
  let depth = 0
  return print(
    visit(parse(text), {
      Field: {
        enter(node) {
          if (depth++ > 0) return undefined
          const mutation = schema.getMutationType()?.getFields()[node.name.value]
          if (mutation === undefined) throw new Error(`no mutation ${node.name.value}`)
          const hasArgument = mutation.args.some(({ name }) => name === 'expectedRevision')
          const field: ObjectFieldNode = { kind: Kind.OBJECT_FIELD, ...revision }
          const args = hasArgument
            ? [...(node.arguments ?? []), { kind: Kind.ARGUMENT, ...revision } as const]
            : (node.arguments ?? []).map((argument) =>
                argument.name.value === 'input' && argument.value.kind === Kind.OBJECT
                  ? { ...argument, value: { ...argument.value, fields: [...argument.value.fields, field] } }
                  : argument,
              )
          return { ...node, arguments: args }
        },
        leave() {
          depth--
        },
      },
    }),
  )
}

const revisionOf = async (table: string, id: string): Promise<number | undefined> =>
  (await service.sql.query<{ revision: number }>(`select revision from ${table} where id = $1`, [id])).rows[0]
    ?.revision

describe('expectedRevision', () => {
  test('is accepted by every update and delete mutation', () => {
    const changing = listMutations().filter(({ name }) =>
      /^(?:update|delete|remove|revoke|copyTenant)/.test(name),
    )
    expect(changing.filter((mutation) => !acceptsRevision(mutation)).map(({ name }) => name)).toEqual([])
    expect(changing.length).toBeGreaterThan(30)
  })

  test('every object that a mutation updates has a revision and the time of its last change', () => {
    const types = listMutations()
      .filter(acceptsRevision)
      .map(({ type }) => getNamedType(type))
      .filter((type) => isObjectType(type))
      .filter(({ name }) => !['BackendSettings', 'FrontendSettings', 'RotatedMachineUser'].includes(name))
    for (const type of types)
      expect([type.name, Object.keys(type.getFields())]).toEqual([
        type.name,
        expect.arrayContaining(['revision', 'updatedAt']),
      ])
  })

  test('rejects an outdated revision with CONFLICT and the current one, and accepts the current one', async () => {
    const names = new Set(
      listMutations()
        .filter(acceptsRevision)
        .map(({ name }) => name),
    )
    const tried = new Set<string>()
    for (const operation of operations) {
      const name = operation.name.replace('Mutation.', '')
      if (!names.has(name) || tried.has(name)) continue
      tried.add(name)
      await tryRevisions(await createMatrixWorld(service), operation)
    }
    expect([...names].filter((name) => !tried.has(name))).toEqual([])
  })

  test('an update with the stored values keeps the revision and the time of the last change', async () => {
    const names = new Set(
      listMutations()
        .filter(({ name }) => /^(?:update|set|enable|disable|revoke)/.test(name))
        .map(({ name }) => name),
    )
    const tried = new Set<string>()
    for (const operation of operations) {
      const name = operation.name.replace('Mutation.', '')
      if (!names.has(name) || tried.has(name)) continue
      tried.add(name)
      const world = await createMatrixWorld(service)
      const text = selectRevision(operation.text(world.own, await operation.make(world, world.own)))
      const [first, second] = [
        await service.query(world.people.administrator, text),
        await service.query(world.people.administrator, text),
      ]
      expect([name, first.error, JSON.stringify(first.data)]).toEqual([
        name,
        null,
        expect.stringContaining('"revision"'),
      ])
      expect([name, second.data]).toEqual([name, first.data])
    }
    expect([...names].filter((name) => !tried.has(name))).toEqual([])
  })

  async function tryRevisions(world: MatrixWorld, operation: Operation): Promise<void> {
    const { own, people } = world
    const text = operation.text(own, await operation.make(world, own))
    const outdated = await service.query(people.administrator, withRevision(text, 1_000_000))
    const { code, currentRevision } = (outdated.errors[0]?.extensions ?? {}) as Record<string, unknown>
    expect([operation.name, code]).toEqual([operation.name, 'CONFLICT'])
    expect(currentRevision).toEqual(expect.any(Number))
    const current = await service.query(people.administrator, withRevision(text, currentRevision as number))
    expect([operation.name, current.error]).toEqual([operation.name, null])
  }

  test('names the person who changed the object only to callers who may read the audit trail', async () => {
    const { own, people } = await createMatrixWorld(service)
    const role = await service.query(
      people.owner,
      `mutation { addUserToTenant(tenantID: "${own.tenantId}", userID: "${people.stranger.id}", roleName: "member") { id } }`,
    )
    const id = role.data.addUserToTenant.id as string
    const change = (expected: number): string =>
      `mutation { updateUserTenantRole(id: "${id}", roleName: "admin", expectedRevision: ${expected}) { revision } }`
    const read = async (person: MatrixWorld['people']['owner'], expected: number) => {
      const { errors } = await service.query(person, change(expected))
      return errors[0]?.extensions as Record<string, unknown> | undefined
    }
    expect(await read(people.owner, 1)).toBeUndefined()
    expect(await revisionOf('user2tenants', id)).toBe(2)
    const { rows } = await service.sql.query<{ external_name: string }>(
      'select external_name from users where id = $1',
      [people.owner.id],
    )
    expect(await read(people.maintainer, 1)).toMatchObject({
      code: 'CONFLICT',
      currentRevision: 2,
      changedBy: rows[0]?.external_name,
    })
    expect(await read(people['tenant owner'], 1)).not.toHaveProperty('changedBy')
    expect(await read(people['tenant owner'], 1)).toMatchObject({ code: 'CONFLICT', currentRevision: 2 })
    expect(await revisionOf('user2tenants', id)).toBe(2)
  })

  test('counts a renamed role as a change of its memberships', async () => {
    const { own, people } = await createMatrixWorld(service)
    const made = await service.query(
      people.owner,
      `mutation { createTenantRoleDefinition(tenantId: "${own.tenantId}", input: {name: "old", permissions: []}) { id } }`,
    )
    const member = await service.query(
      people.owner,
      `mutation { addUserToTenant(tenantID: "${own.tenantId}", userID: "${people.stranger.id}", roleName: "old") { id revision } }`,
    )
    const { id, revision } = member.data.addUserToTenant as { id: string; revision: number }
    expect(revision).toBe(1)
    const renamed = await service.query(
      people.owner,
      `mutation { updateTenantRoleDefinition(id: "${made.data.createTenantRoleDefinition.id}", input: {name: "new", expectedRevision: 1}) { revision } }`,
    )
    expect(renamed.data.updateTenantRoleDefinition).toEqual({ revision: 2 })
    expect(await revisionOf('user2tenants', id)).toBe(2)
  })
})
