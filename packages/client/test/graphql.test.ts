// Tests the typed GraphQL documents of the client against the real service.
import { readFileSync } from 'node:fs'
import { Kind, OperationTypeNode, buildSchema, parse, print, validate } from 'graphql'
import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from 'vitest'
import { type Person, headersOf } from '@manager/harness/callers.ts'
import { type TestApp, startTestApp } from '../../manager/test/kit/app.ts'
import { seedUser } from '@manager/harness/seed.ts'
import * as documents from '../src/generated/documents.ts'
import {
  type Connection,
  GraphqlError,
  ResponseError,
  type TypedDocument,
  connect,
  graphql,
} from '../src/index.ts'

let service: TestApp
let admin: Person
let connection: Connection
beforeAll(async () => {
  service = await startTestApp()
  admin = await seedUser(service.sql, 'admin', 'administrator')
  connection = connect({ url: service.url, headers: headersOf(admin) })
})
afterAll(() => service.close())

describe('documents', () => {
  test('take variables and give results of their types', async () => {
    const created = await graphql(connection, documents.createProjectDocument, {
      input: { name: 'Bakery', slug: 'bakery' },
    })
    expectTypeOf(created.createProject.environments[0]?.name).toEqualTypeOf<string | undefined>()
    expect(created.createProject.environments.map(({ name }) => name)).toEqual(['dev', 'qas', 'run'])
    const { projects } = await graphql(connection, documents.listProjectsDocument, {
      filters: [{ field: 'slug', value: 'bakery' }],
    })
    expectTypeOf(projects).toEqualTypeOf<
      readonly {
        readonly id: string
        readonly name: string
        readonly slug: string
        readonly createdAt: string
        readonly updatedAt: string
        readonly revision: number
      }[]
    >()
    expect(projects.map(({ id }) => id)).toEqual([created.createProject.id])
    expectTypeOf<documents.GetSettingsVariables>().toEqualTypeOf<{
      readonly project?: string | null
      readonly tenant?: string | null
      readonly application?: string | null
      readonly tenant2application?: string | null
    }>()
    expectTypeOf<documents.CreateEndpointInput['authType']>().toEqualTypeOf<
      'Basic' | 'Bearer' | 'None' | null | undefined
    >()
  })

  test('hold against the schema that is published, all of them', () => {
    const schema = buildSchema(
      readFileSync(new URL('../../../docs/api/schema.graphql', import.meta.url), 'utf8'),
    )
    const texts = Object.values(documents)
    expect(texts.length).toBeGreaterThan(60)
    expect(texts.flatMap((text) => validate(schema, parse(text)))).toEqual([])
    expect(texts.filter((text) => !/^(query|mutation) /.test(text))).toEqual([])
  })

  test('that read are within the limits of the service, all of them', async () => {
    const unknown = '11111111-1111-4111-8111-111111111111'
    const values: Record<string, string> = {
      from: '2026-01-01T00:00:00Z',
      to: '2026-01-02T00:00:00Z',
      cronExpression: '@daily',
    }
    // These queries require one of their optional variables.
    const choices: Record<string, object> = {
      getSettings: { project: unknown },
      listTenant2Applications: { tenantId: unknown },
      pageTenant2Applications: { tenantId: unknown },
      whoCanReach: { project: unknown },
    }
    const problems: unknown[] = []
    for (const text of Object.values(documents)) {
      const [operation] = parse(text).definitions
      if (operation?.kind !== Kind.OPERATION_DEFINITION || operation.operation !== OperationTypeNode.QUERY)
        continue
      const required = (operation.variableDefinitions ?? []).flatMap(({ variable, type }) =>
        type.kind === Kind.NON_NULL_TYPE
          ? [[variable.name.value, print(type) === 'ID!' ? unknown : (values[variable.name.value] ?? 'abc')]]
          : [],
      )
      const name = operation.name?.value ?? ''
      const variables = { ...Object.fromEntries(required), ...choices[name] } as Record<string, unknown>
      const document = text as TypedDocument<unknown, Record<string, unknown>>
      await graphql(connection, document, variables).catch((error: GraphqlError) => {
        if (error.code !== 'not_found') problems.push([name, error.message])
      })
    }
    expect(problems).toEqual([])
  })
})

describe('what is refused', () => {
  test('by a rule throws a GraphqlError with the message and its code', async () => {
    const error = await graphql(connection, documents.getProjectDocument, { slug: 'none' }).catch(
      (thrown: unknown) => thrown as GraphqlError,
    )
    expect(error).toBeInstanceOf(GraphqlError)
    expect(error).toMatchObject({ code: 'not_found', errors: [{ path: ['project'] }] })
    expect((error as GraphqlError).message).toContain('not found')
  })

  test('by several rules lists the invalid values', async () => {
    const input = { name: '', slug: 'A' }
    const refused = graphql(connection, documents.createProjectDocument, { input })
    const error = await refused.catch((one: unknown) => one as GraphqlError)
    expect((error as GraphqlError).fields.map(({ path }) => path)).toEqual(['input.name', 'input.slug'])
  })

  test('because it does not hold against the schema throws a GraphqlError too', async () => {
    await expect(graphql(connection, 'query { nothing }', {})).rejects.toThrow(GraphqlError)
    await expect(graphql(connection, 'query { nothing }', {})).rejects.toThrow('nothing')
  })

  test('by the gate throws a ResponseError', async () => {
    const outside = graphql(connect({ url: service.url }), documents.meDocument, {})
    await expect(outside).rejects.toThrow(ResponseError)
    await expect(outside).rejects.toMatchObject({ status: 401 })
  })
})
